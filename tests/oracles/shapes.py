"""All binary trees over some leaves, as nested pairs."""

import itertools

from spacy_lpcfg.bracketing.simulation import Shape


def shapes(start: int, end: int) -> list[Shape]:
    """All binary trees over the leaves [start, end)."""
    if end - start == 1:
        return [start]
    return [
        pair for split in range(start + 1, end) for pair in itertools.product(shapes(start, split), shapes(split, end))
    ]
