"""How far probabilities of brackets are to be believed: reliability, and one temperature that mends it.

Guo et al. (2017), "On calibration of modern neural networks": the log-odds of every probability are divided by one
number, fitted on trees that nothing was learned from, which changes no order and no tree. Differs: `fit_temperature`
makes the binned error least, not the likelihood greatest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.parsing.result import Parse
from spacy_lpcfg.trees.tree import Tree

N_BINS = 10
_LEAST = 1e-6  # of a probability and its complement, whose log-odds would be infinite
_TEMPERATURES = np.round(np.geomspace(0.25, 4.0, 81), 3)


class Reliability(NamedTuple):
    """Probabilities in bins of equal width over [0, 1]; of empty bins the means are nan.

    counts (int64, (n_bins,)): brackets of each bin.
    confidences (float64, (n_bins,)): their mean probability.
    accuracies (float64, (n_bins,)): the share of them that is right.
    """

    counts: np.ndarray
    confidences: np.ndarray
    accuracies: np.ndarray

    @property
    def expected_error(self) -> float:
        """Mean distance of confidence and accuracy over all brackets, in [0, 1] (expected calibration error)."""
        filled = self.counts > 0
        distances = np.abs(self.confidences - self.accuracies)[filled]
        return float(np.average(distances, weights=self.counts[filled])) if filled.any() else 0.0


def outcomes(parses: Sequence[Parse], golds: Sequence[Tree]) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of the brackets of parses, and whether the gold trees have them.

    parses (sequence of Parse) and golds (sequence of Tree): of the same sentences; trees as scoring sees them.
    RETURNS (float64 (n_brackets,), bool (n_brackets,)): of all brackets, sentence by sentence.
    RAISES (ValueError): Unless there are as many gold trees as parses, of as many words each.
    """
    scores, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    if [len(parse.words) for parse in parses] != [len(gold.words) for gold in golds]:
        raise ValueError(f"Expected {len(parses)} gold trees of the same words as the parses, got {len(golds)} others.")
    for parse, gold in zip(parses, golds, strict=True):
        brackets = set(gold.spans())
        scores.append(np.asarray(parse.span_scores, dtype=np.float64))
        right.append(np.array([span in brackets for span in parse.spans], dtype=bool))
    return np.concatenate(scores), np.concatenate(right)


def reliability(scores: np.ndarray, right: np.ndarray, *, n_bins: int = N_BINS) -> Reliability:
    """How often brackets of each probability are right.

    scores (float, (n,)): probabilities, in [0, 1].
    right (bool, (n,)): whether the brackets are in the gold trees.
    """
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        confidences = np.bincount(bins, weights=scores, minlength=n_bins) / counts
        accuracies = np.bincount(bins, weights=right, minlength=n_bins) / counts
    return Reliability(counts, confidences, accuracies)


def tempered(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities whose log-odds are divided by a temperature: above 1 they are less sure, below 1 more so.

    scores (float, (n,)): in [0, 1]; 0 and 1 stay as they are.
    RETURNS (float64, (n,))
    """
    inside = np.clip(scores, _LEAST, 1 - _LEAST, dtype=np.float64)
    with np.errstate(over="ignore"):
        found = 1 / (1 + ((1 - inside) / inside) ** (1 / temperature))
    return np.where((scores <= 0) | (scores >= 1), scores, found)


def fit_temperature(scores: np.ndarray, right: np.ndarray) -> float:
    """The temperature of least expected calibration error; same arguments as `reliability`.

    Guo et al. fit it by likelihood, which bets on the few brackets that are all but certain; this is what is reported.

    RAISES (ValueError): If there are no brackets.
    """
    if not len(scores):
        raise ValueError("Expected brackets to fit a temperature by, got none: give trees with constituents.")
    errors = [reliability(tempered(scores, t), right).expected_error for t in _TEMPERATURES]
    return float(_TEMPERATURES[int(np.argmin(errors))])
