"""A reader of the part of msgpack that `storage` writes, without extension types and hooks.

The memory that a list, a map or a text needs is reserved before it is allocated, so that a small file cannot exhaust
memory.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import Any

from spacy_lpcfg.checks import shown

LIMIT_NAME = "SPACY_LPCFG_MAX_BYTES"
"""The environment variable that overrides `LIMIT`."""
LIMIT = 2**30
"""Limit on the memory that a model may take when it is read, in bytes."""
_DEPTH = 3  # a map of arrays, which are maps, with shapes, which are lists
BYTES_OF_ITEM = 64
"""Bytes that an item of a list takes, roughly."""
_BYTES_OF_ENTRY = 256  # of a map
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    head: Struct(f">{code}")
    for head, code in zip(
        (0xCA, 0xCB, *range(0xCC, 0xD4)), ("f", "d", "B", "H", "I", "Q", "b", "h", "i", "q"), strict=True
    )
}
_WINDOW = 2**12  # bytes that are decoded together
_SHORT_TEXT = 0xD9
_BYTES, _TEXT, _LIST, _MAP = range(4)
_LENGTHS = {
    head: (kind, Struct(f">{code}"))
    for kind, heads in ((_BYTES, "C4 C5 C6"), (_TEXT, "D9 DA DB"), (_LIST, "-- DC DD"), (_MAP, "-- DE DF"))
    for head, code in zip((int(code, 16) for code in heads.replace("--", "00").split()), "BHI", strict=True)
    if head
}


class StorageError(ValueError):
    """Raised for data that is damaged, or not in the expected format."""


class TooLargeError(StorageError):
    """Raised for data that would take more memory than is allowed."""


_PER_STORED = 32
"""Bytes that a parser may take for each byte of its model file: twice as many as the models of GUM take."""


def limit() -> int:
    """Return the memory limit for reading, in bytes: the environment variable `LIMIT_NAME`, or else `LIMIT`.

    RAISES (StorageError): If the variable is not a number.
    """
    text = os.environ.get(LIMIT_NAME, str(LIMIT))
    if not (text.isascii() and text.isdigit()):
        raise StorageError(f"Expected {LIMIT_NAME} to be a number of bytes, got {shown(text)}.")
    return int(text)


class MemoryBudget:
    """The memory that may still be allocated while a model is read, initially `limit()` bytes."""

    def __init__(self) -> None:
        self._size = self._left = limit()

    def take(self, n_bytes: int) -> None:
        """Reserve `n_bytes` of memory.

        RAISES (TooLargeError): If less memory than that is left.
        """
        self._left -= n_bytes
        if self._left < 0:
            check_room(self._size - self._left, self._size)


def bytes_of_text(n_bytes: int) -> int:
    """Return an upper bound of the memory, in bytes, of a string whose UTF-8 encoding has `n_bytes` bytes."""
    return 4 * n_bytes


def check_room(n_bytes: float, max_bytes: int | None = None, *, what: str = "To read this", n_stored: int = 0) -> None:
    """Check that the memory that is needed is within the limit.

    n_bytes (float): Bytes of memory that are needed.
    max_bytes (int or None): The limit in bytes. With None, it is the environment variable `LIMIT_NAME` if that is set,
        and otherwise `LIMIT`, or 32 bytes for each stored byte if that is more.
    what (str): The subject of the error message, such as "To read this".
    n_stored (int): Size of the file in bytes: the check guards against small files that need much memory.
    RAISES (TooLargeError): If more memory is needed than the limit.
    """
    if max_bytes is None:
        max_bytes = limit() if LIMIT_NAME in os.environ else max(LIMIT, _PER_STORED * n_stored)
    if n_bytes > max_bytes:
        raise TooLargeError(
            f"{what} takes {n_bytes:,.0f} bytes of memory or more, and {max_bytes:,} are allowed. If you trust it, "
            f"set the environment variable {LIMIT_NAME} to a higher number."
        )


class ContainerReader:
    """A reader of one msgpack map.

    data (bytes or memoryview): The encoded map, and nothing after it.
    budget (MemoryBudget): The budget from which the memory of the result is reserved.
    """

    def __init__(self, data: bytes | memoryview, budget: MemoryBudget) -> None:
        self._data, self._at, self._budget = memoryview(data), 0, budget

    def read(self) -> dict[str, Any]:
        """Decode the map to a dict; byte strings become memoryviews of the data.

        RAISES (StorageError): If the data is not exactly one map, has types that `storage` does not write, or needs too
            much memory.
        """
        value = self._value(_DEPTH)
        if not isinstance(value, dict) or self._at != len(self._data):
            raise StorageError("Expected one map and nothing else.")
        return value

    def _value(self, depth: int) -> Any:
        head = self._next(1)[0]
        if 0xA0 <= head < 0xC0:
            return self._text(head & 31)
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 256
        if head < 0xA0:
            return self._list(head & 15, depth) if head >= 0x90 else self._map(head & 15, depth)
        if head in _CONSTANTS:
            return _CONSTANTS[head]
        if head in _NUMBERS:
            return self._number(_NUMBERS[head])
        if head not in _LENGTHS:
            raise StorageError(f"Expected data of known types, got type {head:#x}.")
        kind, code = _LENGTHS[head]
        length = self._number(code)
        if kind == _BYTES:
            return self._next(length)
        if kind == _TEXT:
            return self._text(length)
        return self._list(length, depth) if kind == _LIST else self._map(length, depth)

    def _next(self, n: int) -> memoryview:
        chunk = self._data[self._at : self._at + n]
        if len(chunk) < n:
            raise StorageError("The end is missing.")
        self._at += n
        return chunk

    def _number(self, code: Struct) -> Any:
        return code.unpack(self._next(code.size))[0]

    def _text(self, n: int) -> str:
        self._budget.take(bytes_of_text(n))
        try:
            return str(self._next(n), "utf-8")
        except UnicodeDecodeError as error:
            raise StorageError(f"A text is not UTF-8: {error}.") from error

    def _list(self, n: int, depth: int) -> list[Any]:
        self._budget.take(n * BYTES_OF_ITEM)
        if depth == 0 or n > len(self._data) - self._at:
            raise StorageError("A list is longer or deeper than what follows has room for.")
        values: list[Any] = []
        while len(values) < n:
            values += self._short_texts(n - len(values)) or [self._value(depth - 1)]
        return values

    def _short_texts(self, n: int) -> list[str]:
        """Read at most n short texts in a fast loop, since models have many words; stop before any other value."""
        window, at = bytes(self._data[self._at : self._at + _WINDOW]), 0
        size, texts = len(window), list[str]()
        try:
            while n and at + 1 < size:
                head = window[at]
                if head == _SHORT_TEXT:
                    start, end = at + 2, at + 2 + window[at + 1]
                elif 0xA0 <= head < 0xC0:
                    start, end = at + 1, at + 1 + (head & 31)
                else:
                    break
                if end > size:
                    break
                texts.append(window[start:end].decode())
                at, n = end, n - 1
        except UnicodeDecodeError as error:
            raise StorageError(f"A text is not UTF-8: {error}.") from error
        self._budget.take(bytes_of_text(at))
        self._at += at
        return texts

    def _map(self, n: int, depth: int) -> dict[str, Any]:
        self._budget.take(n * _BYTES_OF_ENTRY)
        if depth == 0 or 2 * n > len(self._data) - self._at:
            raise StorageError("A map is longer or deeper than what follows has room for.")
        result: dict[str, Any] = {}
        for _ in range(n):
            name = self._value(0)
            if not isinstance(name, str) or name in result:
                raise StorageError(f"Expected names in a map, each once; got {name!r:.50}.")
            result[name] = self._value(depth - 1)
        return result
