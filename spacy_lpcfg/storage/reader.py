"""Reads the part of msgpack that `storage` writes, and nothing else of it: there are no types of others, and no hooks.

What a list, a map or a text takes is counted before it is made, so that a few bytes cannot ask for all memory.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import Any

from spacy_lpcfg.checks import shown

LIMIT_NAME = "SPACY_LPCFG_MAX_BYTES"
"""The environment variable that has another limit than `LIMIT`."""
LIMIT = 2**30
_DEPTH = 3  # a map of arrays, which are maps, with shapes, which are lists
_ITEM, _ENTRY = 64, 256  # bytes that an item of a list and an entry of a map take, roughly
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    head: Struct(f">{code}")
    for head, code in zip(
        (0xCA, 0xCB, *range(0xCC, 0xD4)), ("f", "d", "B", "H", "I", "Q", "b", "h", "i", "q"), strict=True
    )
}
_WINDOW = 2**12  # bytes that are looked at together
_SHORT_TEXT = 0xD9
_BYTES, _TEXT, _LIST, _MAP = range(4)
_LENGTHS = {
    head: (kind, Struct(f">{code}"))
    for kind, heads in ((_BYTES, "C4 C5 C6"), (_TEXT, "D9 DA DB"), (_LIST, "-- DC DD"), (_MAP, "-- DE DF"))
    for head, code in zip((int(each, 16) for each in heads.replace("--", "00").split()), "BHI", strict=True)
    if head
}


class StorageError(ValueError):
    """Bytes that do not hold what they should."""


class TooLargeError(StorageError):
    """What would take more memory than is allowed."""


_PER_STORED = 32
"""Bytes that a parser may take for each byte of its model's file: twice what those of GUM do."""


def limit() -> int:
    """How many bytes of memory what is read may ask for: `LIMIT`, or what the environment has under `LIMIT_NAME`.

    RAISES (StorageError): If that is no number.
    """
    given = os.environ.get(LIMIT_NAME, str(LIMIT))
    if not (given.isascii() and given.isdigit()):
        raise StorageError(f"Expected {LIMIT_NAME} to be a number of bytes, got {shown(given)}.")
    return int(given)


class MemoryBudget:
    """The memory that is left for what is read, of `limit` in the beginning."""

    def __init__(self) -> None:
        self._size = self._left = limit()

    def take(self, n_bytes: int) -> None:
        """RAISES (TooLargeError): If so much is not left."""
        self._left -= n_bytes
        if self._left < 0:
            check_room(self._size - self._left, self._size)


def check_room(n_bytes: float, max_bytes: int | None = None, *, what: str = "To read this", n_stored: int = 0) -> None:
    """RAISES (TooLargeError): If so many bytes are more than one may ask for: `max_bytes`, or `limit`.

    what (str): what takes them, for the message.
    n_stored (int): bytes of the file that asks for them. A large file may ask for more, unless the environment says
        otherwise: what is guarded against is a small file that takes much memory.
    """
    if max_bytes is None:
        max_bytes = limit() if LIMIT_NAME in os.environ else max(LIMIT, _PER_STORED * n_stored)
    if n_bytes > max_bytes:
        raise TooLargeError(
            f"{what} takes {n_bytes:,.0f} bytes of memory or more, and {max_bytes:,} are allowed. If you trust it, "
            f"set the environment variable {LIMIT_NAME} to a higher number."
        )


class ContainerReader:
    """Reads the map that some bytes hold.

    data (bytes or memoryview): nothing may follow the map in it.
    budget (MemoryBudget): what may be taken.
    """

    def __init__(self, data: bytes | memoryview, budget: MemoryBudget) -> None:
        self._data, self._at, self._budget = memoryview(data), 0, budget

    def read(self) -> dict[str, Any]:
        """The map; of bytes among its values it has views.

        RAISES (StorageError): For what is no such map, holds what `storage` does not write, or takes too much room.
        """
        found = self._value(_DEPTH)
        if not isinstance(found, dict) or self._at != len(self._data):
            raise StorageError("Expected one map and nothing else.")
        return found

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
        found = self._data[self._at : self._at + n]
        if len(found) < n:
            raise StorageError("The end is missing.")
        self._at += n
        return found

    def _number(self, code: Struct) -> Any:
        return code.unpack(self._next(code.size))[0]

    def _text(self, n: int) -> str:
        self._budget.take(4 * n)
        try:
            return str(self._next(n), "utf-8")
        except UnicodeDecodeError as error:
            raise StorageError(f"A text is not UTF-8: {error}.") from error

    def _list(self, n: int, depth: int) -> list[Any]:
        self._budget.take(n * _ITEM)
        if depth == 0 or n > len(self._data) - self._at:
            raise StorageError("A list is longer or deeper than what follows has room for.")
        values: list[Any] = []
        while len(values) < n:
            values += self._short_texts(n - len(values)) or [self._value(depth - 1)]
        return values

    def _short_texts(self, n: int) -> list[str]:
        """The texts that come next, at most n, if they are short: a loop of its own, as models have many words."""
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
        self._budget.take(4 * at)
        self._at += at
        return texts

    def _map(self, n: int, depth: int) -> dict[str, Any]:
        self._budget.take(n * _ENTRY)
        if depth == 0 or 2 * n > len(self._data) - self._at:
            raise StorageError("A map is longer or deeper than what follows has room for.")
        found: dict[str, Any] = {}
        for _ in range(n):
            name = self._value(0)
            if not isinstance(name, str) or name in found:
                raise StorageError(f"Expected names in a map, each once; got {name!r:.50}.")
            found[name] = self._value(depth - 1)
        return found
