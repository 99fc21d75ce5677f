"""Paired bootstrap of sentences (Efron and Tibshirani 1993): samples of sentences, and F1 of summed counts."""

from __future__ import annotations

import numpy as np

N_SAMPLES = 2_000


def f1_of(counts: np.ndarray) -> np.ndarray:
    """Return F1 in percent, shape (...,); 0 where there are no brackets.

    counts (int, (..., 3)): Numbers of matched, gold and test brackets.
    """
    return 200 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)


def sentence_draws(n_sentences: int, seed: int, *, n_samples: int = N_SAMPLES) -> np.ndarray:
    """Draw bootstrap samples with replacement, each of as many sentences as there are in all.

    n_sentences (int): Number of sentences, at least 1.
    seed (int): Seed of the samples.
    n_samples (int): Number of samples.
    RETURNS (int, (n_samples, n_sentences)): How often each sample has each sentence.
    """
    shares = np.full(n_sentences, 1 / n_sentences)
    return np.random.default_rng(seed).multinomial(n_sentences, shares, size=n_samples)
