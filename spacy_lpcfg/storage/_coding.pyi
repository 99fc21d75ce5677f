import numpy as np
from numpy.typing import NDArray

def fill_nonzero(
    bits: NDArray[np.uint8],
    places: NDArray[np.unsignedinteger],
    table: NDArray[np.unsignedinteger],
    numbers: NDArray[np.unsignedinteger],
) -> bool: ...
