"""Sums and maxima over all binary trees of a sentence, where each span has a weight."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.bracketing.baselines._binary_trees import best_spans, marginals

Span = tuple[int, int]


def span_marginals(log_weights: np.ndarray) -> np.ndarray:
    """The probability that a tree has a span, where a tree's probability is proportional to its spans' weights.

    log_weights (float64, (n_sentences, n + 1, n + 1)): of the span [i, j) at i, j, finite; the rest is not looked at.
    RETURNS (float64, same shape): The marginals, 1 for the whole sentence and for words, 0 where i >= j.
    RAISES (ValueError): For a shape or values that this is not.
    """
    log_weights = _checked(log_weights, 3)
    out = np.zeros_like(log_weights)
    if log_weights.shape[1] > 1:
        marginals(log_weights, np.empty_like(log_weights), out)
    return out


def log_sum_of_trees(log_weights: np.ndarray) -> np.ndarray:
    """The logarithm of the sum over all trees of the product of their spans' weights, float64 (n_sentences,).

    log_weights (float64, (n_sentences, n + 1, n + 1)): see `span_marginals`, which raises the same errors.
    """
    log_weights = _checked(log_weights, 3)
    chart = np.zeros_like(log_weights)
    if log_weights.shape[1] > 1:
        marginals(log_weights, chart, np.empty_like(log_weights))
    return chart[:, 0, -1]


def best_tree(log_weights: np.ndarray) -> list[Span]:
    """The binary tree whose spans weigh most together.

    log_weights (float64, (n + 1, n + 1)): of the span [i, j) at i, j, finite; the rest is not looked at.
    RETURNS (list of (start, end)): The n - 1 spans of two or more words in pre-order. Of equal trees the one that
        splits its spans first, from the top.
    RAISES (ValueError): For a shape or values that this is not.
    """
    log_weights = _checked(log_weights, 2)
    spans = np.empty((max(len(log_weights) - 2, 0), 2), dtype=np.int32)
    if len(spans):
        best_spans(log_weights, np.empty_like(log_weights), spans)
    return [(start, end) for start, end in spans.tolist()]


def _checked(log_weights: np.ndarray, n_dimensions: int) -> np.ndarray:
    log_weights = np.ascontiguousarray(log_weights, dtype=np.float64)
    if log_weights.ndim != n_dimensions or log_weights.shape[-1] != log_weights.shape[-2]:
        raise ValueError(f"Expected square matrices in {n_dimensions} dimensions, got the shape {log_weights.shape}.")
    if not np.all(np.isfinite(log_weights)):
        raise ValueError("Expected finite weights: a span that no tree may have needs a very low one instead.")
    return log_weights
