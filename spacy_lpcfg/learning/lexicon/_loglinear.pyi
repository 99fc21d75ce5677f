import numpy as np
from numpy.typing import NDArray

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
