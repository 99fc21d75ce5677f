"""Conversion of bracket scores to probabilities: independently, and in sets of nested brackets."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.stacking._spans import NestedSets

N_KINDS = 2
"""Number of kinds of scores: of a bracket by itself, and of a bracket in sets of nested brackets."""
_SURE = 50.0  # scores are clipped to [-_SURE, _SURE]


def bracket_probabilities(bounds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute the probability of each candidate of a sentence by both kinds of scores, float64 (n, `N_KINDS`).

    The first kind is the log-odds of the candidate by itself. The second kind defines a conditional random field, in
    which a set of non-crossing candidates has the weight exp(sum of its scores); see `NestedSets`.

    bounds (int32, (n, 2)): Start and end of each candidate, half-open.
    scores (float64, (n, `N_KINDS`)): Scores of each candidate.
    """
    alone, nested = np.clip(scores, -_SURE, _SURE).T.copy()
    return np.stack([1 / (1 + np.exp(-alone)), NestedSets(bounds, nested).marginals()], axis=1)
