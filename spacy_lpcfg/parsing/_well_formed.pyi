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
    def best_brackets(self, brackets: np.ndarray, gains: np.ndarray, words: np.ndarray) -> list[int]: ...
