import numpy as np
from numpy.typing import NDArray

def span_features(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    bounds: NDArray[np.int32],
    labels: NDArray[np.int32],
    odds: NDArray[np.int32],
    lengths: NDArray[np.int32],
    templates: NDArray[np.int32],
) -> NDArray[np.int32]: ...
def crossing_masses(bounds: NDArray[np.int32], p: NDArray[np.float64]) -> NDArray[np.float64]: ...

class FeatureIndex:
    def __init__(self, keys: NDArray[np.int32]) -> None: ...

class SpanScorer:
    def __init__(self, keys: NDArray[np.int32], weights: NDArray[np.float32]) -> None: ...
    def scores(self, keys: NDArray[np.int32]) -> NDArray[np.float64]: ...

class SpanDescent:
    def __init__(
        self,
        keys: NDArray[np.int32],
        penalties: NDArray[np.float64],
        dense: NDArray[np.float64],
        rate: float,
        start: float,
    ) -> None: ...
    def places(self, keys: NDArray[np.int32]) -> None: ...
    def scores(self, places: NDArray[np.int32], inputs: NDArray[np.float32]) -> NDArray[np.float64]: ...
    def step(self, places: NDArray[np.int32], inputs: NDArray[np.float32], gradients: NDArray[np.float64]) -> None: ...
    def averages(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
