"""Sums and maxima over all binary trees of a sentence with weighted spans."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from spacy_lpcfg.bracketing._spans import best_trees

Span = tuple[int, int]
_Places = tuple[slice, np.ndarray, np.ndarray]


def span_marginals(log_weights: np.ndarray) -> np.ndarray:
    """Compute the marginal probability of each span, where a tree's probability is proportional to its spans' weights.

    log_weights (float64, (n_sentences, n + 1, n + 1)): Log-weight of the span [i, j) at i, j; other entries are
        ignored.
    RETURNS (float64, same shape): The marginals: 1 for the whole sentence and for words, 0 where i >= j.
    RAISES (ValueError): If the matrices are not square or not finite.
    """
    log_weights = _checked(log_weights, 3)
    sums, marginals = _log_sums(log_weights), np.zeros_like(log_weights)
    n_words = log_weights.shape[1] - 1
    if n_words:
        marginals[:, 0, -1] = 1
    for length in range(n_words, 1, -1):
        spans, lefts, rights = _splits(n_words, length)
        below = sums[spans] - log_weights[spans]
        shares = marginals[spans] * np.exp(sums[lefts] + sums[rights] - below)
        marginals[lefts] += shares
        marginals[rights] += shares
    return marginals


def log_sum_of_trees(log_weights: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum over all trees of the product of their spans' weights, float64 (n_sentences,).

    log_weights (float64, (n_sentences, n + 1, n + 1)): Log-weights of spans, as for `span_marginals`; same errors.
    """
    return _log_sums(_checked(log_weights, 3))[:, 0, -1]


def _log_sums(log_weights: np.ndarray) -> np.ndarray:
    """Compute ln of the sum over all trees of each span, float64 (n_sentences, n + 1, n + 1)."""
    sums = log_weights.copy()
    n_words = log_weights.shape[1] - 1
    for length in range(2, n_words + 1):
        spans, lefts, rights = _splits(n_words, length)
        sums[spans] += logsumexp(sums[lefts] + sums[rights], axis=2, keepdims=True)
    return sums


def _splits(n_words: int, length: int) -> tuple[_Places, _Places, _Places]:
    """Return where all spans of a length, and the left and right parts of their splits, are in (., n + 1, n + 1).

    RETURNS (tuple): Places of the shape (., n_spans, 1) for spans, (., n_spans, length - 1) for parts; all differ.
    """
    starts = np.arange(n_words - length + 1)[:, None]
    ends, middles = starts + length, starts + np.arange(1, length)
    everything = slice(None)
    return (everything, starts, ends), (everything, starts, middles), (everything, middles, ends)


def best_tree(log_weights: np.ndarray) -> list[Span]:
    """Return the binary tree with the largest total span weight (CKY).

    log_weights (float64, (n + 1, n + 1)): Log-weight of the span [i, j) at i, j; other entries are ignored.
    RETURNS (list of (start, end)): The n - 1 spans of two or more words in pre-order. Ties are broken, from the top, by
        the leftmost split.
    RAISES (ValueError): If the matrix is not square or not finite.
    """
    log_weights = _checked(log_weights, 2)
    n_words = len(log_weights) - 1
    if n_words < 2:
        return []
    starts, ends = np.triu_indices(n_words + 1, 2)
    whole, any_split = np.array([n_words], dtype=np.int32), np.zeros(1, dtype=np.int32)
    is_in_tree = best_trees(whole, log_weights[starts, ends], any_split).astype(bool)
    spans = zip(starts[is_in_tree].tolist(), ends[is_in_tree].tolist(), strict=True)
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _checked(log_weights: np.ndarray, n_dimensions: int) -> np.ndarray:
    log_weights = np.ascontiguousarray(log_weights, dtype=np.float64)
    if log_weights.ndim != n_dimensions or log_weights.shape[-1] != log_weights.shape[-2]:
        raise ValueError(f"Expected square matrices in {n_dimensions} dimensions, got the shape {log_weights.shape}.")
    if not np.all(np.isfinite(log_weights)):
        raise ValueError("Expected finite weights: a span that no tree may have needs a very low one instead.")
    return log_weights
