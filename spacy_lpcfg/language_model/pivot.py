"""The pivot algorithm for matrices Q(f, g) = sum over h of p(h) p(f | h) p(g | h), and for the language model.

Section 5.2 of Cohen and Collins (2014), which solves their matrix decomposition problem 2, and section 8. Notation:
phi(g) represents a column g in l = m dimensions; v_f = E[phi(g) | f] lies in the convex hull of the v_f of m pivots,
and the weights of its mixture are p(h | f).

Differs on sampled counts, and not under `EXACT`: (1) only frequent words may be pivots, because the extremes of the
hull are noise otherwise; (2) the CCA is regularised; (3) rare f have their v_f drawn towards the mean; (4) so has every
p(h | f), towards p(h), so that no probability is zero; (5) the concave EM of section 8 ends early.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spacy_lpcfg.language_model.aggregate import Aggregate, Bigrams, fit_states
from spacy_lpcfg.learning.moments.anchors import fast_anchor_words, simplex_regression, squared_distances

_DENSE = 500  # a matrix with a side of at most this size is decomposed in full
_MOST_STEPS = 100_000  # of the regression, for pivots that nearly coincide
_REVIEW = 16
_LEAST_PRIOR = 1e-12  # of a state that no f needs but its own pivot

logger = logging.getLogger("spacy_lpcfg")


@dataclass(frozen=True)
class PivotSettings:
    """What keeps the noise of counts out of the estimate; `EXACT` are those where the matrix is exact.

    candidates (float): pivots are sought among so many times m of the most frequent f.
    kappa (float): added to the counts that scale the CCA.
    shrinkage (float): occurrences of the mean that are added to those of every f.
    softening (float): share of every p(h | f) that p(h) takes.
    tolerance (float): `least_gain` of the simplex regression, as a share of the pivots' mean squared distance.
    concave_iterations (int): of EM for r(h | w1) alone. The paper does not say how many; many overfit rare w1.
    RAISES (ValueError): For settings that cannot be.
    """

    candidates: float = 12.0
    kappa: float = 100.0
    shrinkage: float = 30.0
    softening: float = 0.2
    tolerance: float = 1e-4
    concave_iterations: int = 2

    def __post_init__(self) -> None:
        if not self.candidates >= 1:
            raise ValueError(f"Expected candidates of at least 1, which may be infinite, got {self.candidates}.")
        for name in ("kappa", "shrinkage"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"Expected {name} to be 0 or more, and finite, got {getattr(self, name)}.")
        if not 0 <= self.softening < 1:
            raise ValueError(f"Expected a softening of at least 0 and below 1, got {self.softening}.")
        if not 0 < self.tolerance < np.inf:
            raise ValueError(f"Expected a tolerance above 0, and finite, got {self.tolerance}.")
        if self.concave_iterations < 1:
            raise ValueError(f"Expected concave_iterations of at least 1, got {self.concave_iterations}.")


EXACT = PivotSettings(
    candidates=np.inf, kappa=0.0, shrinkage=0.0, softening=0.0, tolerance=1e-14, concave_iterations=5000
)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """What section 5.2 returns.

    pivots (int64, (m,)): the f that is the pivot of each state.
    prior (float64, (m,)): p(h).
    rows (float64, (n_rows, m)): p(f | h); columns sum to one.
    """

    pivots: np.ndarray
    prior: np.ndarray
    rows: np.ndarray


def decompose(
    counts: sparse.csr_matrix, n_states: int, *, seed: int = 0, settings: PivotSettings = PivotSettings()
) -> Decomposition:
    """Find p(h) and p(f | h), up to a permutation of the states, if each state has a pivot among the f.

    counts (csr_matrix, (n_rows, n_columns)): Q, or counts.
    n_states (int): m, at least 1; there are fewer, and a logged reason, if there are fewer pivots.
    seed (int): of the randomised decomposition of large matrices.
    RAISES (ValueError): If all counts are zero, or for less than one state.
    """
    if n_states < 1:
        raise ValueError(f"Expected n_states of at least 1, got {n_states}.")
    totals = np.asarray(counts.sum(axis=1)).ravel()
    if not totals.any():
        raise ValueError("Expected counts to decompose, got none but zeros.")
    points = _points(counts, totals, n_states, seed, settings)
    n_candidates = int(min(settings.candidates * n_states, float(np.count_nonzero(totals))))
    candidates = np.argsort(-totals, kind="stable")[:n_candidates]
    pivots = candidates[_vertices(points[candidates], n_states)]
    if len(pivots) < n_states:
        logger.warning(
            "%d states instead of %d: the %d most frequent words are mixtures of so many pivots among them",
            len(pivots),
            n_states,
            n_candidates,
        )
    least_gain = settings.tolerance * squared_distances(points[pivots]).mean()
    mixtures = simplex_regression(
        points, points[pivots], least_gain=least_gain, max_iterations=_MOST_STEPS, review=_REVIEW
    )
    shares = totals / totals.sum()
    prior = np.maximum(shares @ mixtures, _LEAST_PRIOR)
    prior /= prior.sum()
    mixtures = (1 - settings.softening) * mixtures + settings.softening * prior
    joint = shares[:, None] * mixtures
    return Decomposition(pivots, prior, joint / joint.sum(axis=0))


def _vertices(points: np.ndarray, n_vertices: int) -> np.ndarray:
    """Step 3: places of vertices of the hull, int64 (k,); k < n_vertices if the points lie in fewer dimensions.

    A coordinate more, the same for all, makes vertices independent whose mean is zero.
    """
    longest = np.linalg.norm(points, axis=1).max()
    lifted = np.column_stack([points, np.full(len(points), longest if longest > 0 else 1.0)])
    return fast_anchor_words(lifted, n_vertices)


def _points(
    counts: sparse.csr_matrix, totals: np.ndarray, n_dimensions: int, seed: int, settings: PivotSettings
) -> np.ndarray:
    """Steps 1 and 2: v_f for every f, float64 (n_rows, n_dimensions)."""
    phi = _representation(counts, totals, n_dimensions, seed, settings.kappa)
    seen = totals + settings.shrinkage
    return (counts @ phi) / np.where(seen > 0, seen, 1.0)[:, None]


def _representation(
    counts: sparse.csr_matrix, totals: np.ndarray, n_dimensions: int, seed: int, kappa: float
) -> np.ndarray:
    """Step 1: phi by CCA of one-hot f and g, float64 (n_columns, n_dimensions), with mean zero."""
    column_totals = np.asarray(counts.sum(axis=0)).ravel()
    left, right = (_inverse_roots(each + kappa) for each in (totals, column_totals))
    scaled = sparse.diags(left) @ counts @ sparse.diags(right)
    if min(scaled.shape) <= _DENSE:
        vectors = np.linalg.svd(scaled.toarray(), full_matrices=False)[2][:n_dimensions]
    else:
        from sklearn.utils.extmath import randomized_svd  # slow to import, and needed for learning alone

        vectors = randomized_svd(scaled.tocsr(), n_dimensions, n_iter=4, random_state=seed)[2]
    phi = vectors.T * (right * np.sqrt(totals.sum()))[:, None]
    return phi - (column_totals @ phi) / column_totals.sum()


def _inverse_roots(values: np.ndarray) -> np.ndarray:
    """1 / sqrt of positive values, 0 for zero."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def pivot_aggregate(
    bigrams: Bigrams, n_states: int, *, seed: int = 0, settings: PivotSettings = PivotSettings()
) -> Aggregate:
    """The pivot algorithm for the language model: s(w2 | h) by decomposition, then r(h | w1) by concave EM.

    Arguments as of `decompose`.
    """
    found = decompose(bigrams.matrix(bigrams.counts).T.tocsr(), n_states, seed=seed, settings=settings)
    return fit_states(bigrams, found.rows, found.prior, settings.concave_iterations)
