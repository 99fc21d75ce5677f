"""All binary trees over some words."""

import itertools
from collections.abc import Iterator

Spans = tuple[tuple[int, int], ...]


def all_trees(start: int, end: int) -> Iterator[Spans]:
    """The spans of two or more words, in pre-order, of all binary trees; those that split first come first."""
    if end - start == 1:
        yield ()
    for middle in range(start + 1, end):
        for left, right in itertools.product(all_trees(start, middle), all_trees(middle, end)):
            yield ((start, end), *left, *right)
