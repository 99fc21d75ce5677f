"""Helpers for arrays: padding to blocks of `LANES` floats, offsets, ranges and write protection."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

LANES = 8
"""Number of float32 that kernels process at a time, as in lanes.h."""

Sizes = TypeVar("Sizes", int, np.ndarray)


def in_blocks(sizes: Sizes) -> Sizes:
    """Round sizes up to multiples of `LANES`."""
    return -(-sizes // LANES) * LANES


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Return where each of n consecutive parts of the given sizes starts, and where the last ends, int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Concatenate the ranges start, start + 1, ..., start + size - 1 for each start and size."""
    return np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, since threads share it, and return it."""
    array.flags.writeable = False
    return array
