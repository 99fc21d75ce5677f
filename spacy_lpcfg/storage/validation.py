"""Checks of stored values, shared by all kinds of models, before a kernel reads them without checks."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

LARGEST = 1e12
"""Limit on the absolute value of parameters, so that a product of three is a finite float32."""


@dataclass(frozen=True)
class Consistency:
    """A checker that the fields of a saved model fit together.

    kind (str): The kind of model, for error messages.
    error (type): The class of the errors to raise, a subclass of ValueError.
    """

    kind: str
    error: type[ValueError]

    def require(self, field: str, holds: bool) -> None:
        """Raise the error of `inconsistent`, which names the field, unless `holds` is true."""
        if not holds:
            raise self.inconsistent(field)

    def inconsistent(self, field: str) -> ValueError:
        """Return the error for a field that does not fit the other fields."""
        return self.error(f"This {self.kind} is inconsistent in its {field}: copy or learn it again.")


def are_texts(value: Any) -> bool:
    """Return whether a value is a tuple of distinct strings."""
    return isinstance(value, tuple) and set(map(type, value)) <= {str} and len(set(value)) == len(value)


def is_number(value: Any) -> bool:
    """Return whether a value is an int or float (not a bool or NumPy number) of absolute value at most `LARGEST`."""
    return type(value) in (int, float) and abs(value) <= LARGEST


def is_positive(value: Any) -> bool:
    """Return whether a value is a real number (not a bool) above 0 and at most `LARGEST`."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= LARGEST


def is_array(value: Any, dtype: str, *shape: int) -> bool:
    """Return whether a value is an array of exactly the given type and shape, whose numbers are finite."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.shape == shape
        and (value.size == 0 or bool(np.isfinite(value.min()) and np.isfinite(value.max())))  # nan if there is any
    )


def is_moderate(array: np.ndarray) -> bool:
    """Return whether all numbers of an array have an absolute value of at most `LARGEST`; True for an empty array."""
    return float(array.min(initial=0)) >= -LARGEST and float(array.max(initial=0)) <= LARGEST


def are_within(ids: np.ndarray, n: int) -> bool:
    """Return whether all ids in an array are from 0 to n - 1; True for an empty array."""
    return ids.size == 0 or bool(ids.min() >= 0 and ids.max() < n)


def are_offsets(value: Any, dtype: str, n: int, end: int, *, start: int = 0, least: int = 0) -> bool:
    """Return whether a value is an array of n + 1 offsets, which divide [start, end) into n consecutive blocks.

    dtype (str): The required type of the array.
    least (int): Minimum size of a block.
    """
    return (
        is_array(value, dtype, n + 1)
        and bool(value[0] == start and value[-1] == end)
        and bool(np.all(np.diff(value.astype(np.int64)) >= least))
    )
