import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.chart._forest import Forest

def best_tree(
    forest: Forest, edge_scores: NDArray[np.float64], item_scores: NDArray[np.float64]
) -> NDArray[np.int32]: ...
def bracket_scores(
    forest: Forest, table: LabelTable, marginals: NDArray[np.float64], cost: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def expected_scores(
    forest: Forest,
    table: LabelTable,
    brackets: NDArray[np.int32],
    p: NDArray[np.float64],
    of_tags: NDArray[np.float64],
    cost: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class LabelTable:
    def __init__(
        self, offsets: NDArray[np.int32], labels: NDArray[np.int32], tag_of: NDArray[np.int32], n_labels: int
    ) -> None: ...

class CellPosteriors:
    def __init__(self, table: LabelTable) -> None: ...

class TreeBrackets:
    def __init__(
        self, forest: Forest, table: LabelTable, nodes: NDArray[np.int32], marginals: NDArray[np.float64]
    ) -> None: ...
    def spans(self) -> list[tuple[int, int, int]]: ...
    def span_scores(self) -> NDArray[np.float64]: ...
    def tags(self) -> list[int]: ...
    def tag_scores(self) -> NDArray[np.float64]: ...
