"""The matrix decomposition Q[f, g] = sum over h of pi(h) r(f | h) s(g | h) (section 5 of Cohen and Collins 2014).

`anchor_states` does steps 2 to 4 of section 5.2, for grammars and for the language model. `decompose` computes the
parameters of figure 2 from its result.

In a grammar several inside features, or several outside features, make one Q: its rows are the values of all inside
features, its columns the values of all outside features (section 6.2). pi, r and s are then shares of the rows' and
columns' totals. Differs from the paper: counts are samples of Q, so that `AnchorSettings` regularizes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.moments.anchors import fast_anchor_words, simplex_regression, squared_distances
from spacy_lpcfg.learning.moments.convex_em import ConvexEM, conditionals, transition


@dataclass(frozen=True)
class AnchorSettings:
    """Settings of `anchor_states`; the defaults are the algorithm of section 5.2 of Cohen and Collins (2014).

    shrink (float): Pseudo-occurrences of the overall mean vector that are added to each feature's occurrences.
    candidates (float): Anchors are sought among the `candidates * m` most frequent features, because the vectors of
        rare features are extreme by chance; infinity admits all features.
    affine (bool): Whether anchors must be affinely independent, which suits vectors with mean zero; if False, linearly.
    tolerance (float): `min_gain` of the simplex regression, as a share of the anchors' squared distances.
    distance ("max" or "mean"): Whether `tolerance` is a share of the largest or the mean squared distance.
    max_iterations, review (int): Arguments of `simplex_regression`.
    """

    shrink: float = 0.0
    candidates: float = np.inf
    affine: bool = False
    tolerance: float = 1e-4
    distance: Literal["max", "mean"] = "max"
    max_iterations: int = 500
    review: int = 1

    def candidates_of(self, counts: np.ndarray, n_states: int) -> np.ndarray:
        """Return the ids of the features among which anchors are sought, int64 (k,).

        counts (float64, (F,)): Occurrences of each feature.
        n_states (int): Number of states m.
        """
        n = int(min(self.candidates * n_states, float(np.count_nonzero(counts))))
        return np.argsort(-counts, kind="stable")[:n] if n < len(counts) else np.arange(n)


class AnchorStates(NamedTuple):
    """The anchors of m states, and each feature's distribution over states.

    anchors (int64, (m,)): The feature that is the anchor of each state; if m is 1, one feature or none.
    posteriors (float64, (F, m)): q(h | f); rows sum to one.
    """

    anchors: np.ndarray
    posteriors: np.ndarray


class Decomposition(NamedTuple):
    """A decomposition of Q into m states: Q[f, g] = sum over h of pi(h) r(f | h) s(g | h).

    pi (float64, (m,)): pi(h).
    inside (float64, (F, m)): r(f | h).
    outside (float64, (G, m)): s(g | h).
    """

    pi: np.ndarray
    inside: np.ndarray
    outside: np.ndarray


def anchor_states(
    vectors: np.ndarray, counts: np.ndarray, n_states: int, settings: AnchorSettings = AnchorSettings()
) -> AnchorStates:
    """Find anchors and estimate q(h | f), by steps 2 to 4 of section 5.2; pi and r follow by Bayes' rule (`bayes`).

    vectors (float64, (F, l)): E[phi(g) | f] of every feature f; ignored where its count is 0.
    counts (float64, (F,)): Occurrences of each feature.
    n_states (int): The maximum of m; m is smaller if the vectors span fewer dimensions.
    settings (AnchorSettings): The settings.
    """
    shrunk = _shrunk(vectors, counts, settings.shrink)
    candidates = settings.candidates_of(counts, n_states)
    anchors = candidates[_vertices(shrunk[candidates], n_states, settings.affine)]
    if len(anchors) < 2:
        return AnchorStates(anchors, np.ones((len(vectors), 1)))
    scale = getattr(squared_distances(shrunk[anchors]), settings.distance)()
    weights = simplex_regression(
        shrunk,
        shrunk[anchors],
        min_gain=settings.tolerance * scale,
        max_iterations=settings.max_iterations,
        review=settings.review,
    )
    return AnchorStates(anchors, weights)


def _shrunk(vectors: np.ndarray, counts: np.ndarray, shrink: float) -> np.ndarray:
    """Return each feature's vector, shrunk towards the overall mean by `shrink` pseudo-occurrences, float64 (F, l)."""
    mean = counts @ vectors / counts.sum()
    weights = counts[:, None] + shrink
    return (counts[:, None] * vectors + shrink * mean) / np.where(weights > 0, weights, 1.0)


def _vertices(vectors: np.ndarray, n_vertices: int, affine: bool) -> np.ndarray:
    """Return the indices of up to `n_vertices` vertices of the convex hull, int64 (k,) (step 3).

    If `affine`, a constant coordinate is added, which makes affinely independent vertices linearly independent.
    """
    if affine:
        longest = np.linalg.norm(vectors, axis=1).max()
        vectors = np.column_stack([vectors, np.full(len(vectors), longest if longest > 0 else 1.0)])
    return fast_anchor_words(vectors, n_vertices)


def decompose(q: csr_array, inside: np.ndarray, outside: np.ndarray | None, settings: ConvexEM) -> Decomposition:
    """Compute pi, r and s from q(h | f), by figure 2 of Cohen and Collins (2014).

    q (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): q(h | f), from `anchor_states`.
    outside (float64 or None, (G, m')): q(h' | g), from `anchor_states` of the transposed problem, whose states step 3
        matches with the inside states; None for the convex alternative of the remark below theorem 2.
    settings (ConvexEM): The stopping rule of the convex EM.
    """
    of_rows, of_columns = q.sum(axis=1), q.sum(axis=0)
    pi, r = bayes(of_rows, inside)
    if outside is None:
        return Decomposition(pi, r, conditionals(q, inside, settings))
    _, s = bayes(of_columns, outside)
    ratio = s / (of_columns / of_columns.sum())[:, None]
    return Decomposition(pi, r, s @ transition(q, inside, ratio, settings).T)


def bayes(counts: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert conditional probabilities by Bayes' rule.

    counts (float64, (F,)): Occurrences of each feature f.
    posterior (float64, (F, m)): p(h | f).
    RETURNS (float64 (m,), float64 (F, m)): p(h) and p(f | h).
    """
    joint = counts[:, None] * posterior / counts.sum()
    pi = joint.sum(axis=0)
    return pi, joint / pi
