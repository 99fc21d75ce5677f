"""Vertices of a convex hull among its points, and points as mixtures of the vertices.

Steps 3 and 4 of section 5.2 of Cohen and Collins (2014): FastAnchorWords (Arora et al. 2013) and regression on the
simplex.
"""

from __future__ import annotations

import numpy as np

_NEGLIGIBLE = 1e-14  # squared distance from the span of the anchors, relative to the largest
_REVIEW = 16  # steps after which regressions that have ended are taken out


def fast_anchor_words(points: np.ndarray, n_anchors: int) -> np.ndarray:
    """Greedily choose points that are as far as possible from the affine span of those chosen before.

    Differs from Arora et al. (2013): the first point is the farthest from the mean, and there is no second pass.

    points (float64, (n, l)): of which some are the vertices of their convex hull.
    n_anchors (int): how many vertices to look for.
    RETURNS (int64, (k,)): rows of `points`, each once; k < n_anchors if no point lies outside the span of fewer.
    """
    rest = points - points.mean(axis=0)
    distances = np.einsum("nl,nl->n", rest, rest)
    least = _NEGLIGIBLE * distances.max(initial=0.0)
    chosen = [int(distances.argmax())]
    rest = rest - rest[chosen[0]]
    distances = np.einsum("nl,nl->n", rest, rest)
    while len(chosen) < n_anchors:
        farthest = int(distances.argmax())
        if distances[farthest] <= least:
            break
        chosen.append(farthest)
        direction = rest[farthest] / np.linalg.norm(rest[farthest])
        rest = rest - np.outer(rest @ direction, direction)
        distances = np.einsum("nl,nl->n", rest, rest)
    return np.array(chosen)


def simplex_regression(
    targets: np.ndarray, anchors: np.ndarray, *, tolerance: float = 1e-10, most_steps: int = 100_000
) -> np.ndarray:
    """The mixture of anchors that is nearest to each target, in squared distance.

    By pairwise steps of Frank and Wolfe (Lacoste-Julien and Jaggi 2015), for all targets at once: each moves weight
    from the worst anchor that a target has to the best one, as far as helps. They converge linearly, where the plain
    steps of the paper's references need as many as the inverse of the error.

    targets (float64, (n, l)); anchors (float64, (m, l)).
    tolerance (float): the greatest gain a unit of moved weight may still have, relative to the mean squared
        distance of two anchors.
    most_steps (int): bound on the steps, for anchors that nearly coincide.
    RETURNS (float64, (n, m)): rows are not negative and sum to one.
    """
    centre = anchors.mean(axis=0)
    anchors, targets = anchors - centre, targets - centre
    gram = anchors @ anchors.T
    squares = gram.diagonal()
    curvature = squares[:, None] + squares[None, :] - 2 * gram
    least_gain = tolerance * curvature.mean()
    slopes = -(targets @ anchors.T)  # half the gradient of the squared distance
    nearest = (squares / 2 + slopes).argmin(axis=1)
    weights = np.zeros_like(slopes)
    weights[np.arange(len(weights)), nearest] = 1.0
    slopes += gram[nearest]
    result = np.empty_like(weights)
    active = np.arange(len(weights))
    for step in range(most_steps):
        if len(active) == 0:
            break
        gain = _pairwise_step(weights, slopes, gram, curvature)
        if step % _REVIEW == 0:
            ended = gain <= least_gain
            result[active[ended]] = weights[ended]
            active, weights, slopes = active[~ended], weights[~ended], slopes[~ended]
    result[active] = weights
    return result


def _pairwise_step(weights: np.ndarray, slopes: np.ndarray, gram: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Move weight once in every row, in place; what a unit of weight gained before the move, float64 (n,)."""
    rows = np.arange(len(weights))
    best = slopes.argmin(axis=1)
    worst = np.where(weights > 0, slopes, -np.inf).argmax(axis=1)
    gain = slopes[rows, worst] - slopes[rows, best]
    available = weights[rows, worst]
    bend = curvature[best, worst]
    wanted = np.divide(gain, bend, out=np.full_like(gain, np.inf), where=bend > 0)
    moved = np.where(gain > 0, np.minimum(available, wanted), 0.0)
    weights[rows, worst] = available - moved
    weights[rows, best] += moved
    slopes += moved[:, None] * (gram[best] - gram[worst])
    return gain
