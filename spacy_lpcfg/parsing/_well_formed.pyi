import numpy as np

class RuleScores:
    def __init__(
        self,
        rules: np.ndarray,
        offsets: np.ndarray,
        scores: np.ndarray,
        pairs: np.ndarray,
        pair_scores: np.ndarray,
        contexts: np.ndarray,
        children: np.ndarray,
    ) -> None: ...
    def best_tree(
        self,
        brackets: np.ndarray,
        gains: np.ndarray,
        tags: np.ndarray,
        tag_gains: np.ndarray,
        tag_offsets: np.ndarray,
    ) -> tuple[list[int], list[int]]: ...
