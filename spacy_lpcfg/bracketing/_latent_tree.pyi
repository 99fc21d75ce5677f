import numpy as np
from numpy.typing import NDArray

def minimal_by_table(
    anchors: NDArray[np.int32], segments: NDArray[np.int32], table: NDArray[np.float64], apart: float, split: int
) -> tuple[float, NDArray[np.int32], NDArray[np.float64]]: ...
def minimal(sums: NDArray[np.float64], split: int) -> tuple[float, NDArray[np.int32], NDArray[np.float64]]: ...
