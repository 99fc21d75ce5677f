"""Calibration of the probabilities of brackets, tags and trees: reliability diagrams and temperature scaling.

Temperature scaling (Guo et al. 2017, "On calibration of modern neural networks") divides the log-odds of every
probability by one number that is fitted on held-out trees; this keeps the order of brackets, and so the trees. Differs:
`fit_temperature` minimizes the expected calibration error instead of maximizing the likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.parsing.result import Parse
from spacy_lpcfg.trees.tree import Tree

N_BINS = 10
TAG_TEMPERATURE = 2.0
"""Temperature of tags: the one with the least error on other domains that keeps the error on GUM below 1.5%."""
_LEAST = 1e-6  # probabilities are clipped to [_LEAST, 1 - _LEAST], where their log-odds are finite
_TEMPERATURES = np.round(np.geomspace(0.25, 4.0, 81), 3)


class Reliability(NamedTuple):
    """A reliability diagram: brackets in bins of equal width by their probability.

    counts (int64, (n_bins,)): Number of brackets in each bin.
    confidences (float64, (n_bins,)): Mean probability of the brackets in each bin; nan for an empty bin.
    accuracies (float64, (n_bins,)): Share of the brackets in each bin that are right; nan for an empty bin.
    """

    counts: np.ndarray
    confidences: np.ndarray
    accuracies: np.ndarray

    @property
    def expected_error(self) -> float:
        """The expected calibration error, in [0, 1]: the mean distance of confidence and accuracy over all brackets."""
        filled = self.counts > 0
        distances = np.abs(self.confidences - self.accuracies)[filled]
        return float(np.average(distances, weights=self.counts[filled])) if filled.any() else 0.0


Outcomes = tuple[np.ndarray, np.ndarray]
"""Probabilities of brackets, tags or trees, float64 (n,), and whether each of these is right, bool (n,)."""


def outcomes(parses: Sequence[Parse], golds: Sequence[Tree]) -> Outcomes:
    """Return the probability of each bracket of some parses, and whether it is in the gold tree.

    parses (sequence of Parse): Parses of the sentences.
    golds (sequence of Tree): Gold trees of the same sentences, normalized as for scoring.
    RETURNS (float64 (n_brackets,), bool (n_brackets,)): Probabilities and correctness of all brackets, sentence by
        sentence.
    RAISES (ValueError): If the numbers of sentences, or of words in any of them, differ.
    """
    scores, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    if [len(parse.words) for parse in parses] != [len(gold.words) for gold in golds]:
        raise ValueError(
            f"Expected gold trees of the same words as {len(parses)} parses, got {len(golds)} trees of other lengths."
        )
    for parse, gold in zip(parses, golds, strict=True):
        brackets = set(gold.spans())
        scores.append(np.asarray(parse.span_scores, dtype=np.float64))
        right.append(np.array([span in brackets for span in parse.spans], dtype=bool))
    return np.concatenate(scores), np.concatenate(right)


def tag_outcomes(parses: Sequence[Parse], golds: Sequence[Tree]) -> Outcomes:
    """Return the probability of each tag of some parses, and whether it is gold; arguments as for `outcomes`."""
    scores = [np.asarray(parse.tag_scores, dtype=np.float64) for parse in parses]
    pairs = (zip(parse.tags, gold.tags, strict=True) for parse, gold in zip(parses, golds, strict=True))
    right = [tag == expected for of_words in pairs for tag, expected in of_words]
    return np.concatenate([np.zeros(0), *scores]), np.array(right, dtype=bool)


class DomainOutcomes(NamedTuple):
    """The outcomes of brackets, tags and trees of the parses of a domain, whose calibration errors can be computed.

    brackets (Outcomes): As `outcomes` returns them.
    tags (Outcomes): As `tag_outcomes` returns them.
    n_brackets (int64, (n_trees,)): The number of brackets of each tree that has any.
    are_right (bool, (n_trees,)): Whether each of these trees has exactly the brackets of the gold tree.
    """

    brackets: Outcomes
    tags: Outcomes
    n_brackets: np.ndarray
    are_right: np.ndarray

    @classmethod
    def of(cls, parses: Sequence[Parse], golds: Sequence[Tree]) -> DomainOutcomes:
        """Compare parses with gold trees; arguments and errors as for `outcomes`."""
        brackets, tags = outcomes(parses, golds), tag_outcomes(parses, golds)
        pairs = [(parse.spans, gold.spans()) for parse, gold in zip(parses, golds, strict=True) if parse.spans]
        n_brackets = np.array([len(spans) for spans, _ in pairs], dtype=np.int64)
        are_right = np.array([sorted(spans) == sorted(expected) for spans, expected in pairs], dtype=bool)
        return cls(brackets, tags, n_brackets, are_right)

    def tree_probabilities(self, temperature: float) -> np.ndarray:
        """Return the probability of each tree that has brackets, given their temperature, float64 (n_trees,)."""
        scores = tempered(self.brackets[0], temperature)
        ends = np.cumsum(self.n_brackets)
        trees = zip(ends - self.n_brackets, ends, strict=True)
        return np.array([tree_probability(scores[start:end]) for start, end in trees], dtype=np.float64)

    def expected_errors(self, temperature: float, tag_temperature: float) -> tuple[float, float, float]:
        """Return the expected calibration errors, in [0, 1], of brackets, tags and trees under two temperatures."""
        (scores, are_gold), (tag_scores, are_gold_tags) = self.brackets, self.tags
        return (
            reliability(tempered(scores, temperature), are_gold).expected_error,
            reliability(tempered(tag_scores, tag_temperature), are_gold_tags).expected_error,
            reliability(self.tree_probabilities(temperature), self.are_right).expected_error,
        )


def tree_probability(scores: Sequence[float] | np.ndarray) -> float:
    """Return the probability that all brackets of a tree are right: the product of their calibrated probabilities.

    The product assumes that brackets are independent. It is too small since one error often brings another, and too
    large since it leaves out that no bracket may be missing. On development trees the two balance: a power of the
    product that is fitted is 1.0.

    scores (float, (n,)): Probabilities of the brackets, at least one.
    """
    return float(np.prod(np.asarray(scores, dtype=np.float64)))


def reliability(scores: np.ndarray, right: np.ndarray, *, n_bins: int = N_BINS) -> Reliability:
    """Bin brackets by probability and compute the accuracy in each bin.

    scores (float, (n,)): Probabilities of brackets, in [0, 1].
    right (bool, (n,)): Whether each bracket is in its gold tree.
    """
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        confidences = np.bincount(bins, weights=scores, minlength=n_bins) / counts
        accuracies = np.bincount(bins, weights=right, minlength=n_bins) / counts
    return Reliability(counts, confidences, accuracies)


def tempered(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Divide the log-odds of probabilities by a temperature.

    scores (float, (n,)): Probabilities in [0, 1]; 0 and 1 stay as they are.
    temperature (float): Above 1 for less confident probabilities, below 1 for more confident ones.
    RETURNS (float64, (n,)): The scaled probabilities, equal to `scores` if the temperature is 1.
    """
    if temperature == 1:
        return scores.astype(np.float64)
    inside = np.clip(scores, _LEAST, 1 - _LEAST, dtype=np.float64)
    with np.errstate(over="ignore"):
        scaled = 1 / (1 + ((1 - inside) / inside) ** (1 / temperature))
    return np.where((scores <= 0) | (scores >= 1), scores, scaled)


def tempered_tags(of_word: dict[str, float], temperature: float) -> dict[str, float]:
    """Temper the probability of a word's likeliest tag, and scale those of its other tags so that the sum stays 1.

    of_word (dict of str to float): Probabilities by tag, which sum to 1.
    """
    best = max(of_word, key=of_word.__getitem__)
    before = of_word[best]
    if before >= 1:
        return of_word
    after = float(tempered(np.array([before]), temperature)[0])
    share = (1 - after) / (1 - before)
    return {tag: after if tag == best else p * share for tag, p in of_word.items()}


def fit_temperature(scores: np.ndarray, right: np.ndarray) -> float:
    """Find the temperature with the least expected calibration error, by grid search.

    scores (float, (n,)): Probabilities of brackets, in [0, 1].
    right (bool, (n,)): Whether each bracket is in its gold tree.
    RAISES (ValueError): If there are no brackets.
    """
    return fit_shared_temperature([(scores, right)])


def fit_shared_temperature(domains: Sequence[Outcomes]) -> float:
    """Find the temperature with the least sum of squared expected calibration errors of domains, by grid search.

    Every domain counts alike, however large it is, and squares keep the errors of domains about equal.

    domains (sequence of (float (n,), bool (n,))): The result of `outcomes` or `tag_outcomes` for each domain.
    RAISES (ValueError): If a domain is empty, or if there is none.
    """
    if not domains or not all(len(scores) for scores, _ in domains):
        raise ValueError("Expected brackets to fit a temperature by, got none: give trees with constituents.")
    errors = [
        sum(reliability(tempered(scores, t), right).expected_error ** 2 for scores, right in domains)
        for t in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(errors))])
