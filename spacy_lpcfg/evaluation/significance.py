"""Whether one parser's F1 is better than another's by more than chance would make it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.checks import check_whole
from spacy_lpcfg.evaluation.evalb_sentence import SentenceScore, Status


def paired_permutation_test(
    one: Sequence[SentenceScore], other: Sequence[SentenceScore], *, n_shuffles: int = 2_000, seed: int = 0
) -> float:
    """How often F1 differs as much as here, when each sentence's two trees change places by chance (Cohen 1995).

    one, other (sequence of SentenceScore): of the same sentences in the same order; those that are not valid in both
        do not count.
    n_shuffles (int): random assignments; seed (int): of them.
    RETURNS (float): two-sided p-value, from 1 / (n_shuffles + 1) to 1.
    RAISES (ValueError): If the two have different lengths, or if a number is out of range.
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
    """|F1 - F1| of two parsers whose counts of matched, gold and test brackets have these sums and differences."""
    one, other = (sums + differences) / 2, (sums - differences) / 2
    return np.abs(_f1(one) - _f1(other))


def _f1(counts: np.ndarray) -> np.ndarray:
    return 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)
