"""Step 1 of spectral learning: singular vectors of inside-outside matrices (section 2.2.1 of Cohen et al. 2013).

Notation: for a symbol a with n nodes, Phi (n, d) and Psi (n, d') hold the scaled inside and outside features;
Omega = Phi' Psi / n = U Sigma V'. A node's projections are Y = U' phi and Z = Sigma^-1 V' psi, so that E[Y Z'] = I.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.features import FeatureTable

_LEAST_SINGULAR = 1e-4  # share of the largest singular value under which a direction is noise


def scaled(table: FeatureTable, kappa: float | None) -> csr_array:
    """Sparse features of one symbol's nodes, each scaled by sqrt(n / (count + kappa)).

    kappa (float or None): None leaves the features unscaled. A number's "count" is its sum of squares, so that all
        features get a like variance.
    RETURNS (csr_array): float64 (n, d).
    """
    n, n_keys = table.keys.shape
    names, columns = np.unique(table.keys, return_inverse=True)
    columns = columns.reshape(n, n_keys)
    n_values = table.values.shape[1]
    indices = np.concatenate([columns, len(names) + np.tile(np.arange(n_values), (n, 1))], axis=1)
    data = np.concatenate([np.ones((n, n_keys)), table.values.astype(np.float64)], axis=1)
    width = n_keys + n_values
    matrix = csr_array(
        (data.ravel(), indices.ravel(), np.arange(0, n * width + 1, width)),
        shape=(n, len(names) + n_values),
    )
    if kappa is None:
        return matrix
    squares = np.bincount(indices.ravel(), weights=data.ravel() ** 2, minlength=matrix.shape[1])
    counts = np.where(squares + kappa > 0, squares + kappa, 1.0)  # of numbers that are all zero, with kappa = 0
    matrix.data *= np.sqrt(n / counts)[matrix.indices]
    return matrix


def project(inside: csr_array, outside: csr_array, n_states: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Projections Y and Z of one symbol's nodes, each float64 (n, m) with m <= n_states.

    inside (csr_array, (n, d)), outside (csr_array, (n, d')): scaled features.
    n_states (int): the most states; fewer where Omega has a smaller rank.
    """
    u, sigma, v = singular_vectors(inside, outside, n_states, seed)
    return inside @ u, (outside @ v) / sigma


def singular_vectors(
    inside: csr_array, outside: csr_array, n_states: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (d, m), Sigma (m,) and V (d', m) of Omega; arguments as of `project`."""
    n = inside.shape[0]
    omega = (inside.T @ outside) / n
    if min(omega.shape) <= 2 * n_states + 10:
        u, sigma, vt = np.linalg.svd(omega.toarray(), full_matrices=False)
        flip = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
        u, vt = u * flip, vt * flip[:, None]
    else:
        from sklearn.utils.extmath import randomized_svd  # slow to import, and needed for learning alone

        u, sigma, vt = randomized_svd(omega, n_states, random_state=seed)
    rank = max(1, int(np.sum(sigma[:n_states] > _LEAST_SINGULAR * sigma[0])))
    sigma = np.where(sigma > 0, sigma, 1.0)[:rank]  # Omega is zero where the features of one side are
    return u[:, :rank], sigma, vt[:rank].T
