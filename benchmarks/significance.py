"""Significance tests and confidence intervals for scores of parsers, over sentences and over seeds.

Scores are arrays of the counts of F1, int (n_seeds, n_sentences, 3): matched, gold and test brackets. A parser's F1 is
the mean over its seeds of the F1 of all brackets. A parser without seeds has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.evaluation.bootstrap import N_SAMPLES, f1_of, sentence_draws
from spacy_lpcfg.evaluation.evalb import Evaluation
from spacy_lpcfg.evaluation.evalb_sentence import SentenceScore, Status
from spacy_lpcfg.evaluation.unlabelled import UnlabelledScore

COVERED = (2.5, 97.5)
"""Percentiles at the ends of an interval."""


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def evalb_counts(evaluations: Sequence[Evaluation]) -> np.ndarray:
    """Return the counts of evaluations of the same sentences, one for each seed; 0 for sentences that are not valid."""
    lengths = {len(evaluation.sentences) for evaluation in evaluations}
    if len(lengths) != 1:
        raise ValueError(f"Expected evaluations of the same sentences, got {sorted(lengths)} sentences.")
    return np.array([[_counts(score) for score in evaluation.sentences] for evaluation in evaluations], dtype=np.int64)


def unlabelled_counts(scores: Iterable[UnlabelledScore]) -> np.ndarray:
    """Return the counts of unlabelled brackets, those of whole sentences among them, of a parser without seeds."""
    counts = [(s.with_sentence.matched, s.with_sentence.n_gold, s.with_sentence.n_test) for s in scores]
    return np.array([counts], dtype=np.int64).reshape(1, -1, 3)


def f1_interval(counts: np.ndarray) -> Interval:
    """Return a parser's F1 in percent, by a bootstrap over sentences and seeds."""
    return _interval(_mean_f1(counts), _resampled(counts, seed=0))


def difference_interval(one: np.ndarray, other: np.ndarray) -> Interval:
    """Return the F1 of the other parser less that of the first, in percent, by a paired bootstrap.

    Each sample draws sentences, which are the same for both parsers, and seeds, which are not.

    one, other (int array (n_seeds, n_sentences, 3)): Counts; the numbers of seeds may differ.
    RAISES (ValueError): If the numbers of sentences differ.
    """
    _check_pairs(one, other)
    return _interval(_mean_f1(other) - _mean_f1(one), _resampled(other, seed=1) - _resampled(one, seed=2))


def paired_permutation_test(one: np.ndarray, other: np.ndarray, *, n_shuffles: int = N_SAMPLES) -> float:
    """Return the p-value of the difference in F1 of two parsers, by a paired permutation test (Cohen 1995).

    The trees of each sentence by the two parsers are exchanged at random, those of all seeds together, since they are
    no independent trees. The p-value is the share of such shuffles in which F1 differs at least as much as observed.

    one, other (int array (n_seeds, n_sentences, 3)): Counts of the two parsers. Sentences that are not valid for both
        and for all seeds do not count.
    n_shuffles (int): Number of random shuffles.
    RETURNS (float): Two-sided p-value, from 1 / (n_shuffles + 1) to 1.
    RAISES (ValueError): If the numbers of sentences or of seeds differ.
    """
    _check_pairs(one, other)
    if len(one) != len(other):
        raise ValueError(f"Expected as many seeds of both parsers, got {len(one)} and {len(other)}.")
    valid = ((one[..., 1] > 0) & (other[..., 1] > 0)).all(axis=0)
    summed = one[:, valid].sum(axis=0), other[:, valid].sum(axis=0)
    sums, differences = (summed[0] + summed[1]).sum(axis=0), summed[0] - summed[1]
    swaps = np.random.default_rng(0).choice((-1, 1), size=(n_shuffles, len(differences)))
    shuffled = _gap(sums, swaps @ differences)
    n_as_large = int((shuffled >= _gap(sums, differences.sum(axis=0)) - 1e-10).sum())
    return (n_as_large + 1) / (n_shuffles + 1)


def sign_permutation_test(differences: np.ndarray, *, n_shuffles: int = N_SAMPLES) -> float:
    """Return the two-sided p-value of a sum of paired differences, float (n,), the sign of each left to chance."""
    values = differences[differences != 0].astype(float)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(n_shuffles, len(values)))
    n_as_far = int((np.abs(signs @ values) >= abs(values.sum()) - 1e-9).sum())
    return (n_as_far + 1) / (n_shuffles + 1)


def _check_pairs(one: np.ndarray, other: np.ndarray) -> None:
    if one.shape[1] != other.shape[1]:
        raise ValueError(f"Expected scores of the same sentences, got {one.shape[1]} and {other.shape[1]}.")


def _resampled(counts: np.ndarray, seed: int) -> np.ndarray:
    """Return the F1 of each sample, the mean over as many seeds as there are, drawn with replacement.

    seed (int): Of the draws of seeds. Samples of sentences are the same for all parsers.
    """
    draws = sentence_draws(counts.shape[1], seed=0)
    by_seed = f1_of(np.stack([draws @ of_seed for of_seed in counts], axis=1))
    seeds = np.random.default_rng(seed).integers(len(counts), size=by_seed.shape)
    return np.take_along_axis(by_seed, seeds, axis=1).mean(axis=1)


def _interval(value: float, samples: np.ndarray) -> Interval:
    low, high = np.percentile(samples, COVERED)
    return Interval(value, float(low), float(high))


def _mean_f1(counts: np.ndarray) -> float:
    return float(f1_of(counts.sum(axis=1)).mean())


def _counts(score: SentenceScore) -> tuple[int, int, int]:
    if score.status != Status.VALID:
        return 0, 0, 0
    return score.brackets.matched, score.brackets.n_gold, score.brackets.n_test


def _gap(sums: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return |F1 - F1| of two parsers, given the sums and differences of their matched, gold and test brackets."""
    one, other = (sums + differences) / 2, (sums - differences) / 2
    return np.abs(f1_of(one) - f1_of(other))
