"""Bytes as a sequence of choices, so that what mutates bytes mutates whatever is made by these choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """Choices that bytes make, one after the other; when the bytes are used up, all are the first or the least.

    data (bytes): Any bytes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def number(self, low: int, high: int) -> int:
        """Choose a whole number, both bounds included."""
        size = ((high - low).bit_length() + 7) // 8
        return low + int.from_bytes(self._take(size), "little") % (high - low + 1)

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.number(0, len(items) - 1)]

    def some(self, make: Callable[[], Item], most: int) -> list[Item]:
        """Make up to `most` items."""
        return [make() for _ in range(self.number(0, most))]

    def text(self, most: int) -> str:
        """Take up to `most` bytes, as `text_of` has them."""
        return text_of(self._take(self.number(0, most)))

    def rest(self) -> str:
        """Take all bytes that are left, as `text_of` has them."""
        return text_of(self._take(len(self._data)))

    def _take(self, n: int) -> bytes:
        taken = self._data[self._position : self._position + n]
        self._position += len(taken)
        return taken


def text_of(data: bytes) -> str:
    """Return bytes as a text that can be read, and that JSON keeps; `bytes_of` undoes it."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Return the bytes of which `text_of` made a text."""
    return text.encode("utf-8", "surrogateescape")
