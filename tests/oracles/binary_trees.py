"""All binary trees over some words, as spans and as nested pairs."""

import itertools
from collections.abc import Iterator

from benchmarks.papers.simulated_trees import Shape

Spans = tuple[tuple[int, int], ...]


def all_trees(start: int, end: int) -> Iterator[Spans]:
    """The spans of two or more words, in pre-order, of all binary trees; those that split first come first."""
    if end - start == 1:
        yield ()
    for middle in range(start + 1, end):
        for left, right in itertools.product(all_trees(start, middle), all_trees(middle, end)):
            yield ((start, end), *left, *right)


def shapes(start: int, end: int) -> list[Shape]:
    """All binary trees over the leaves [start, end)."""
    if end - start == 1:
        return [start]
    return [
        pair for split in range(start + 1, end) for pair in itertools.product(shapes(start, split), shapes(split, end))
    ]
