"""The binary tree with the largest total span weight."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.bracketing._spans import best_trees

Span = tuple[int, int]


def best_tree(weights: np.ndarray) -> list[Span]:
    """Return the binary tree with the largest total span weight (CKY).

    weights (float64, (n + 1, n + 1)): Weight of the span [i, j) at i, j; other entries are ignored.
    RETURNS (list of (start, end)): The n - 1 spans of two or more words in pre-order; [] for less than two words. Ties
        are broken, from the top, by the leftmost split.
    RAISES (ValueError): If the matrix is not square or not finite.
    """
    weights = np.asarray(weights, dtype=np.float64)
    n_words = len(weights) - 1
    if weights.shape != (n_words + 1, n_words + 1) or not np.all(np.isfinite(weights)):
        raise ValueError(
            f"Expected a square matrix of finite weights, got the shape {weights.shape}: a span that no tree may "
            "have needs a very low weight."
        )
    if n_words < 2:
        return []
    starts, ends = np.triu_indices(n_words + 1, 2)
    whole, any_split = np.array([n_words], dtype=np.int32), np.zeros(1, dtype=np.int32)
    is_in_tree = best_trees(whole, weights[starts, ends], any_split).astype(bool)
    spans = zip(starts[is_in_tree].tolist(), ends[is_in_tree].tolist(), strict=True)
    return sorted(spans, key=lambda span: (span[0], -span[1]))
