import numpy as np
from numpy.typing import NDArray

def window_keys(parts: NDArray[np.uint64], templates: NDArray[np.int32], reach: int) -> NDArray[np.int32]: ...
def sum_weights(
    keys: NDArray[np.int32],
    features: NDArray[np.int32],
    buckets: NDArray[np.int32],
    shift: int,
    offsets: NDArray[np.int32],
    outputs: NDArray[np.uint16],
    weights: NDArray[np.float32],
    n_outputs: int,
) -> NDArray[np.float32]: ...
def adagrad_epoch(
    features: NDArray[np.int32],
    terminals: NDArray[np.int32],
    symbols: NDArray[np.int32],
    boundaries: NDArray[np.int8],
    row_offsets: NDArray[np.int32],
    row_symbols: NDArray[np.int32],
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
    rate: float,
) -> float: ...
