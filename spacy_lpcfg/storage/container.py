"""Serialization of arrays and plain values: msgpack with a header and a checksum, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import srsly

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.coding import (
    CODINGS,
    TABLE,
    compress_array,
    compress_texts,
    decompress_array,
    decompress_texts,
)
from spacy_lpcfg.storage.files import PathLike, check_regular, open_file, write_atomically
from spacy_lpcfg.storage.reader import (
    BYTES_OF_ITEM,
    ContainerReader,
    MemoryBudget,
    StorageError,
    bytes_of_text,
    check_room,
    limit,
)

_MAGIC = "spacy-lpcfg"
_DTYPES = ("uint8", "uint16", "int32", "int64", "float16", "float32", "float64")
_ARRAY = {"dtype", "shape", "data", "coding", "table"}
_TEXTS = {"texts": memoryview, "n": int, "n_bytes": int}
_HEADER = {"magic": str, "kind": str, "version": int, "sha256": str, "body": memoryview}
_MOST_AXES, _LARGEST = 3, 2**48  # limits on the axes of an array, and on the product of its nonzero sizes
_CHUNK = 2**20  # bytes that are read from a stream at once
_LONGEST_META = 2**20  # characters
_NAMED = 3  # unknown fields that an error names
_DEEPEST = 3  # nesting of models


AnyStored = TypeVar("AnyStored", bound="Stored")
_KnownTexts: TypeAlias = dict[tuple[bytes, int, int], tuple[str, ...]]


class Stored:
    """Base class of objects that can be saved as bytes and in files.

    Subclasses implement `to_bytes` and `from_bytes`.
    """

    def to_bytes(self) -> bytes:
        raise NotImplementedError

    @classmethod
    def from_bytes(cls: type[AnyStored], data: bytes) -> AnyStored:
        raise NotImplementedError

    def to_disk(self, path: PathLike) -> None:
        """Save to a file, which is replaced atomically (see `replacing`)."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def from_disk(cls: type[AnyStored], path: PathLike) -> AnyStored:
        """Load from a file.

        RAISES (ValueError, OSError): As for `read_file`, and as for `from_bytes`, whose messages get the path in front.
        """
        data = read_file(path)
        with naming_file(path):
            return cls.from_bytes(data)


@contextmanager
def naming_file(path: PathLike) -> Iterator[None]:
    """Context manager that puts the path of a file in front of the messages of ValueErrors."""
    try:
        yield
    except ValueError as error:
        raise type(error)(f"'{os.fspath(path)}': {error}") from error


def read_file(path: PathLike) -> bytes:
    """Read a whole file.

    RAISES (TooLargeError): If the file exceeds the memory limit.
        (ValueError, OSError): As for `open_file`.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        check_room(size)
        return file.read(size)


def check_file(path: PathLike) -> None:
    """Check that a file is a regular file within the memory limit, before other code reads it.

    RAISES (TooLargeError): If the file exceeds the memory limit.
        (ValueError): If the path is a pipe or a device.
        (OSError): If there is no such file.
    """
    status = os.stat(path)
    check_regular(path, status)
    check_room(status.st_size)


def read_stream(stream: IO[bytes]) -> bytes:
    """Read a binary stream, such as stdin, to its end.

    RAISES (TooLargeError): If the stream exceeds the memory limit; reading stops there.
    """
    max_bytes, data = limit(), bytearray()
    while len(data) <= max_bytes and (chunk := stream.read(_CHUNK)):
        data += chunk
    check_room(len(data), max_bytes)
    return bytes(data)


# To bytes ----------------------------------------------------------------------------------------


def pack(kind: str, version: int, values: dict[str, Any]) -> bytes:
    """Serialize a dict of values to bytes, with a header and a checksum.

    kind (str): The kind of object, which `unpack` checks.
    version (int): The version of the format, which `unpack` checks.
    values (dict): Arrays, strings, numbers, bools, None, bytes, and lists or tuples of strings, by name. `unpack`
        returns tuples for lists.
    """
    return _packed(kind, version, {name: _encode(value) for name, value in values.items()})


def compressed(data: bytes) -> bytes:
    """Compress data from `pack` to about half its size; `unpack` also reads compressed data.

    Values that are bytes are nested models, such as the members of a combination: they must be data from `pack`, and
    are compressed too.

    RAISES (StorageError): If the data, or a value that is bytes, is not from `pack`.
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
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), **compress_array(value)}
    if isinstance(value, tuple) and value and all(isinstance(text, str) for text in value):
        return compress_texts(value) or list(value)
    return _encode(value)


# From bytes --------------------------------------------------------------------------------------


def kind_of(data: bytes) -> str:
    """Return the kind of object in data from `pack`.

    RAISES (StorageError): If the data is not from `pack`.
    """
    return _header("model", data, MemoryBudget())["kind"]


def unpack(kind: str, version: int, data: bytes) -> dict[str, Any]:
    """Deserialize the dict of values in data from `pack`.

    kind (str): The expected kind of object.
    version (int): The expected version of the format.
    data (bytes): The data, compressed or not.
    RETURNS (dict): The values by name; arrays are read-only.
    RAISES (StorageError): If the data is not from `pack`, is damaged, is of another kind or version, or exceeds the
        memory limit.
    """
    reading = data.reading if isinstance(data, _Nested) else _Reading(MemoryBudget(), {}, _DEEPEST)
    header = _header(kind, data, reading.budget)
    if header["kind"] != kind:
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got a saved {shown(header['kind'])}.")
    if header["version"] != version:
        raise _version_error(kind, header["version"], version)
    if not isinstance(data, _Nested):  # the checksum of the whole covers its parts
        _check_sum(header)
    encoded = _body(header, reading.budget)
    _take_memory(encoded, reading.budget)
    return {name: _decode(name, value, reading) for name, value in encoded.items()}


class _Reading(NamedTuple):
    """The state of reading a model, shared with the models nested in it.

    budget (MemoryBudget): The memory that is left for the outermost model.
    texts (dict): Cache of decompressed lists of texts by their compressed form, since nested networks of one treebank
        have the same words.
    deepest (int): The number of further levels of nesting that are allowed.
    """

    budget: MemoryBudget
    texts: _KnownTexts
    deepest: int


class _Nested(bytes):
    """The bytes of a nested model, which `unpack` reads within the memory budget of the outermost model."""

    reading: _Reading

    @classmethod
    def of(cls, name: str, data: memoryview, reading: _Reading) -> _Nested:
        """Copy the bytes of a nested model.

        name (str): The name of the field that holds the model, for error messages.
        RAISES (StorageError): If models are nested too deeply.
        """
        if reading.deepest == 0:
            raise StorageError(f"The model {shown(name)} is within more models than this spacy-lpcfg knows of.")
        nested = cls(data)
        nested.reading = reading._replace(deepest=reading.deepest - 1)
        return nested


def refuse_others(values: Iterable[str], known: Iterable[str]) -> None:
    """Check that all field names are known.

    values (iterable of str): The names of the fields.
    known (iterable of str): The names that are allowed.
    RAISES (StorageError): If a name in `values` is not in `known`; the message gives the first three.
    """
    others = sorted(set(values) - set(known))
    if others:
        names = ", ".join(f"{shown(name)}" for name in others[:_NAMED])
        raise StorageError(
            f"Expected no fields that this spacy-lpcfg does not know, got {names}: copy or learn it again."
        )


def with_prefixes(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the dicts of several parts into one with keys "PART.NAME"; the inverse of `without_prefixes`."""
    return {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}


def without_prefixes(values: Mapping[str, Any], parts: Iterable[str], own: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Split a dict with keys "PART.NAME", as `with_prefixes` returns it, into one dict for each part.

    values (mapping): The dict.
    parts (iterable of str): The names of the parts.
    own (iterable of str): Further keys that are allowed, but not returned.
    RETURNS (list of dict): The values of each part by name, in the order of `parts`; an empty dict for a missing part.
    RAISES (StorageError): If there is any other key.
    """
    values_of: dict[str, dict[str, Any]] = {part: {} for part in parts}
    others = []
    for name, value in values.items():
        part, dot, own_name = name.partition(".")
        if dot and part in values_of:
            values_of[part][own_name] = value
        else:
            others.append(name)
    refuse_others(others, own)
    return list(values_of.values())


def read_meta(text: Any) -> dict[str, Any]:
    """Parse the metadata of a model, a JSON object, to a dict.

    RAISES (StorageError): If the text is not a JSON object, or is too long or too deeply nested.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_META:
        raise StorageError(f"Expected metadata as text of at most {_LONGEST_META:,} characters.")
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"The metadata are damaged: {error}.") from error
    if not isinstance(meta, dict):
        raise StorageError("Expected metadata as a JSON object, got another JSON value.")
    return meta


def _header(kind: str, data: bytes | memoryview, budget: MemoryBudget) -> dict[str, Any]:
    """Read the header of data from `pack`.

    RAISES (StorageError): If the data are not from `pack`.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise StorageError(f"Expected the bytes of a saved {kind} of spacy-lpcfg, got {type(data).__name__}.")
    try:
        header = ContainerReader(data, budget).read()
    except StorageError as error:
        raise StorageError(
            f"Expected a saved {kind} of spacy-lpcfg, got {len(data)} bytes of something else. {error}"
        ) from error
    if {name: type(value) for name, value in header.items()} != _HEADER or header["magic"] != _MAGIC:
        raise StorageError(f"Expected a saved {kind} of spacy-lpcfg, got other data. Is this the right file?")
    return header


def _check_sum(header: dict[str, Any]) -> None:
    if hashlib.sha256(header["body"]).hexdigest() != header["sha256"]:
        raise StorageError(f"This {header['kind']:.80} is damaged: its checksum differs. Copy or learn it again.")


def _body(header: dict[str, Any], budget: MemoryBudget) -> dict[str, Any]:
    """Read the encoded values in the body of a file whose header was read.

    RAISES (StorageError): If the body cannot be read.
    """
    try:
        return ContainerReader(header["body"], budget).read()
    except StorageError as error:
        raise StorageError(f"This {header['kind']:.80} cannot be read: {error}") from error


def _version_error(kind: str, version: int, expected: int) -> StorageError:
    try:
        installed = metadata.version("spacy-lpcfg")
    except metadata.PackageNotFoundError:
        installed = "that is not installed"
    remedy = (
        "it is of a newer spacy-lpcfg: install that, by `pip install --upgrade spacy-lpcfg`, or learn it again"
        if version > expected
        else "learn it again, or install the version of spacy-lpcfg that wrote it"
    )
    reads = f"this spacy-lpcfg ({installed}) reads format {expected}"
    return StorageError(f"This {kind} has format {version}, and {reads}: {remedy}.")


def _take_memory(encoded: dict[str, Any], budget: MemoryBudget) -> None:
    """Reserve memory in the budget for all decoded values, before any of them is decoded.

    RAISES (StorageError): If too little memory is left, or if a map encodes neither an array nor texts.
    """
    for name, value in encoded.items():
        if _are_texts(value):
            budget.take(value["n"] * BYTES_OF_ITEM + bytes_of_text(value["n_bytes"]))
        elif isinstance(value, dict):
            dtype, shape = _dtype_and_shape(name, value)
            budget.take(_size(shape) * dtype.itemsize)
        elif isinstance(value, memoryview):
            budget.take(len(value))


def _decode(name: str, value: Any, reading: _Reading) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, memoryview):
        return _Nested.of(name, value, reading)
    if not isinstance(value, dict):
        return value
    if _are_texts(value):
        return _texts(name, value, reading.texts)
    dtype, shape = _dtype_and_shape(name, value)
    n = _size(shape)
    if "coding" in value:
        flat = decompress_array(name, value, dtype, n)
    elif len(value["data"]) == n * dtype.itemsize:
        flat = np.frombuffer(bytes(value["data"]), dtype)
    else:
        raise StorageError(
            f"The array {shown(name)} of shape {shape} and type {dtype} cannot have {len(value['data'])} bytes."
        )
    flat.flags.writeable = False
    return flat.reshape(shape)


def _texts(name: str, value: dict[str, Any], known: _KnownTexts) -> tuple[str, ...]:
    """Decompress texts, or return them from the cache `known` if the same compressed texts were read before."""
    key = bytes(value["texts"]), value["n"], value["n_bytes"]
    texts = known.get(key)
    if texts is None:
        texts = known[key] = decompress_texts(name, value)
    return texts


def _are_texts(value: Any) -> bool:
    """Return whether an encoded value has the fields of compressed texts, and no negative numbers."""
    return (
        isinstance(value, dict)
        and {name: type(part) for name, part in value.items()} == _TEXTS
        and min(value["n"], value["n_bytes"]) >= 0
    )


def _dtype_and_shape(name: str, value: dict[str, Any]) -> tuple[np.dtype, list[int]]:
    """Return the type and shape of an encoded array.

    RAISES (StorageError): If it is malformed.
    """
    dtype, shape = value.get("dtype"), value.get("shape")
    if dtype not in _DTYPES or not isinstance(value.get("data"), memoryview) or not isinstance(shape, list):
        raise StorageError(f"Expected an array under {shown(name)}, of one of the types {', '.join(_DTYPES)}.")
    coding, has_table = value.get("coding", CODINGS[0]), isinstance(value.get("table"), memoryview)
    if coding not in CODINGS or has_table != (coding == TABLE) or not value.keys() <= _ARRAY:
        raise StorageError(f"Expected an array of a known coding under {shown(name)}.")
    is_shape = len(shape) <= _MOST_AXES and all(type(size) is int and size >= 0 for size in shape)
    if not is_shape or _size([max(size, 1) for size in shape]) > _LARGEST:
        raise StorageError(f"The array {shown(name)} has the impossible shape {shown(shape)}.")
    return np.dtype(dtype), shape


def _size(shape: list[int]) -> int:
    return int(np.prod(shape, dtype=object))
