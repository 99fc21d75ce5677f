"""The matrix decomposition Q[f, g] = sum over h of pi(h) r(f | h) s(g | h) (section 5 of Cohen and Collins 2014).

`anchor_states` is steps 2 to 4 of section 5.2, for grammars and for the language model. `decompose` goes on from there
to the parameters of figure 2.

In a grammar several inside features, or several outside ones, make one Q: its rows are the values of all inside
features, its columns those of all outside features (section 6.2). pi, r and s are then shares of the rows' and columns'
totals. Differs from the paper: what `AnchorSettings` says, because counts are samples of Q.
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
    """Settings of `anchor_states`; the defaults are those of section 5.2.

    shrink (float): Occurrences of the overall mean that are added to those of each feature.
    candidates (float): Anchors are sought among this many times m of the most frequent features, because the rarest are
        extreme by chance; infinite for all.
    affine (bool): Whether anchors are to be affinely independent instead of linearly, as vertices around zero are.
    tolerance (float): `min_gain` of the simplex regression, as a share of the anchors' squared distances.
    distance ("max" or "mean"): Whether `tolerance` is a share of the largest or the mean squared distance.
    max_iterations, review (int): See `simplex_regression`.
    """

    shrink: float = 0.0
    candidates: float = np.inf
    affine: bool = False
    tolerance: float = 1e-4
    distance: Literal["max", "mean"] = "max"
    max_iterations: int = 500
    review: int = 1

    def candidates_of(self, counts: np.ndarray, n_states: int) -> np.ndarray:
        """Return the features among which anchors are sought, int64 (k,); never one that was not seen."""
        n = int(min(self.candidates * n_states, float(np.count_nonzero(counts))))
        return np.argsort(-counts, kind="stable")[:n] if n < len(counts) else np.arange(n)


class AnchorStates(NamedTuple):
    """The anchors of m states, and the distribution over states of each feature.

    anchors (int64, (m,)): The feature that is the anchor of each state; fewer than 2 if m is 1.
    posteriors (float64, (F, m)): q(h | f); rows sum to one.
    """

    anchors: np.ndarray
    posteriors: np.ndarray


class Decomposition(NamedTuple):
    """A decomposition of Q into m states.

    pi (float64, (m,)): pi(h).
    inside (float64, (F, m)): r(f | h). outside (float64, (G, m)): s(g | h).
    """

    pi: np.ndarray
    inside: np.ndarray
    outside: np.ndarray


def anchor_states(
    vectors: np.ndarray, counts: np.ndarray, n_states: int, settings: AnchorSettings = AnchorSettings()
) -> AnchorStates:
    """Return q(h | f) by steps 2 to 4 of section 5.2: MDP 2, from which pi and r follow by the laws of probability.

    vectors (float64, (F, l)): E[phi(g) | f] of every feature f; of any value where its count is 0.
    counts (float64, (F,)): Occurrences of each feature.
    n_states (int): The maximum of m; m is smaller where the vectors span fewer dimensions.
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
    """Run step 2 on samples: interpolate each vector with the overall mean."""
    mean = counts @ vectors / counts.sum()
    weights = counts[:, None] + shrink
    return (counts[:, None] * vectors + shrink * mean) / np.where(weights > 0, weights, 1.0)


def _vertices(vectors: np.ndarray, n_vertices: int, affine: bool) -> np.ndarray:
    """Run step 3: indices of vertices of the convex hull, int64 (k,), with k < n_vertices in fewer dimensions.

    One more coordinate, the same for all, makes affinely independent vertices linearly independent.
    """
    if affine:
        longest = np.linalg.norm(vectors, axis=1).max()
        vectors = np.column_stack([vectors, np.full(len(vectors), longest if longest > 0 else 1.0)])
    return fast_anchor_words(vectors, n_vertices)


def decompose(q: csr_array, inside: np.ndarray, outside: np.ndarray | None, settings: ConvexEM) -> Decomposition:
    """Solve MDP 1 (figure 2): pi and r from the inside features' states, and s for the same states.

    q (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): q(h | f), as in `anchor_states`.
    outside (float64 or None, (G, m')): q(h' | g), as in `anchor_states` of the transposed problem, to be matched with
        the inside states by step 3; None for the convex alternative of the remark, which needs no states of its own.
    """
    of_rows, of_columns = q.sum(axis=1), q.sum(axis=0)
    pi, r = bayes(of_rows, inside)
    if outside is None:
        return Decomposition(pi, r, conditionals(q, inside, settings))
    _, s = bayes(of_columns, outside)
    ratio = s / (of_columns / of_columns.sum())[:, None]
    return Decomposition(pi, r, s @ transition(q, inside, ratio, settings).T)


def bayes(counts: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p(h), (m,), and p(f | h), (F, m), from counts of f, (F,), and p(h | f), (F, m)."""
    joint = counts[:, None] * posterior / counts.sum()
    pi = joint.sum(axis=0)
    return pi, joint / pi
