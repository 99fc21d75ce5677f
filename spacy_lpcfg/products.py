"""Matrix products in one thread: more threads of BLAS would busy-wait during the rest of a parse."""

from __future__ import annotations

import numpy as np

_PIECE = 2**18  # multiplications up to which OpenBLAS uses one thread
_ROWS = 24  # at once, where the other matrix is too large for more


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x @ y, computed in blocks that are so small that BLAS uses one thread.

    x (floating, (n, k)), y (floating, (k, m)): The matrices.
    """
    result = np.empty((len(x), y.shape[1]), np.result_type(x, y))
    n_rows = _PIECE // max(y.size, 1)
    if n_rows >= _ROWS // 2:
        whole = len(x) // n_rows * n_rows
        pieces = result[:whole].reshape(-1, n_rows, y.shape[1])
        np.matmul(x[:whole].reshape(-1, n_rows, x.shape[1]), y, out=pieces)
        np.matmul(x[whole:], y, out=result[whole:])
        return result
    columns = _columns(y)
    for at in range(0, len(x), _ROWS):
        rows = x[at : at + _ROWS]
        result[at : at + _ROWS] = np.matmul(rows, columns).transpose(1, 0, 2).reshape(len(rows), -1)
    return result


def _columns(y: np.ndarray) -> np.ndarray:
    """Return a view of y, (k, m), as groups of columns, (n_groups, k, m / n_groups)."""
    most = max(_PIECE // (_ROWS * len(y)), 1)
    width = next(width for width in range(min(most, y.shape[1]), 0, -1) if y.shape[1] % width == 0)
    return y.reshape(len(y), -1, width).transpose(1, 0, 2)
