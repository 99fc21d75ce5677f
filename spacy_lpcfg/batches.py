"""Batches of the items of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`; the last list may be shorter (as `itertools.batched` of Python 3.12)."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def padded_batches(items: Iterable[Item], length: Callable[[Item], int], size: int) -> Iterator[list[Item]]:
    """Yield lists of consecutive items whose lengths, each padded to the longest, sum to at most `size`.

    length (callable): Returns the length of an item; an item that is longer than `size` is a batch by itself.
    """
    batch: list[Item] = []
    longest = 0
    for item in items:
        longest = max(longest, length(item))
        if batch and (len(batch) + 1) * longest > size:
            yield batch
            batch, longest = [], length(item)
        batch.append(item)
    if batch:
        yield batch
