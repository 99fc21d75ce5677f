import numpy as np
from numpy.typing import NDArray

NOMINAL: int
MODIFIER: int
OPENS_NONE: int
ADVERB: int
VERB: int

def span_keys(
    lengths: NDArray[np.int32], symbols: NDArray[np.uint8], segments: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def best_trees(
    lengths: NDArray[np.int32], scores: NDArray[np.float64], splits: NDArray[np.int32]
) -> NDArray[np.uint8]: ...

class SpanScores:
    def __init__(
        self,
        keys: NDArray[np.int64],
        values: NDArray[np.float32],
        unseen_yield: float,
        unseen_context: float,
        flags: NDArray[np.uint8],
    ) -> None: ...
    def decode(
        self, symbols: bytes, segments: NDArray[np.int32], split: int
    ) -> tuple[list[tuple[int, int]], list[float]]: ...
