"""The minimal projective latent tree of distances between words (sections 3.1 and 3.3 of Parikh, Cohen and Xing 2014).

Of all projective binary trees with a given top bracket, the one whose edges have the least total length, where the
length of an edge is the mean of equation 3 or 4 over the leaves on its four (three) sides. O(n^4) time, O(n^3) memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal


class LatentTree(NamedTuple):
    """A directed latent tree.

    cost (float): total length of its edges, less the scores of its spans.
    split (int): of the top bracket.
    spans (int32, (n_spans, 2)): half-open spans of two or more words in pre-order, without the whole sentence.
    edges (float64, (n_spans,)): length of the edge above each; the two halves share theirs.
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
    """The minimal tree of a sentence.

    distances (float64, (n, n)): symmetric; may be negative. What depends on one leaf alone, d(i, j) + f(i) + f(j),
        changes no tree.
    split (int or None): of the top bracket, 0 < split < n; None for the cheapest over all of them, which is undefined
        up to ties: every edge of one undirected tree may be its root. The first one is taken.
    span_scores (float64, (n + 1, n + 1) or None): at [i, j] what a tree gains from the span [i, j); larger is better.
        That of the whole sentence does not count.
    metrics (sequence of float64, (n, n)): further distances to add; sums of additive metrics are additive.
    RAISES (ValueError): On shapes that do not fit, numbers that are not finite, or a split that is none.
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
    trees = [LatentTree(*_ordered(minimal(sums, scores, each), each)) for each in splits]
    return min(trees, key=lambda tree: tree.cost)


def prefix_sums(distances: np.ndarray) -> np.ndarray:
    """Sums of all rectangles that begin at (0, 0), float64 (n + 1, n + 1)."""
    sums = np.zeros((len(distances) + 1, len(distances) + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    return sums


def _ordered(found: tuple[float, np.ndarray, np.ndarray], split: int) -> tuple[float, int, np.ndarray, np.ndarray]:
    cost, spans, edges = found
    return cost, split, spans, edges


def _check(distances: np.ndarray, n: int, span_scores: np.ndarray | None, split: int | None) -> None:
    if distances.shape != (n, n):
        raise ValueError(f"Expected a square matrix of distances, got one of shape {distances.shape}.")
    if not np.all(np.isfinite(distances)):
        raise ValueError("Expected finite distances: back off where a covariance has too small a rank.")
    if span_scores is not None and np.shape(span_scores) != (n + 1, n + 1):
        raise ValueError(f"Expected span scores of shape {(n + 1, n + 1)}, got {np.shape(span_scores)}.")
    if n > 1 and split is not None and not 0 < split < n:
        raise ValueError(f"Expected a top bracket that splits {n} words at 1 to {n - 1}, got {split}.")
