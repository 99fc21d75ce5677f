import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.trees.tree import Span

class Forest:
    @property
    def n_words(self) -> int: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    def pruned(
        self, marginals: NDArray[np.float64], threshold: float
    ) -> tuple[Forest, NDArray[np.int64], NDArray[np.int64]]: ...
    def restricted(self, is_allowed: NDArray[np.int8]) -> Forest: ...
    def item_table(self) -> NDArray[np.int32]: ...
    def edge_table(self) -> NDArray[np.int32]: ...
    def item_posteriors(self) -> NDArray[np.float64]: ...
    def edge_posteriors(self) -> NDArray[np.float64]: ...

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
def tree_brackets(
    forest: Forest, table: LabelTable, nodes: NDArray[np.int32], marginals: NDArray[np.float64]
) -> tuple[list[tuple[int, int, int]], NDArray[np.float64], list[int], NDArray[np.float64]]: ...

class LabelTable:
    label_names: tuple[str, ...]
    tag_names: tuple[str, ...]
    def __init__(
        self,
        offsets: NDArray[np.int32],
        labels: NDArray[np.int32],
        is_repeated: NDArray[np.int8],
        tag_of: NDArray[np.int32],
        label_names: tuple[str, ...],
        tag_names: tuple[str, ...],
    ) -> None: ...
