"""Helpers for arrays: padding to kernel blocks, and write protection."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

LANES = 8
"""Number of floats in a block, as in lanes.h."""

Sizes = TypeVar("Sizes", int, np.ndarray)


def in_blocks(sizes: Sizes) -> Sizes:
    """Round sizes up to whole blocks."""
    return -(-sizes // LANES) * LANES


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, since threads share it, and return it."""
    array.flags.writeable = False
    return array
