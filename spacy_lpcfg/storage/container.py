"""Arrays and plain values as checked bytes: msgpack with a header and a checksum, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable
from importlib import metadata
from typing import IO, Any, TypeVar

import numpy as np
import srsly

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike, write_atomically
from spacy_lpcfg.storage.reader import ContainerReader, MemoryBudget, StorageError, check_room, limit

_MAGIC = "spacy-lpcfg"
_DTYPES = ("uint8", "uint16", "int32", "int64", "float16", "float32", "float64")
_CODING = "zlib of byte planes"  # of signed integers, their differences
_HEADER = {"magic": str, "kind": str, "version": int, "sha256": str, "body": memoryview}
_MOST_AXES, _LARGEST = 3, 2**48  # numbers of an array, if none of its sizes were 0
_CHUNK = 2**20  # bytes of a stream that are read at once
_LONGEST_META = 2**20  # characters
_NAMED = 3  # of unknown parts, in an error
_DEEPEST = 3  # models within models: a grammar, with a layer, mirrored, in a combination


AnyStored = TypeVar("AnyStored", bound="Stored")


class Stored:
    """What goes to bytes and comes from them, and so to files."""

    def to_bytes(self) -> bytes:
        raise NotImplementedError

    @classmethod
    def from_bytes(cls: type[AnyStored], data: bytes) -> AnyStored:
        raise NotImplementedError

    def to_disk(self, path: PathLike) -> None:
        """Write to a file; the old file stays whole until the new one is."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def from_disk(cls: type[AnyStored], path: PathLike) -> AnyStored:
        """Read from a file; same errors as `from_bytes`."""
        return cls.from_bytes(read_file(path))


def read_file(path: PathLike) -> bytes:
    """What a file holds.

    RAISES (StorageError): If that is more than one may read, or if it is a pipe or a device, which might not end.
        (OSError): If there is no such file.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        _check_status(path, status)
        return file.read(status.st_size)


def check_file(path: PathLike) -> None:
    """Check what somebody else is going to read; same errors as `read_file`."""
    _check_status(path, os.stat(path))


def _check_status(path: PathLike, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(f"Expected a file, got '{os.fspath(path)}', a pipe or a device: save it to a file first.")
    check_room(status.st_size)


def read_stream(stream: IO[bytes], max_bytes: int | None = None) -> bytes:
    """What a stream holds to its end, such as stdin.

    max_bytes (int or None): bytes that it may hold; None for as many as one may read.
    RAISES (TooLargeError): If there are more; no more are read then.
    """
    max_bytes, data = limit() if max_bytes is None else max_bytes, bytearray()
    while len(data) <= max_bytes and (chunk := stream.read(_CHUNK)):
        data += chunk
    check_room(len(data), max_bytes)
    return bytes(data)


def _without_waiting(path: str, flags: int) -> int:
    """A file that is open even if it is a pipe that nobody writes to."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# To bytes ----------------------------------------------------------------------------------------


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
    header = _header("model", data, MemoryBudget())
    kind, version = header["kind"], header["version"]
    return _packed(kind, version, {name: _compress(value) for name, value in unpack(kind, version, data).items()})


def _packed(kind: str, version: int, encoded: dict[str, Any]) -> bytes:
    body = srsly.msgpack_dumps(encoded)
    header = {
        "magic": _MAGIC,
        "kind": kind,
        "version": version,
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return srsly.msgpack_dumps({**header, "body": body})


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


# From bytes --------------------------------------------------------------------------------------


def kind_of(data: bytes) -> str:
    """What kind of thing `pack` wrote.

    RAISES (StorageError): On bytes that it did not write.
    """
    return _header("model", data, MemoryBudget())["kind"]


def unpack(kind: str, version: int, data: bytes) -> dict[str, Any]:
    """The dict that `pack` was given.

    RAISES (StorageError): On bytes that are foreign, damaged, or of another kind or version, or that ask for more
        memory than one may.
    """
    budget, deepest = (data.budget, data.deepest) if isinstance(data, _Nested) else (MemoryBudget(), _DEEPEST)
    header = _header(kind, data, budget)
    if header["kind"] != kind:
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got a saved {shown(header['kind'])}.")
    if header["version"] != version:
        raise _of_another_version(kind, header["version"], version)
    encoded = _body(header, budget)
    _take_memory(encoded, budget)
    return {name: _decode(name, value, budget, deepest) for name, value in encoded.items()}


class _Nested(bytes):
    """The bytes of a model within another: `unpack` takes the memory that they ask for from that of the whole.

    budget (MemoryBudget): The memory that is left for the whole.
    deepest (int): How many more levels of models may be within this one.
    """

    budget: MemoryBudget
    deepest: int

    @classmethod
    def of(cls, name: str, data: memoryview, budget: MemoryBudget, deepest: int) -> _Nested:
        """Copy the bytes of a part. RAISES (StorageError): If models are within models too deep."""
        if deepest < 0:
            raise StorageError(f"The model {shown(name)} is within more models than this spacy-lpcfg knows of.")
        nested = cls(data)
        nested.budget, nested.deepest = budget, deepest
        return nested


def refuse_others(values: Iterable[str], known: Iterable[str]) -> None:
    """RAISES (StorageError): If there are parts of other names than those that are known."""
    others = sorted(set(values) - set(known))
    if others:
        names = ", ".join(f"{shown(name)}" for name in others[:_NAMED])
        raise StorageError(
            f"Expected no parts that this spacy-lpcfg does not know, got {names}: copy or learn it again."
        )


def read_meta(text: Any) -> dict[str, Any]:
    """What is stored for people, as JSON.

    RAISES (StorageError): If it is no object of JSON, or too long or deep a one.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_META:
        raise StorageError(f"Expected metadata as text of at most {_LONGEST_META:,} characters.")
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"The metadata are damaged: {error}.") from error
    if not isinstance(meta, dict):
        raise StorageError("Expected metadata by their names, got something else.")
    return meta


def _header(kind: str, data: bytes | memoryview, budget: MemoryBudget) -> dict[str, Any]:
    """What stands around the parts; of a known type each, and nothing besides."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise StorageError(f"Expected the bytes of a saved {kind} of spacy-lpcfg, got {type(data).__name__}.")
    try:
        found = ContainerReader(data, budget).read()
    except StorageError as error:
        raise StorageError(
            f"Expected a saved {kind} of spacy-lpcfg, got {len(data)} bytes of something else. {error}"
        ) from error
    if {name: type(value) for name, value in found.items()} != _HEADER or found["magic"] != _MAGIC:
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got other data. Is this the right file?")
    return found


def _body(header: dict[str, Any], budget: MemoryBudget) -> dict[str, Any]:
    """The parts as they are encoded, if they are as they were when they were saved."""
    if hashlib.sha256(header["body"]).hexdigest() != header["sha256"]:
        raise StorageError(f"This {header['kind']:.80} is damaged: its checksum differs. Copy or learn it again.")
    try:
        return ContainerReader(header["body"], budget).read()
    except StorageError as error:
        raise StorageError(f"This {header['kind']:.80} cannot be read: {error}") from error


def _of_another_version(kind: str, found: int, wanted: int) -> StorageError:
    try:
        own = metadata.version("spacy-lpcfg")
    except metadata.PackageNotFoundError:
        own = "that is not installed"
    remedy = (
        "it is of a newer spacy-lpcfg: install that, by `pip install --upgrade spacy-lpcfg`, or learn it again"
        if found > wanted
        else "learn it again, or install the version of spacy-lpcfg that wrote it"
    )
    reads = f"this spacy-lpcfg ({own}) reads format {wanted}"
    return StorageError(f"This {kind} has format {found}, and {reads}: {remedy}.")


def _take_memory(encoded: dict[str, Any], budget: MemoryBudget) -> None:
    """Take the memory that the decoded values need, before any of them is decoded.

    RAISES (StorageError): If so much is not left, or if a map is no array.
    """
    for name, value in encoded.items():
        if isinstance(value, dict):
            dtype, shape = _form(name, value)
            budget.take(_size(shape) * dtype.itemsize)
        elif isinstance(value, memoryview):
            budget.take(len(value))


def _decode(name: str, value: Any, budget: MemoryBudget, deepest: int) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, memoryview):
        return _Nested.of(name, value, budget, deepest - 1)
    if not isinstance(value, dict):
        return value
    dtype, shape = _form(name, value)
    data, size = value["data"], _size(shape)
    flat = _decompress(name, data, dtype, size) if "coding" in value else np.frombuffer(bytes(data), np.uint8)
    if size * dtype.itemsize != flat.nbytes:
        raise StorageError(
            f"The array {shown(name)} of shape {shape} and type {dtype} cannot have {flat.nbytes} bytes."
        )
    flat.flags.writeable = False
    return flat.view(dtype).reshape(shape)


def _form(name: str, value: dict[str, Any]) -> tuple[np.dtype, list[int]]:
    """The type and shape of an encoded array.

    RAISES (StorageError): If it is none.
    """
    dtype, shape = value.get("dtype"), value.get("shape")
    if dtype not in _DTYPES or not isinstance(value.get("data"), memoryview) or not isinstance(shape, list):
        raise StorageError(f"Expected an array under {shown(name)}, of one of the types {', '.join(_DTYPES)}.")
    if value.get("coding", _CODING) != _CODING or not value.keys() <= {"dtype", "shape", "data", "coding"}:
        raise StorageError(f"Expected an array of a known coding under {shown(name)}.")
    is_shape = len(shape) <= _MOST_AXES and all(type(size) is int and size >= 0 for size in shape)
    if not is_shape or _size([max(size, 1) for size in shape]) > _LARGEST:
        raise StorageError(f"The array {shown(name)} has the impossible shape {shown(shape)}.")
    return np.dtype(dtype), shape


def _size(shape: list[int]) -> int:
    return int(np.prod(shape, dtype=object))


def _decompress(name: str, data: memoryview, dtype: np.dtype, n: int) -> np.ndarray:
    """The inverse of `_compress` for an array of n numbers, flat; in about three times the memory that these take."""
    try:
        planes = zlib.decompressobj().decompress(data, n * dtype.itemsize + 1)
    except zlib.error as error:
        raise StorageError(f"The array {shown(name)} is damaged: {error}.") from error
    if len(planes) != n * dtype.itemsize:
        return np.frombuffer(planes, np.uint8)  # of a wrong size, which the caller refuses
    flat = np.frombuffer(planes, np.uint8).reshape(dtype.itemsize, n).T.copy().view(dtype).ravel()
    return np.cumsum(flat, dtype=dtype) if dtype.kind == "i" else flat
