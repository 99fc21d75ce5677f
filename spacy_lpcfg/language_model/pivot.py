"""The pivot algorithm for matrices Q(f, g) = sum over h of p(h) p(f | h) p(g | h), and for the language model.

Section 5.2 of Cohen and Collins (2014), which solves their matrix decomposition problem 2, and section 8. Notation:
f and g are a row and a column of Q, and h is a latent state. phi(g) represents g in l = m dimensions. The vectors v_f =
E[phi(g) | f] lie in the convex hull of the vectors of m pivots, and the weights of this mixture are p(h | f).

Differs from the paper by its regularization, since counts are only a sample: (1) only frequent words may be pivots, as
the extremes of the hull are noise otherwise; (2) the CCA is regularised; (3) v_f of rare f are drawn towards the mean;
(4) every p(h | f) is drawn towards p(h), so that no probability is zero; (5) the concave EM of section 8 ends early.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spacy_lpcfg.checks import BELOW_1, COUNT, POSITIVE, at_least
from spacy_lpcfg.language_model.aggregate import Aggregate, Bigrams, fit_states
from spacy_lpcfg.learning.moments.decomposition import AnchorSettings, AnchorStates, anchor_states, bayes

_DENSE = 500  # a matrix with a side of at most this size is decomposed in full
_MIN_PRIOR = 1e-12  # floor of p(h), for a state that no other word than its pivot has

logger = logging.getLogger("spacy_lpcfg")


@dataclass(frozen=True)
class PivotSettings:
    """Regularization of the pivot algorithm against the noise of counts; `PAPER_PIVOTS` has almost none.

    As in the module, f is a row of the matrix and h one of the m latent states.

    candidates (float): Pivots are chosen among the `candidates * m` most frequent rows; infinity admits all rows.
    kappa (float): Pseudo-count in the scaling of rows and columns for the CCA, 1 / sqrt(count + kappa).
    shrinkage (float): Pseudo-count with which the mean vector is added to the vector of each row.
    softening (float): Share of p(h) in every p(h | f): `(1 - softening) * p(h | f) + softening * p(h)`.
    tolerance (float): `min_gain` of `simplex_regression`, as a share of the pivots' mean squared distance.
    concave_iterations (int): Number of iterations of the concave EM for r(h | w1), the states of the first word of
        a bigram. The paper names no number; many iterations overfit rare words.
    RAISES (ValueError): If a setting is out of range.
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
        at_least(0)(kappa=self.kappa, shrinkage=self.shrinkage)
        BELOW_1(softening=self.softening)
        POSITIVE(tolerance=self.tolerance)
        COUNT(concave_iterations=self.concave_iterations)

    @property
    def anchors(self) -> AnchorSettings:
        """The settings with which `anchor_states` finds pivots and p(h | f).

        The maximum number of steps is high, since pivots may nearly coincide.
        """
        return AnchorSettings(
            shrink=self.shrinkage,
            candidates=self.candidates,
            affine=True,
            tolerance=self.tolerance,
            distance="mean",
            max_iterations=100_000,
            review=16,
        )


PAPER_PIVOTS = PivotSettings(candidates=np.inf, kappa=0.0, shrinkage=0.0, softening=1e-3, concave_iterations=100)
"""The paper's settings, with a floor under p(h | f), without which unseen bigrams have no probability."""


def row_states(
    counts: sparse.csr_matrix, n_states: int, *, seed: int = 0, settings: PivotSettings = PivotSettings()
) -> AnchorStates:
    """Find the pivots among the rows f of a matrix, and estimate p(h | f).

    If each state has a pivot, the estimate from an exact matrix is right up to a permutation of the states.

    counts (csr_matrix, (n_rows, n_columns)): Q, or counts.
    n_states (int): Number of states m, at least 1. If fewer pivots are found, there are fewer states and a warning.
    seed (int): Seed of the randomized SVD of large matrices.
    settings (PivotSettings): Regularization.
    RETURNS (AnchorStates): The pivots, and p(h | f) of each row.
    RAISES (ValueError): If all counts are zero, or for less than one state.
    """
    COUNT(n_states=n_states)
    totals = _totals(counts)
    if not totals.any():
        raise ValueError("Expected counts to decompose, got none but zeros.")
    phi = _representation(counts, totals, n_states, seed, settings.kappa)
    vectors = (counts @ phi) / np.where(totals > 0, totals, 1.0)[:, None]
    states = anchor_states(vectors, totals, n_states, settings.anchors)
    if len(states.anchors) < n_states:
        logger.warning(
            "%d states instead of %d: the %d most frequent words are mixtures of so many pivots among them",
            len(states.anchors),
            n_states,
            len(settings.anchors.candidates_of(totals, n_states)),
        )
    prior = np.maximum(totals @ states.posteriors / totals.sum(), _MIN_PRIOR)
    softened = (1 - settings.softening) * states.posteriors + settings.softening * prior / prior.sum()
    return states._replace(posteriors=softened)


def _totals(counts: sparse.csr_matrix) -> np.ndarray:
    """Return the sum of each row, float64 (n_rows,)."""
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()


def _representation(
    counts: sparse.csr_matrix, totals: np.ndarray, n_dimensions: int, seed: int, kappa: float
) -> np.ndarray:
    """Compute phi by CCA of one-hot f and g (step 1), float64 (n_columns, n_dimensions), with mean zero."""
    column_totals = np.asarray(counts.sum(axis=0)).ravel()
    left, right = (_inverse_roots(sums + kappa) for sums in (totals, column_totals))
    scaled = sparse.diags(left) @ counts @ sparse.diags(right)
    if min(scaled.shape) <= _DENSE:
        vectors = np.linalg.svd(scaled.toarray(), full_matrices=False)[2][:n_dimensions]
    else:
        from sklearn.utils.extmath import randomized_svd  # slow to import, and needed for learning alone

        vectors = randomized_svd(scaled.tocsr(), n_dimensions, n_iter=4, random_state=seed)[2]
    phi = vectors.T * (right * np.sqrt(totals.sum()))[:, None]
    return phi - (column_totals @ phi) / column_totals.sum()


def _inverse_roots(values: np.ndarray) -> np.ndarray:
    """Return 1 / sqrt(value) for positive values, and 0 for zero."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def pivot_aggregate(
    bigrams: Bigrams, n_states: int, *, seed: int = 0, settings: PivotSettings = PivotSettings()
) -> Aggregate:
    """Estimate the aggregate model with the pivot algorithm: s(w2 | h) by decomposition, then r(h | w1) by concave EM.

    bigrams (Bigrams): Bigram counts of the text.
    n_states, seed, settings: As for `row_states`, with the same errors.
    """
    matrix = bigrams.matrix(bigrams.counts).T.tocsr()
    prior, words = bayes(_totals(matrix), row_states(matrix, n_states, seed=seed, settings=settings).posteriors)
    return fit_states(bigrams, words, prior, settings.concave_iterations)
