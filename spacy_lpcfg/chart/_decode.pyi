import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.trees.tree import Span

def best_tree(
    forest: Forest, edge_scores: NDArray[np.float64], item_scores: NDArray[np.float64]
) -> NDArray[np.int32]: ...
def bracket_scores(
    forest: Forest, table: LabelTable, marginals: NDArray[np.float64], cost: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def posteriors(
    forest: Forest, table: LabelTable, marginals: NDArray[np.float64], least: float
) -> tuple[dict[Span, float], list[dict[str, float]]]: ...
def expected_scores(
    forest: Forest,
    table: LabelTable,
    brackets: NDArray[np.int32],
    p: NDArray[np.float64],
    of_tags: NDArray[np.float64],
    cost: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class BracketSums:
    def __init__(self, table: LabelTable) -> None: ...

class LabelTable:
    label_names: tuple[str, ...]
    tag_names: tuple[str, ...]
    def __init__(
        self,
        offsets: NDArray[np.int32],
        labels: NDArray[np.int32],
        tag_of: NDArray[np.int32],
        label_names: tuple[str, ...],
        tag_names: tuple[str, ...],
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
