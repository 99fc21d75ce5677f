"""Significance test for the difference of two parsers' F1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.checks import check_whole
from spacy_lpcfg.evaluation.evalb_sentence import SentenceScore, Status


def paired_permutation_test(
    one: Sequence[SentenceScore], other: Sequence[SentenceScore], *, n_shuffles: int = 2_000, seed: int = 0
) -> float:
    """Return the p-value of the difference in F1 of two parsers, by a paired permutation test (Cohen 1995).

    The two trees of each sentence are exchanged at random; the p-value is the share of such shuffles in which F1
    differs at least as much as observed.

    one, other (sequence of SentenceScore): Scores of the two parsers on the same sentences, in the same order.
        Sentences that are not valid for both do not count.
    n_shuffles (int): Number of random shuffles.
    seed (int): Seed of the shuffles.
    RETURNS (float): Two-sided p-value, from 1 / (n_shuffles + 1) to 1.
    RAISES (ValueError): If the numbers of sentences differ, or a number is out of range.
    """
    check_whole(1, n_shuffles=n_shuffles)
    check_whole(0, seed=seed)
    if len(one) != len(other):
        raise ValueError(f"Expected scores of the same sentences, got {len(one)} and {len(other)}.")
    pairs = [pair for pair in zip(one, other, strict=True) if all(score.status == Status.VALID for score in pair)]
    counts = np.array([[_counts(score) for score in pair] for pair in pairs], dtype=np.int64).reshape(-1, 2, 3)
    sums, differences = counts.sum(axis=(0, 1)), counts[:, 0] - counts[:, 1]
    swaps = np.random.default_rng(seed).choice((-1, 1), size=(n_shuffles, len(pairs)))
    shuffled = _gap(sums, swaps @ differences)
    n_as_large = int((shuffled >= _gap(sums, differences.sum(axis=0)) - 1e-12).sum())
    return (n_as_large + 1) / (n_shuffles + 1)


def _counts(score: SentenceScore) -> tuple[int, int, int]:
    return score.brackets.matched, score.brackets.n_gold, score.brackets.n_test


def _gap(sums: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return |F1 - F1| of two parsers, given the sums and differences of their matched, gold and test brackets."""
    one, other = (sums + differences) / 2, (sums - differences) / 2
    return np.abs(_f1(one) - _f1(other))


def _f1(counts: np.ndarray) -> np.ndarray:
    return 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)
