"""Arrays and plain values as checked bytes: msgpack with a header and a checksum, never pickle."""

from __future__ import annotations

import gc
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import srsly

_MAGIC = "spacy-lpcfg"
_DTYPES = ("uint8", "uint16", "int32", "int64", "float16", "float32", "float64")
_CODING = "zlib of byte planes"  # of signed integers, their differences


AnyStored = TypeVar("AnyStored", bound="Stored")


class StorageError(ValueError):
    """Bytes that do not hold what they should."""


class Stored:
    """What goes to bytes and comes from them, and so to files."""

    def to_bytes(self) -> bytes:
        raise NotImplementedError

    @classmethod
    def from_bytes(cls: type[AnyStored], data: bytes) -> AnyStored:
        raise NotImplementedError

    def to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write to a file; the old file stays whole until the new one is."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def from_disk(cls: type[AnyStored], path: str | os.PathLike[str]) -> AnyStored:
        """Read from a file; errors as of `from_bytes`."""
        return cls.from_bytes(Path(path).read_bytes())


def pack(kind: str, version: int, values: dict[str, Any]) -> bytes:
    """Bytes of a dict of arrays, strings, numbers and lists of strings.

    kind (str): what it is; version (int): of its format. Both are checked by `unpack`.
    """
    return _packed(kind, version, {name: _encode(value) for name, value in values.items()})


def compressed(data: bytes) -> bytes:
    """What `pack` wrote, in about half of the space; `unpack` gives the same of both, to the last bit.

    Bytes among the values, such as members of a combination, are such data themselves.

    RAISES (StorageError): On bytes that `pack` did not write.
    """
    kind = kind_of(data)
    version: Any = _load(kind, data).get("version")
    return _packed(kind, version, {name: _compress(value) for name, value in unpack(kind, version, data).items()})


def _packed(kind: str, version: Any, encoded: dict[str, Any]) -> bytes:
    body = srsly.msgpack_dumps(encoded)
    header = {
        "magic": _MAGIC,
        "kind": kind,
        "version": version,
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return srsly.msgpack_dumps({**header, "body": body})


def kind_of(data: bytes) -> str:
    """What kind of thing `pack` wrote.

    RAISES (StorageError): On bytes that it did not write.
    """
    kind = _load("grammar", data).get("kind")
    if not isinstance(kind, str):
        raise StorageError("Expected a saved grammar of spacy-lpcfg, got other data. Is this the right file?")
    return kind


def unpack(kind: str, version: int, data: bytes) -> dict[str, Any]:
    """The dict that `pack` was given.

    RAISES (StorageError): On bytes that are foreign, damaged, or of another kind or version.
    """
    packed = _load(kind, data)
    if packed.get("magic") != _MAGIC or packed.get("kind") != kind:
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got other data. Is this the right file?")
    if packed.get("version") != version:
        raise StorageError(
            f"This {kind} has format {packed.get('version')!r}, and this spacy-lpcfg reads format {version}: "
            "learn it again, or install the version of spacy-lpcfg that wrote it."
        )
    body = packed.get("body")
    if not isinstance(body, bytes) or hashlib.sha256(body).hexdigest() != packed.get("sha256"):
        raise StorageError(f"This {kind} is damaged: its checksum differs. Copy or learn it again.")
    return {name: _decode(name, value) for name, value in _load(kind, body).items()}


def _load(kind: str, data: bytes) -> dict[str, Any]:
    try:
        loaded = srsly.msgpack_loads(data)
    except Exception as error:
        gc.enable()  # srsly turns the garbage collection off, and leaves it off when it fails
        raise StorageError(
            f"Expected a saved {kind} of spacy-lpcfg, got {len(data)} bytes of something else."
        ) from error
    if not isinstance(loaded, dict):
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got other data. Is this the right file?")
    return loaded


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {
            "dtype": value.dtype.name,
            "shape": list(value.shape),
            "data": np.ascontiguousarray(value).tobytes(),
        }
    return list(value) if isinstance(value, tuple) else value


def _compress(value: Any) -> Any:
    if isinstance(value, bytes):
        return compressed(value)
    encoded = _encode(value)
    if isinstance(value, np.ndarray):
        flat = _differences(value.ravel()) if value.dtype.kind == "i" else value.ravel()
        encoded.update(coding=_CODING, data=zlib.compress(_byte_planes(flat).tobytes(), 9))
    return encoded


def _byte_planes(flat: np.ndarray) -> np.ndarray:
    """The first bytes of all numbers, then the second ones, ...: alike stands by alike. uint8 (itemsize, n)."""
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, flat.itemsize).T)


def _differences(flat: np.ndarray) -> np.ndarray:
    """Of each integer from the one before it, small where they grow; `np.cumsum` undoes it."""
    return np.diff(flat, prepend=flat.dtype.type(0))


def _decompress(name: str, data: bytes, dtype: np.dtype, n: int) -> bytes:
    """The inverse of `_compress` for an array of n numbers, without more memory than these take."""
    try:
        planes = zlib.decompressobj().decompress(data, n * dtype.itemsize + 1)
    except zlib.error as error:
        raise StorageError(f"The array {name!r} is damaged: {error}.") from error
    if len(planes) != n * dtype.itemsize:
        return planes  # of a wrong size, which the caller refuses
    flat = np.frombuffer(planes, np.uint8).reshape(dtype.itemsize, n).T.copy().view(dtype).ravel()
    return (np.cumsum(flat, dtype=dtype) if dtype.kind == "i" else flat).tobytes()


def _decode(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    dtype, shape, data = value.get("dtype"), value.get("shape"), value.get("data")
    if dtype not in _DTYPES or not isinstance(data, bytes) or not isinstance(shape, list):
        raise StorageError(f"Expected an array under {name!r}, of one of the types {', '.join(_DTYPES)}.")
    if any(not isinstance(size, int) or size < 0 for size in shape):
        raise StorageError(f"The array {name!r} has the impossible shape {shape}.")
    size = int(np.prod(shape, dtype=object))
    if value.get("coding") == _CODING:
        data = _decompress(name, data, np.dtype(dtype), size)
    if size * np.dtype(dtype).itemsize != len(data):
        raise StorageError(f"The array {name!r} of shape {shape} and type {dtype} cannot have {len(data)} bytes.")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that takes the place of an old one only when it is whole."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
