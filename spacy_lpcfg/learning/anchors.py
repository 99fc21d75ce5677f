"""Vertices of a convex hull, and points as mixtures of them: steps 3 and 4 of section 5.2 of Cohen and Collins (2014).

Differs from the paper: the Frank-Wolfe steps are pairwise (Lacoste-Julien and Jaggi 2015, "On the global linear
convergence of Frank-Wolfe optimization variants"), because plain ones need 1 / error steps near a face of the hull.
"""

from __future__ import annotations

import numpy as np

_FLAT = 1e-6  # share of the longest row under which a distance is rounding


def fast_anchor_words(rows: np.ndarray, k: int) -> np.ndarray:
    """The k rows that span the most: algorithm 4 (FastAnchorWords) of Arora et al. (2013).

    Each is the row farthest from the span of those before it; then each in turn is replaced by the row farthest from
    the span of all others.

    rows (float, (n, d)): points, among them the vertices of their convex hull, which are linearly independent.
    k (int): how many vertices to find.
    RETURNS (int64, (at most k,)): places of the vertices; fewer where the rows span fewer dimensions.
    """
    rest = np.array(rows, dtype=np.float64)
    longest = np.linalg.norm(rest, axis=1).max(initial=0.0)
    found: list[int] = []
    while len(found) < min(k, *rows.shape):
        lengths = np.linalg.norm(rest, axis=1)
        farthest = int(lengths.argmax())
        if lengths[farthest] <= _FLAT * longest:
            break
        found.append(farthest)
        rest = _off(rest, rest[[farthest]])
    for i in range(len(found) if len(found) > 1 else 0):
        others = np.asarray(rows, dtype=np.float64)[found[:i] + found[i + 1 :]]
        found[i] = int(np.linalg.norm(_off(rows, others), axis=1).argmax())
    return np.array(found, dtype=np.int64)


def _off(rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """What is left of the rows when their projection on the span of independent vectors is taken off."""
    basis, _ = np.linalg.qr(vectors.T)
    return rows - (rows @ basis) @ basis.T


def simplex_regression(
    targets: np.ndarray, vertices: np.ndarray, *, max_iterations: int = 500, tolerance: float = 1e-4
) -> np.ndarray:
    """The weights gamma >= 0 that sum to one and minimise |gamma V - v|^2, for every target v.

    targets (float, (n, d)): points v. vertices (float, (m, d)): V.
    max_iterations (int): steps at most.
    tolerance (float): the Frank-Wolfe gap to stop at, as a share of the largest squared distance between vertices:
        no target's half squared distance is farther from its least.
    RETURNS (float64, (n, m)).
    """
    gram, fits = vertices @ vertices.T, targets @ vertices.T
    squares = np.diag(gram)
    distances = np.maximum(squares[:, None] + squares - 2 * gram, 0.0)
    nearest = np.argmin(squares - 2 * fits, axis=1)
    weights = np.zeros(fits.shape)
    weights[np.arange(len(fits)), nearest] = 1.0
    slopes = gram[nearest] - fits  # d/d gamma of half the squared distance
    pending = np.arange(len(fits))
    for _ in range(max_iterations):
        w, g = weights[pending], slopes[pending]
        to = g.argmin(axis=1)
        gaps = np.sum(w * g, axis=1) - g[np.arange(len(g)), to]
        is_far = gaps > tolerance * distances.max()
        if not is_far.any():
            break
        pending, w, g, to = pending[is_far], w[is_far], g[is_far], to[is_far]
        every = np.arange(len(pending))
        away = np.where(w > 0, g, -np.inf).argmax(axis=1)
        fall, length = g[every, away] - g[every, to], distances[away, to]
        step = np.minimum(w[every, away], fall / np.where(length > 0, length, 1.0))
        weights[pending, to] += step
        weights[pending, away] = np.where(step == w[every, away], 0.0, weights[pending, away] - step)
        slopes[pending] += step[:, None] * (gram[to] - gram[away])
    return weights
