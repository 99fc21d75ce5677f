"""The spectral metric (equation 5 of Parikh, Cohen and Xing 2014), computed from kernel-smoothed covariances."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.bracketing.paper.covariances import Covariances


def kernel(distance: np.ndarray, other: np.ndarray, gamma: float) -> np.ndarray:
    """Return the weight of pairs of words at distance d' = `other` in the estimate for the distance d = `distance`.

    This is K of section 4.1 for equal tags: max(0, 1 - kappa / gamma), kappa = |d - d'| / (d + d'). Arrays are
    broadcast. Differs from the paper: the absolute value, which the printed formula lacks; without it every longer
    distance would have full weight.
    """
    return np.maximum(0.0, 1.0 - np.abs(distance - other) / ((distance + other) * gamma))


def smooth(table: Covariances, gamma: float, n_distances: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute kernel-weighted means of the covariances at distances 1 to `n_distances`.

    table (Covariances): Sums at distances 1 to D, for A anchors and vectors of dimension p.
    gamma (float): The bandwidth of `kernel`.
    n_distances (int): The largest distance to compute means for.
    RETURNS (float64 (n_distances, A, A, p, p), float64 (n_distances, A, A)): Means, and weighted numbers of pairs.
    """
    n_collected = len(table.counts)
    weights = kernel(np.arange(1, n_distances + 1)[:, None], np.arange(1, n_collected + 1)[None, :], gamma)
    counts = np.tensordot(weights, table.counts, 1)
    sums = (weights.astype(np.float32) @ table.sums.reshape(n_collected, -1)).astype(np.float64)
    sums = sums.reshape(n_distances, *table.sums.shape[1:])
    return sums / np.maximum(counts, 1e-12)[..., None, None], counts


def log_volume(covariances: np.ndarray, m: int) -> np.ndarray:
    """Return log Lambda_m, the sum of the logarithms of the m largest singular values, float (...).

    covariances (float, (..., p, p)): Covariance matrices; where the rank is smaller than m, the result is -inf.
    m (int): Number of singular values.
    """
    values = np.linalg.svd(covariances, compute_uv=False)[..., :m]
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(values > values[..., :1] * 1e-10, values, 0.0))
    return logs.sum(axis=-1)


def distance_table(table: Covariances, *, m: int, gamma: float, n_distances: int, min_pairs: float = 50) -> np.ndarray:
    """Compute the metric between words from their anchors (groups of tags) and distance, float64 (A, A, n_distances).

    Values are -log Lambda_m of the smoothed covariances. The other two terms of equation 5 depend on one word each, and
    change no tree (see `minimal_tree`).

    table (Covariances): Sums over pairs of words.
    m (int): Number of singular values.
    gamma (float): The bandwidth of `kernel`.
    n_distances (int): The largest distance.
    min_pairs (float): Minimum number of pairs of words (weighted by `kernel`) for a pair of anchors at a distance. With
        fewer, or with a covariance of smaller rank than m, the value of all tags together at this distance is taken. If
        all tags together have fewer than m pairs or a smaller rank there, their value at the next larger distance with
        enough is taken, or else at the largest such distance.
    RAISES (ValueError): If m is not from 1 to the dimension of the vectors, or all tags together have a smaller rank
        than m at every distance.
    """
    if not 0 < m <= table.sums.shape[-1]:
        raise ValueError(f"Expected m from 1 to {table.sums.shape[-1]}, the dimension of the word vectors; got {m}.")
    means, counts = smooth(table, gamma, n_distances)
    volumes = log_volume(means, m)
    totals = counts.sum(axis=(1, 2))
    pooled = np.einsum("dabpq,dab->dpq", means, counts) / np.maximum(totals, 1e-12)[:, None, None]
    overall = log_volume(pooled, m)
    usable = np.flatnonzero(np.isfinite(overall) & (totals >= m))
    if len(usable) == 0:
        raise ValueError(
            f"Expected text with covariances of rank {m}, which take at least {m} pairs of words at one distance; got "
            f"{int(table.counts.sum())} pairs of words in all. Give more text, or a smaller `m`."
        )
    overall = overall[usable[np.clip(np.searchsorted(usable, np.arange(n_distances)), 0, len(usable) - 1)]]
    is_reliable = np.isfinite(volumes) & (counts >= min_pairs)
    volumes = np.where(is_reliable, volumes, overall[:, None, None])
    return np.ascontiguousarray(-np.moveaxis(volumes, 0, -1))
