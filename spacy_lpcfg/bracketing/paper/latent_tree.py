"""Minimal projective latent tree over the words of a sentence (sections 3.1 and 3.3 of Parikh, Cohen and Xing 2014).

The minimal tree has the smallest sum of edge lengths among the projective binary trees with a given top split (the
position at which the whole sentence is divided). The length of an edge is estimated from distances between words:

- of an inner edge, by the mean of equation 3 over one word from each of the four subtrees that meet at it;
- of an edge above a word, by the mean of equation 4 over the word and one word from each of the two other subtrees.

O(n^4) time, O(n^3) memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal


class LatentTree(NamedTuple):
    """A rooted latent tree, given as its spans and edge lengths.

    cost (float): Total length of the edges.
    spans (int32, (n_spans, 2)): Half-open spans of two or more words in pre-order, without the whole sentence.
    edges (float64, (n_spans,)): Length of the edge above each span; the two halves of the sentence share one edge.
    """

    cost: float
    spans: np.ndarray
    edges: np.ndarray


def minimal_tree(distances: np.ndarray, split: int) -> LatentTree:
    """Compute the minimal latent tree of a sentence.

    distances (float64, (n, n)): Symmetric distances between two or more words, which may be negative. Distances d(i, j)
        + f(i) + f(j), with any f, give the same tree as d(i, j).
    split (int): The top split is before the word at this position, 0 < split < n.
    RAISES (ValueError): If the distances are not square or not finite, or the split is out of range.
    """
    n = len(distances)
    if distances.shape != (n, n) or not np.all(np.isfinite(distances)) or not 0 < split < n:
        raise ValueError(
            f"Expected a square matrix of finite distances and a top split within it, got a matrix of shape "
            f"{distances.shape} and the split {split}: back off where a covariance has too small a rank."
        )
    sums = np.zeros((n + 1, n + 1))  # of all rectangles that begin at (0, 0)
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    return LatentTree(*minimal(sums, split))
