"""The matrix decomposition Q[f, g] = sum over h of pi(h) r(f | h) s(g | h) (section 5 of Cohen and Collins 2014).

Several inside features, or several outside ones, make one Q: its rows are the values of all inside features, its
columns those of all outside features (section 6.2). pi, r and s are then shares of the rows' and columns' totals.
Differs from the paper: means of features that were seen seldom are drawn to the overall mean, if asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.moments.anchors import fast_anchor_words, simplex_regression, squared_distances
from spacy_lpcfg.learning.moments.convex_em import ConvexEM, conditionals, transition


class Decomposition(NamedTuple):
    """What is known of m states.

    pi (float64, (m,)): pi(h).
    inside (float64, (F, m)): r(f | h). outside (float64, (G, m)): s(g | h).
    """

    pi: np.ndarray
    inside: np.ndarray
    outside: np.ndarray


def posteriors(
    vectors: np.ndarray, counts: np.ndarray, n_states: int, *, shrink: float = 0.0, tolerance: float = 1e-4
) -> np.ndarray:
    """q(h | f) of section 5.2, steps 2 to 4: MDP 2, from which pi and r follow by the laws of probability.

    vectors (float64, (F, l)): E[phi(g) | f] of every feature f.
    counts (float64, (F,)): how often each was seen.
    n_states (int): the most states.
    shrink (float): pseudo-tokens of the overall mean in the vector of each feature.
    tolerance (float): `least_gain` of the simplex regression, as a share of the anchors' largest squared distance.
    RETURNS (float64, (F, m)): rows sum to one; m < n_states where the vectors span fewer dimensions.
    """
    mean = counts @ vectors / counts.sum()
    shrunk = (counts[:, None] * vectors + shrink * mean) / (counts[:, None] + shrink)
    anchors = fast_anchor_words(shrunk, n_states)
    if len(anchors) < 2:
        return np.ones((len(vectors), 1))
    least_gain = tolerance * squared_distances(shrunk[anchors]).max()
    return simplex_regression(shrunk, shrunk[anchors], least_gain=least_gain)


def decompose(q: csr_array, inside: np.ndarray, outside: np.ndarray | None, settings: ConvexEM) -> Decomposition:
    """MDP 1 (figure 2): pi and r from the inside features' states, and s for the same states.

    q (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): q(h | f), as of `posteriors`.
    outside (float64 or None, (G, m')): q(h' | g), as of `posteriors` of the transposed problem, to be matched with the
        inside states by step 3; None for the convex alternative of the remark, which needs no states of its own.
    """
    of_rows, of_columns = q.sum(axis=1), q.sum(axis=0)
    pi, r = _bayes(of_rows, inside)
    if outside is None:
        return Decomposition(pi, r, conditionals(q, inside, settings))
    _, s = _bayes(of_columns, outside)
    ratio = s / (of_columns / of_columns.sum())[:, None]
    return Decomposition(pi, r, s @ transition(q, inside, ratio, settings).T)


def _bayes(counts: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p(h) and p(f | h), of p(f) and p(h | f)."""
    joint = counts[:, None] * posterior / counts.sum()
    pi = joint.sum(axis=0)
    return pi, joint / pi
