"""Reader of weights in the safetensors format: a header in JSON, then the numbers of all arrays."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.reader import StorageError

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_N_LENGTH = 8  # bytes that hold the length of the header
_NOTES = "__metadata__"


def safetensors(data: bytes, name: str) -> dict[str, np.ndarray]:
    """Read the floating-point arrays of a safetensors file, by name, as float32; arrays of other types are left out.

    data (bytes): The contents of the file.
    name (str): The name of the file, for error messages.
    RAISES (StorageError): If the file is damaged, or not in this format.
    """
    body = _N_LENGTH + int.from_bytes(data[:_N_LENGTH], "little")
    try:
        header = json.loads(data[_N_LENGTH:body]) if body <= len(data) else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise StorageError(f"Expected weights in the format safetensors, got something else in {name!r}.")
    entries = {key: entry for key, entry in header.items() if key != _NOTES}
    return {
        key: _array(key, entry, memoryview(data)[body:])
        for key, entry in entries.items()
        if not isinstance(entry, dict) or entry.get("dtype") in _TYPES
    }


def _array(name: str, entry: Any, body: memoryview) -> np.ndarray:
    """Read the array that an entry of the header describes, as float32."""
    try:
        kind, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        are_sizes = all(type(size) is int and size >= 0 for size in (*shape, start))
        dtype = np.dtype(_TYPES[kind])
        if not are_sizes or end > len(body) or end - start != math.prod(shape) * dtype.itemsize:
            raise ValueError("it does not fit its numbers")
        array = np.frombuffer(body[start:end], dtype).reshape(shape)
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"The weights {shown(name)} are damaged: {error}. Download the file again.") from error
    if kind == "BF16":  # the first half of a float32
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)
