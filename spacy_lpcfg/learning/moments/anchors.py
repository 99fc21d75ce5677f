"""Vertices of a convex hull (anchors), and points as mixtures of them.

These are steps 3 and 4 of section 5.2 of Cohen and Collins (2014). Differs from the paper: the Frank-Wolfe steps are
pairwise (Lacoste-Julien and Jaggi 2015, "On the global linear convergence of Frank-Wolfe optimization variants"),
because plain ones need 1 / error steps near a face of the hull.
"""

from __future__ import annotations

import numpy as np

_FLAT = 1e-6  # share of the longest row under which a distance is rounding


def fast_anchor_words(rows: np.ndarray, k: int) -> np.ndarray:
    """Find k vertices of the convex hull of the rows: algorithm 4 (FastAnchorWords) of Arora et al. (2013).

    Each vertex is the row farthest from the span of the vertices before it; then each vertex in turn is replaced by the
    row farthest from the span of all other vertices.

    rows (float, (n, d)): Points, among them the vertices of their convex hull, which should be linearly independent.
    k (int): Number of vertices to find.
    RETURNS (int64, (at most k,)): Indices of the vertices among the rows; fewer than k if the rows span fewer
        dimensions.
    """
    residual = np.array(rows, dtype=np.float64)
    longest = np.linalg.norm(residual, axis=1).max(initial=0.0)
    vertices: list[int] = []
    while len(vertices) < min(k, *rows.shape):
        lengths = np.linalg.norm(residual, axis=1)
        farthest = int(lengths.argmax())
        if lengths[farthest] <= _FLAT * longest:
            break
        vertices.append(farthest)
        residual = _off(residual, residual[[farthest]])
    for i in range(len(vertices) if len(vertices) > 1 else 0):
        others = np.asarray(rows, dtype=np.float64)[vertices[:i] + vertices[i + 1 :]]
        vertices[i] = int(np.linalg.norm(_off(rows, others), axis=1).argmax())
    return np.array(vertices, dtype=np.int64)


def _off(rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the residuals of rows, (n, d), after projection on the span of independent vectors, (k, d)."""
    basis, _ = np.linalg.qr(vectors.T)
    return rows - (rows @ basis) @ basis.T


def simplex_regression(
    targets: np.ndarray, vertices: np.ndarray, *, min_gain: float, max_iterations: int = 500, review: int = 1
) -> np.ndarray:
    """Return the weights gamma >= 0 that sum to one and minimise |gamma V - v|^2, for every target v.

    Each pairwise Frank-Wolfe step moves weight from the worst vertex of a target's mixture to the best vertex, with
    exact line search.

    targets (float, (n, d)): The points v.
    vertices (float, (m, d)): The matrix V.
    min_gain (float): Duality gap at which a target has converged: half its squared distance is then within `min_gain`
        of the minimum.
    max_iterations (int): The maximum number of steps.
    review (int): Converged targets are removed from the iteration only at every `review`-th step.
    RETURNS (float64, (n, m)): The weights gamma of each target.
    """
    centre = vertices.mean(axis=0)
    vertices, targets = vertices - centre, targets - centre
    gram, distances = vertices @ vertices.T, squared_distances(vertices)
    slopes = -(targets @ vertices.T)  # d/d gamma of half the squared distance
    nearest = (gram.diagonal() / 2 + slopes).argmin(axis=1)
    weights = np.zeros_like(slopes)
    weights[np.arange(len(weights)), nearest] = 1.0
    slopes += gram[nearest]
    result, pending = np.empty_like(weights), np.arange(len(weights))
    for step in range(max_iterations):
        if len(pending) == 0:
            break
        gains = _pairwise_step(weights, slopes, gram, distances)
        if step % review == 0:
            is_done = gains <= min_gain
            result[pending[is_done]] = weights[is_done]
            pending, weights, slopes = pending[~is_done], weights[~is_done], slopes[~is_done]
    result[pending] = weights
    return result


def _pairwise_step(weights: np.ndarray, slopes: np.ndarray, gram: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Do one pairwise Frank-Wolfe step for every target, in place; return the duality gaps before it, float64 (n,).

    weights (float64, (n, m)): Weights gamma of each target, updated in place.
    slopes (float64, (n, m)): Gradient of half the squared distance with respect to gamma, updated in place.
    gram, distances (float64, (m, m)): Inner products and squared distances of the vertices.
    """
    every = np.arange(len(weights))
    to, away = slopes.argmin(axis=1), np.where(weights > 0, slopes, -np.inf).argmax(axis=1)
    gains = slopes[every, away] - slopes[every, to]
    length, available = distances[to, away], weights[every, away]
    wanted = np.divide(gains, length, out=np.full_like(gains, np.inf), where=length > 0)
    moved = np.where(gains > 0, np.minimum(available, wanted), 0.0)
    weights[every, away] = available - moved
    weights[every, to] += moved
    slopes += moved[:, None] * (gram[to] - gram[away])
    return gains


def squared_distances(points: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distance between each pair of points, float64 (m, m)."""
    gram = points @ points.T
    squares = gram.diagonal()
    return np.maximum(squares[:, None] + squares - 2 * gram, 0.0)
