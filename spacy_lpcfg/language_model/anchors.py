"""Vertices of a convex hull among its points.

Step 3 of section 5.2 of Cohen and Collins (2014): FastAnchorWords (Arora et al. 2013).
"""

from __future__ import annotations

import numpy as np

_NEGLIGIBLE = 1e-14  # squared distance from the span of the anchors, relative to the largest


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
