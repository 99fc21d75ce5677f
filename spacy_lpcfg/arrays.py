"""Helpers for arrays: padding to kernel blocks, consecutive blocks and ranges, and write protection."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

LANES = 8
"""Number of floats in a block, as in lanes.h."""

Sizes = TypeVar("Sizes", int, np.ndarray)


def in_blocks(sizes: Sizes) -> Sizes:
    """Round sizes up to whole blocks."""
    return -(-sizes // LANES) * LANES


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Return the starts of consecutive blocks of the given sizes, and the end of the last, int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the numbers of ranges of the given starts and sizes, concatenated."""
    return np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, since threads share it, and return it."""
    array.flags.writeable = False
    return array
