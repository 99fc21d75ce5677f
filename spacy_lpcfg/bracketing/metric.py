"""The spectral metric (equation 5 of Parikh, Cohen and Xing 2014), computed from kernel-smoothed covariances."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.bracketing.covariances import Covariances


class TooLittleText(ValueError):
    """Raised if there are fewer pairs of words than singular values."""


def kernel(distance: np.ndarray, other: np.ndarray, gamma: float) -> np.ndarray:
    """Return the kernel K of section 4.1 at equal tags: max(0, 1 - kappa / gamma), kappa = |d - d'| / (d + d').

    Differs from the paper: the absolute value, which the printed formula lacks; without it every longer distance would
    have full weight.
    """
    return np.maximum(0.0, 1.0 - np.abs(distance - other) / ((distance + other) * gamma))


def smooth(table: Covariances, gamma: float, n_distances: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute kernel-weighted means of the covariances at distances 1 to `n_distances`.

    RETURNS (tuple): Means, float64 (n_distances, A, A, p, p), and effective counts, float64 (n_distances, A, A).
    """
    n_collected = len(table.counts)
    weights = kernel(np.arange(1, n_distances + 1)[:, None], np.arange(1, n_collected + 1)[None, :], gamma)
    counts = np.tensordot(weights, table.counts, 1)
    sums = (weights.astype(np.float32) @ table.sums.reshape(n_collected, -1)).astype(np.float64)
    sums = sums.reshape(n_distances, *table.sums.shape[1:])
    return sums / np.maximum(counts, 1e-12)[..., None, None], counts


def log_volume(covariances: np.ndarray, m: int) -> np.ndarray:
    """Return log Lambda_m, the sum of the logarithms of the m largest singular values; -inf if the rank is less than m.

    covariances (float, (..., p, p)): Covariance matrices.
    """
    values = np.linalg.svd(covariances, compute_uv=False)[..., :m]
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(values > values[..., :1] * 1e-10, values, 0.0))
    return logs.sum(axis=-1)


def spectral_distances(covariances: np.ndarray, m: int) -> np.ndarray:
    """Compute the distances of equation 5 for one tag sequence, float64 (n, n) with a zero diagonal.

    covariances (float, (n, n, p, p)): Uncentred covariances of all pairs of positions.
    m (int): Number of singular values.
    RAISES (TooLittleText): If a covariance has a smaller rank than m.
    """
    volumes = log_volume(covariances, m)
    if not np.all(np.isfinite(volumes)):
        raise TooLittleText(f"Expected covariances of rank {m} or more: that many sentences are needed at least.")
    diagonal = np.diag(volumes)
    return 0.5 * (diagonal[:, None] + diagonal[None, :]) - volumes


def distance_table(table: Covariances, *, m: int, gamma: float, n_distances: int, min_pairs: float = 50) -> np.ndarray:
    """Compute -log Lambda_m of the smoothed covariances, float64 (A, A, n_distances): distances up to terms of one
    leaf.

    min_pairs (float): A cell of fewer pairs, or of a smaller rank than m, backs off to all tags at its distance.
    RAISES (TooLittleText): If all pairs together have a smaller rank than m.
        (ValueError): If m is not from 1 to the dimension of the vectors.
    """
    if not 0 < m <= table.sums.shape[-1]:
        raise ValueError(f"Expected 1 to {table.sums.shape[-1]} singular values, as vectors have numbers; got m = {m}.")
    means, counts = smooth(table, gamma, n_distances)
    volumes = log_volume(means, m)
    totals = counts.sum(axis=(1, 2))
    pooled = np.einsum("dabpq,dab->dpq", means, counts) / np.maximum(totals, 1e-12)[:, None, None]
    overall = log_volume(pooled, m)
    usable = np.flatnonzero(np.isfinite(overall) & (totals >= m))
    if len(usable) == 0:
        raise TooLittleText(
            f"Expected text in which the words at one distance give {m} singular values, so at least {m} pairs of "
            f"different words; got {int(table.counts.sum())} pairs of words. Give more text, or a smaller `m`."
        )
    overall = overall[usable[np.clip(np.searchsorted(usable, np.arange(n_distances)), 0, len(usable) - 1)]]
    is_own = np.isfinite(volumes) & (counts >= min_pairs)
    volumes = np.where(is_own, volumes, overall[:, None, None])
    return np.ascontiguousarray(-np.moveaxis(volumes, 0, -1))
