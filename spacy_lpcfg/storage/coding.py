"""Lossless compression of the arrays and lists of texts of a saved model.

An array is compressed in two ways, and the shorter result is kept. Both treat numbers as bytes, so that every bit is
restored.

- The coding "planes" holds the first bytes of all numbers, then the second bytes, and so on. Signed integers are
  replaced by the differences of neighbours first.
- The coding "table" suits matrices with many zeros and few distinct values, such as rounded weights. It holds a table
  of the distinct nonzero numbers, a bit for each number (0 for the number 0), and for each nonzero number its position
  in the table.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage._coding import fill_nonzero
from spacy_lpcfg.storage.reader import StorageError

PLANES, TABLE = CODINGS = ("planes", "table")
_SEPARATOR = "\n"
_LONGEST_TABLE = 2**16


def compress_array(array: np.ndarray) -> dict[str, Any]:
    """Compress an array into fields of a map, by the coding that gives the shorter result; see the module.

    RETURNS (dict): The fields `coding` ("planes" or "table"), `data` (bytes), and for "table" also `table` (bytes).
    """
    flat = array.ravel()
    planes = {"coding": PLANES, "data": _deflate(_byte_planes(_differences(flat)))}
    table = _as_table(flat)
    return planes if table is None or _size(table) >= _size(planes) else table


def decompress_array(name: str, value: dict[str, Any], dtype: np.dtype, n: int) -> np.ndarray:
    """Decompress the fields of `compress_array`; about three times the memory of the array is needed.

    name (str): The name of the array, for error messages.
    value (dict): The fields, with bytes or memoryviews.
    dtype (dtype): The type of the numbers.
    n (int): The number of numbers.
    RETURNS (array, (n,)): The numbers; the caller restores the shape.
    RAISES (StorageError): If the data are damaged, or do not hold n numbers.
    """
    try:
        return _from_table(value, dtype, n) if value["coding"] == TABLE else _from_planes(value["data"], dtype, n)
    except (zlib.error, ValueError) as error:
        raise StorageError(f"The array {shown(name)} of {n:,} numbers, {dtype}, is damaged: {error}.") from error


def compress_texts(texts: Sequence[str]) -> dict[str, Any] | None:
    """Compress texts into fields of a map; return None if a text has a line feed, which separates the texts.

    RETURNS (dict or None): The fields `texts` (bytes), `n` (the number of texts) and `n_bytes` (their uncompressed
        size).
    """
    if any(_SEPARATOR in text for text in texts):
        return None
    joined = _SEPARATOR.join(texts).encode()
    return {"texts": zlib.compress(joined, 9), "n": len(texts), "n_bytes": len(joined)}


def decompress_texts(name: str, value: dict[str, Any]) -> tuple[str, ...]:
    """Decompress texts from the fields of `compress_texts`, after the caller has checked the memory that they need.

    name (str): The name of the texts, for error messages.
    RAISES (StorageError): If the data are damaged, or the number of texts or bytes is not the stored one.
    """
    try:
        joined = _inflate(value["texts"], value["n_bytes"]).decode()
        texts = tuple(joined.split(_SEPARATOR)) if value["n"] or joined else ()
        if len(texts) != value["n"]:
            raise ValueError(f"expected {value['n']} texts, got {len(texts)}")
    except (zlib.error, ValueError) as error:
        raise StorageError(f"The texts {shown(name)} are damaged: {error}.") from error
    return texts


def _as_table(flat: np.ndarray) -> dict[str, Any] | None:
    """Compress by the coding "table"; return None if there are more than 65,536 distinct nonzero numbers."""
    bits = flat.view(_unsigned(flat.dtype))
    is_nonzero = bits != 0
    table, places = np.unique(bits[is_nonzero], return_inverse=True)
    if len(table) > _LONGEST_TABLE:
        return None
    planes = _byte_planes(places.astype(_place_type(len(table))))
    data = np.concatenate((np.packbits(is_nonzero), planes.ravel()))
    return {"coding": TABLE, "table": table.tobytes(), "data": _deflate(data)}


def _from_table(value: dict[str, Any], dtype: np.dtype, n: int) -> np.ndarray:
    table = np.frombuffer(bytes(value["table"]), _unsigned(dtype))
    place_type, n_bits = _place_type(len(table)), (n + 7) // 8
    data = np.frombuffer(_inflate(value["data"], n_bits + n * place_type.itemsize, exact=False), np.uint8)
    if len(data) < n_bits:
        raise ValueError("its end is missing")
    places = _from_byte_planes(data[n_bits:], place_type, (len(data) - n_bits) // place_type.itemsize)
    numbers = np.zeros(n, table.dtype)
    if not fill_nonzero(data[:n_bits], places, table, numbers):
        raise ValueError("a place is outside the table, or there are not as many as numbers")
    return numbers.view(dtype)


def _from_planes(data: memoryview, dtype: np.dtype, n: int) -> np.ndarray:
    flat = _from_byte_planes(np.frombuffer(_inflate(data, n * dtype.itemsize), np.uint8), dtype, n)
    return np.cumsum(flat, dtype=dtype) if dtype.kind == "i" else flat


def _differences(flat: np.ndarray) -> np.ndarray:
    """Return the difference of each signed integer to its predecessor; return numbers of other types unchanged."""
    return np.diff(flat, prepend=flat.dtype.type(0)) if flat.dtype.kind == "i" else flat


def _byte_planes(flat: np.ndarray) -> np.ndarray:
    """Return an array of the first bytes of all numbers, then the second bytes, and so on, uint8 (itemsize, n)."""
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, flat.itemsize).T)


def _from_byte_planes(planes: np.ndarray, dtype: np.dtype, n: int) -> np.ndarray:
    """Return the n numbers with the given byte planes: the inverse of `_byte_planes`."""
    if len(planes) != n * dtype.itemsize:
        raise ValueError(f"expected {n * dtype.itemsize} bytes of {n} numbers, got {len(planes)}")
    if dtype.itemsize == 1:
        return planes.view(dtype)
    return planes.reshape(dtype.itemsize, n).T.copy().view(dtype).ravel()


def _deflate(data: np.ndarray) -> bytes:
    return zlib.compress(data.tobytes(), 9)


def _inflate(data: memoryview, n_bytes: int, *, exact: bool = True) -> bytes:
    """Decompress zlib data of a known size, without allocating more memory than that.

    n_bytes (int): The expected size in bytes.
    exact (bool): Whether the size must be `n_bytes`; otherwise it may also be smaller.
    RAISES (ValueError): If the size is not as expected.
    """
    inflated = zlib.decompressobj().decompress(data, n_bytes + 1)
    if len(inflated) > n_bytes or (exact and len(inflated) < n_bytes):
        raise ValueError(f"expected {n_bytes} bytes, got {len(inflated)} or more")
    return inflated


def _size(fields: dict[str, Any]) -> int:
    return len(fields["data"]) + len(fields.get("table", b""))


def _unsigned(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"u{dtype.itemsize}")


def _place_type(n: int) -> np.dtype:
    """Return the smallest unsigned integer type for positions in a table of n numbers."""
    return np.dtype("uint8" if n <= 2**8 else "uint16")
