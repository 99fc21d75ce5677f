"""What has to hold of stored parts, of whatever kind of model they are, before a kernel reads them unchecked."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

LARGEST = 1e12
"""More than any parameter is, so that a product of three is no infinite float32."""


def are_texts(value: Any) -> bool:
    """Whether it is a tuple of strings, each there once."""
    return isinstance(value, tuple) and all(type(text) is str for text in value) and len(set(value)) == len(value)


def is_number(value: Any) -> bool:
    """Whether it is a number no larger than `LARGEST`, and no flag."""
    return type(value) in (int, float) and abs(value) <= LARGEST


def is_temperature(value: Any) -> bool:
    """Whether log-odds can be divided by it: a number above 0 and no larger than `LARGEST`, and no flag."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= LARGEST


def is_array(value: Any, dtype: str, *shape: int) -> bool:
    """Whether it is an array of that type and shape, of finite numbers."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.shape == shape
        and bool(np.all(np.isfinite(value)))
    )


def is_moderate(array: np.ndarray) -> bool:
    """Whether no number is beyond `LARGEST`."""
    return float(array.min(initial=0)) >= -LARGEST and float(array.max(initial=0)) <= LARGEST


def are_within(ids: np.ndarray, n: int) -> bool:
    """Whether all ids are of n things."""
    return ids.size == 0 or bool(ids.min() >= 0 and ids.max() < n)


def are_offsets(value: Any, dtype: str, n: int, end: int, *, start: int = 0, least: int = 0) -> bool:
    """Whether these are the bounds of n blocks, one after the other, that fill [start, end).

    least (int): the size that each block has at least.
    """
    return (
        is_array(value, dtype, n + 1)
        and bool(value[0] == start and value[-1] == end)
        and bool(np.all(np.diff(value.astype(np.int64)) >= least))
    )
