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
    """Return the start of each of n consecutive parts, and the end of the last, int64 (n + 1,).

    sizes (int, (n,)): The sizes of the parts.
    """
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Concatenate the ranges start, start + 1, ..., start + size - 1 of each start and size, int64 (sum of sizes,).

    starts, sizes (int, (n,)): The first number and the length of each range.
    """
    return np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, since threads share it, and return it."""
    array.flags.writeable = False
    return array
