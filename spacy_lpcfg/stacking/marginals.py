"""From scores of brackets to probabilities: of each by itself, and of each in sets of brackets that nest."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.stacking._nested import NestedSets

N_KINDS = 2
"""Kinds of scores, each with its own weights: of a bracket by itself, and of one in sets that nest."""
_SURE = 50.0  # log-odds beyond which nothing changes


def bracket_probabilities(bounds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The probability of each candidate of a sentence by both kinds of scores, float64 (n, `N_KINDS`).

    The first kind are the log-odds of each by itself. By the second a set of candidates, no two of which cross, weighs
    exp(sum of its scores), as in a conditional random field; see `_nested.pyx`.

    bounds (int32, (n, 2)): start and end of each, half-open; scores (float64, (n, `N_KINDS`)).
    """
    alone, nested = np.clip(scores, -_SURE, _SURE).T.copy()
    return np.stack([1 / (1 + np.exp(-alone)), NestedSets(bounds, nested).marginals()], axis=1)
