import numpy as np
from numpy.typing import NDArray

def exchange(
    after_offsets: NDArray[np.int32],
    after_words: NDArray[np.int32],
    after_counts: NDArray[np.int64],
    before_offsets: NDArray[np.int32],
    before_words: NDArray[np.int32],
    before_counts: NDArray[np.int64],
    classes: NDArray[np.int32],
    pairs: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    n_classes: int,
) -> int: ...
