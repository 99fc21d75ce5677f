"""Arrays that threads share, and the blocks in which kernels read them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

LANES = 8
"""Floats of a block, as in lanes.h."""

Sizes = TypeVar("Sizes", int, np.ndarray)


def in_blocks(sizes: Sizes) -> Sizes:
    """Sizes rounded up to whole blocks."""
    return -(-sizes // LANES) * LANES


def read_only(array: np.ndarray) -> np.ndarray:
    """The array itself, from now on refused to whoever would write to it: several threads share it."""
    array.flags.writeable = False
    return array
