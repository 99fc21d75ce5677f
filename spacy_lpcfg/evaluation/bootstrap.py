"""Paired bootstrap of sentences (Efron and Tibshirani 1993): samples of sentences, and F1 of summed counts."""

from __future__ import annotations

import numpy as np

N_SAMPLES = 2_000


def f1_of(counts: np.ndarray) -> np.ndarray:
    """Return F1 in percent from counts (..., 3) of matched, gold and test brackets; 0 where there are no brackets."""
    return 200 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)


def sentence_draws(n_sentences: int, seed: int, *, n_samples: int = N_SAMPLES) -> np.ndarray:
    """Draw bootstrap samples; return how often each sample has each sentence, int (n_samples, n_sentences)."""
    shares = np.full(n_sentences, 1 / n_sentences)
    return np.random.default_rng(seed).multinomial(n_sentences, shares, size=n_samples)
