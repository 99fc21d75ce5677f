import numpy as np
from numpy.typing import NDArray

def inside_outside(
    order: NDArray[np.int32],
    parent: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    n_states: NDArray[np.int32],
    starts: NDArray[np.int64],
    tensors: NDArray[np.float32],
    inside: NDArray[np.float32],
    outside: NDArray[np.float32],
    counts: NDArray[np.float32],
) -> float: ...
