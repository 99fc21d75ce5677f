"""Batches of the items of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`; the last list may be shorter (as `itertools.batched` of Python 3.12)."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
