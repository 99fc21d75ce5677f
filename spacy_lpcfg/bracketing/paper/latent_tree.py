"""The minimal projective latent tree of distances between words (sections 3.1 and 3.3 of Parikh, Cohen and Xing 2014).

The minimal tree is the projective binary tree with a given top bracket whose edges have the least total length. The
length of an edge is the mean of equation 3 or 4 over the leaves on its four (three) sides. O(n^4) time, O(n^3) memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal


class LatentTree(NamedTuple):
    """A rooted latent tree, as its spans and edge lengths.

    cost (float): Total length of the edges, minus the scores of the spans.
    split (int): Position of the top split.
    spans (int32, (n_spans, 2)): Half-open spans of two or more words in pre-order, without the whole sentence.
    edges (float64, (n_spans,)): Length of the edge above each span; the two halves of the sentence share one edge.
    """

    cost: float
    split: int
    spans: np.ndarray
    edges: np.ndarray


def minimal_tree(
    distances: np.ndarray,
    split: int | None = None,
    *,
    span_scores: np.ndarray | None = None,
    metrics: Sequence[np.ndarray] = (),
) -> LatentTree:
    """Compute the minimal latent tree of a sentence.

    distances (float64, (n, n)): Symmetric distances, which may be negative. A term of one leaf alone, as in
        d(i, j) + f(i) + f(j), changes no tree.
    split (int or None): Position of the top split, 0 < split < n; None for the cheapest one. Without `span_scores` the
        cost does not depend on the root of an undirected tree, so that there are ties; the first split is taken.
    span_scores (float64, (n + 1, n + 1) or None): At [i, j] the score of the span [i, j), which is subtracted from the
        cost. The score of the whole sentence is ignored.
    metrics (sequence of float64, (n, n)): Further distances to add; sums of additive metrics are additive.
    RAISES (ValueError): If shapes do not match, numbers are not finite, or the split is out of range.
    """
    total = np.array(distances, dtype=np.float64)
    for metric in metrics:
        total = total + metric
    n = len(total)
    _check(total, n, span_scores, split)
    if n < 2:
        return LatentTree(0.0, 0, np.zeros((0, 2), np.int32), np.zeros(0))
    sums = prefix_sums(total)
    scores = None if span_scores is None else np.ascontiguousarray(span_scores, dtype=np.float64)
    splits = range(1, n) if split is None else (split,)
    trees = [_latent_tree(sums, scores, top) for top in splits]
    return min(trees, key=lambda tree: tree.cost)


def prefix_sums(distances: np.ndarray) -> np.ndarray:
    """Return the sums of all rectangles that begin at (0, 0), float64 (n + 1, n + 1)."""
    sums = np.zeros((len(distances) + 1, len(distances) + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    return sums


def _latent_tree(sums: np.ndarray, scores: np.ndarray | None, split: int) -> LatentTree:
    cost, spans, edges = minimal(sums, scores, split)
    return LatentTree(cost, split, spans, edges)


def _check(distances: np.ndarray, n: int, span_scores: np.ndarray | None, split: int | None) -> None:
    if distances.shape != (n, n):
        raise ValueError(f"Expected a square matrix of distances, got one of shape {distances.shape}.")
    if not np.all(np.isfinite(distances)):
        raise ValueError("Expected finite distances: back off where a covariance has too small a rank.")
    if span_scores is not None and np.shape(span_scores) != (n + 1, n + 1):
        raise ValueError(f"Expected span scores of shape {(n + 1, n + 1)}, got {np.shape(span_scores)}.")
    if n > 1 and split is not None and not 0 < split < n:
        raise ValueError(f"Expected a top bracket that splits {n} words at 1 to {n - 1}, got {split}.")
