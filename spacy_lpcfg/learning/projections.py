"""Step 1 of spectral learning: singular vectors of inside-outside matrices (section 2.2.1 of Cohen et al. 2013).

Notation: for a symbol a with n nodes, Phi (n, d) and Psi (n, d') hold the scaled inside and outside features;
Omega = Phi' Psi / n = U Sigma V'. A node's projections are Y = U' phi and Z = Sigma^-1 V' psi, so that E[Y Z'] = I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.assembly import Treebank
from spacy_lpcfg.learning.features import (
    INSIDE,
    OUTSIDE,
    PAPER_INSIDE,
    PAPER_LEAF,
    PAPER_OUTSIDE,
    Context,
    FeatureTable,
    feature_table,
)
from spacy_lpcfg.learning.moments import Projections, groups_of
from spacy_lpcfg.parallel import in_order

_LEAST_SINGULAR = 1e-4  # share of the largest singular value under which a direction is noise


@dataclass(frozen=True)
class Projector:
    """How the nodes of every symbol are projected.

    n_states (int): the most dimensions of a symbol's projections.
    tokens_per_state (float): a symbol seen n times gets at most n / tokens_per_state.
    kappa (float or None): of the features' scaling (section 3.1); None for no scaling.
    seed (int): of the randomised singular value decompositions, and of the noise.
    inside, outside, leaf (tuple[str, ...]): feature templates, as of `Spectral`.
    dropout, noise (float): of each symbol's features, as of `noisy`.

    RAISES (ValueError): For settings that cannot be.
    """

    n_states: int
    tokens_per_state: float
    kappa: float | None
    seed: int
    inside: tuple[str, ...] = PAPER_INSIDE
    outside: tuple[str, ...] = PAPER_OUTSIDE
    leaf: tuple[str, ...] = PAPER_LEAF
    dropout: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_states(self.n_states, self.tokens_per_state)
        check_noise(self.dropout, self.noise)
        for name in ("inside", "outside", "leaf"):
            if not getattr(self, name):
                raise ValueError(f"Expected at least one feature template in {name!r}, got none.")

    def project(self, treebank: Treebank, n_jobs: int | None = None) -> Projections:
        """Step 1 for every symbol."""
        nodes = treebank.nodes
        context = Context(nodes, treebank.terminal)
        inner = feature_table(context, INSIDE, self.inside)
        leaf = feature_table(context, INSIDE, self.leaf)
        outside = feature_table(context, OUTSIDE, self.outside)
        groups = groups_of(nodes.symbol, len(nodes.symbols))
        calls = (
            ((leaf if symbol < len(nodes.preterminals) else inner).rows(group), outside.rows(group), symbol)
            for symbol, group in enumerate(groups)
        )
        found = list(in_order(self.project_symbol, calls, n_jobs=n_jobs))
        projections = Projections(
            inside=np.zeros((nodes.n_nodes, self.n_states)),
            outside=np.zeros((nodes.n_nodes, self.n_states)),
            n_states=np.array([len(sigma) for _, _, sigma in found], dtype=np.int32),
            singular_values=np.zeros((len(groups), self.n_states)),
        )
        for symbol, (group, (y, z, sigma)) in enumerate(zip(groups, found)):
            projections.inside[group, : len(sigma)] = y
            projections.outside[group, : len(sigma)] = z
            projections.singular_values[symbol, : len(sigma)] = sigma
        return projections

    def project_symbol(
        self, inside: FeatureTable, outside: FeatureTable, symbol: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Projections of the nodes of one symbol, whose number makes its noise its own; as of `project`."""
        rng = np.random.default_rng((self.seed, symbol))
        phi, psi = (noisy(scaled(table, self.kappa), self.dropout, self.noise, rng) for table in (inside, outside))
        n_states = min(self.n_states, max(1, int(len(inside.keys) / self.tokens_per_state)))
        return project(phi, psi, n_states, self.seed)


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


def noisy(features: csr_array, dropout: float, noise: float, rng: np.random.Generator) -> csr_array:
    """Features with noise, for diverse grammars of several seeds (Narayan and Cohen 2015, section 3).

    Differs from the paper: a feature has one random factor at all nodes, which does not average out over them.

    features (csr_array, (n, d)): changed in place.
    dropout (float): share of the features that is left out.
    noise (float): standard deviation of the normal factors of the others, of which 1 is the mean.
    """
    factors = (rng.random(features.shape[1]) >= dropout) * (1 + noise * rng.standard_normal(features.shape[1]))
    features.data *= factors[features.indices]
    return features


def check_states(n_states: int, tokens_per_state: float) -> None:
    """RAISES (ValueError): For settings of the numbers of states that cannot be."""
    if n_states < 1 or tokens_per_state <= 0:
        raise ValueError(
            f"Expected n_states of at least 1 and tokens_per_state above 0, got {n_states} and {tokens_per_state}."
        )


def check_noise(dropout: float, noise: float) -> None:
    """RAISES (ValueError): For settings of `noisy` that cannot be."""
    if not 0 <= dropout < 1:
        raise ValueError(f"Expected a dropout of at least 0 and below 1, got {dropout}.")
    if noise < 0:
        raise ValueError(f"Expected a noise of at least 0, got {noise}.")


def project(
    inside: csr_array, outside: csr_array, n_states: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Projections Y and Z of one symbol's nodes, each float64 (n, m) with m <= n_states, and Sigma, float64 (m,).

    inside (csr_array, (n, d)), outside (csr_array, (n, d')): scaled features.
    n_states (int): the most states; fewer where Omega has a smaller rank.
    """
    u, sigma, v = singular_vectors(inside, outside, n_states, seed)
    return inside @ u, (outside @ v) / sigma, sigma


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
