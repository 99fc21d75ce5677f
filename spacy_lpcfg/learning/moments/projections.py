"""Projections of nodes by singular vectors of inside-outside matrices: step 1 of spectral learning.

Section 2.2.1 of Cohen et al. (2013). For a symbol a with n nodes, Phi (n, d) and Psi (n, d') hold the scaled inside and
outside features; Omega = Phi' Psi / n = U Sigma V'. A node's projections are Y = U' phi and Z = Sigma^-1 V' psi, so
that E[Y Z'] = I. Omega is summed over shards before it is scaled (`cooccurrence.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from spacy_lpcfg.checks import at_least, make_tuples
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.cooccurrence import Cooccurrence, Templates, node_values, pairwise_sum
from spacy_lpcfg.learning.treebank.features import PAPER_INSIDE, PAPER_LEAF, PAPER_OUTSIDE, FeatureTable, NodeContext
from spacy_lpcfg.learning.treebank.skeletons import Skeletons
from spacy_lpcfg.parallel import in_order

_MIN_SINGULAR = 1e-4  # share of the largest singular value under which a direction is noise


@dataclass(frozen=True)
class Features:
    """Names of the feature templates that are projected, and the scaling of the features.

    inside (sequence of str): Templates of `features.INSIDE` for nodes with children.
    outside (sequence of str): Templates of `features.OUTSIDE` for all nodes.
    leaf (sequence of str): Templates of `features.INSIDE` for leaves.
    kappa (float or None): A feature is scaled by sqrt(n / (count + kappa)) (section 3.1 of Cohen et al. 2013); None for
        no scaling.
    RAISES (ValueError): If kappa is below 0, or there are no templates for one of the three kinds.
    """

    inside: Sequence[str] = PAPER_INSIDE
    outside: Sequence[str] = PAPER_OUTSIDE
    leaf: Sequence[str] = PAPER_LEAF
    kappa: float | None = 5.0

    def __post_init__(self) -> None:
        make_tuples(self, "inside", "outside", "leaf")
        if self.kappa is not None:
            at_least(0)(kappa=self.kappa)
        for name in ("inside", "outside", "leaf"):
            if not getattr(self, name):
                raise ValueError(f"Expected at least one feature template in {name!r}, got none.")

    @property
    def templates(self) -> Templates:
        """The feature templates, as an argument of `Cooccurrence.of`."""
        return Templates(tuple(self.inside), tuple(self.outside), tuple(self.leaf))


def project_bases(
    treebank: IndexedTreebank, features: Features, most: np.ndarray, seed: int, n_jobs: int | None = None
) -> "Bases":
    """Compute the bases that project the nodes of every symbol, by singular value decompositions.

    treebank (IndexedTreebank): The treebank.
    features (Features): The features to project.
    most (int32, (n_symbols,)): The maximum number of dimensions of each symbol's projections.
    seed (int): Seed of the randomised singular value decompositions.
    n_jobs (int or None): Parallel jobs, as in joblib; None for the number of `joblib.parallel_config`, or 1.
    """
    counts, templates = treebank.counts.symbols, features.templates
    calls = ((part.nodes, part.terminal, templates) for part in treebank.parts())
    sums = pairwise_sum(in_order(_cooccurrence, calls, n_jobs=n_jobs), add)
    blocks = _blocks(sums, counts, features.kappa)
    omegas = (
        (block.omega(sums.products) / n, m, seed) for block, n, m in zip(blocks, counts, most.tolist(), strict=True)
    )
    decompositions = list(in_order(singular_vectors, omegas, n_jobs=n_jobs))
    width = int(most.max())
    bases = Bases(
        templates=templates,
        inside_names=sums.inside.names,
        outside_names=sums.outside.names,
        inside=np.zeros((len(sums.inside.names), width)),
        outside=np.zeros((len(sums.outside.names), width)),
        n_states=np.array([len(sigma) for _, sigma, _ in decompositions], dtype=np.int32),
        singular_values=np.zeros((len(counts), width)),
    )
    for symbol, (block, (u, sigma, v)) in enumerate(zip(blocks, decompositions, strict=True)):
        bases.inside[block.inside, : len(sigma)] = block.inside_scales[:, None] * u
        bases.outside[block.outside, : len(sigma)] = block.outside_scales[:, None] * v / sigma
        bases.singular_values[symbol, : len(sigma)] = sigma
    return bases


def _cooccurrence(nodes: Skeletons, terminal: np.ndarray, templates: Templates) -> Cooccurrence:
    return Cooccurrence.of(NodeContext(nodes, terminal), templates)


class _Block(NamedTuple):
    """The block of one symbol in the co-occurrence matrix.

    inside (int64, (d,)), outside (int64, (d',)): Rows and columns of the matrix: the symbol's features.
    inside_scales (float64, (d,)), outside_scales (float64, (d',)): Scales of these features.
    """

    inside: np.ndarray
    outside: np.ndarray
    inside_scales: np.ndarray
    outside_scales: np.ndarray

    def omega(self, products: csr_array) -> csr_array:
        """Return Phi' Psi of the symbol, (d, d'), given the products of all unscaled features."""
        block = products[self.inside][:, self.outside]
        return csr_array(diags_array(self.inside_scales) @ block @ diags_array(self.outside_scales))


def _blocks(sums: Cooccurrence, counts: np.ndarray, kappa: float | None) -> list[_Block]:
    """Return the block of each symbol in the co-occurrence matrix.

    sums (Cooccurrence): Products of all features, summed over the treebank.
    counts (float64, (n_symbols,)): Number of nodes of each symbol.
    kappa (float or None): Pseudo-count of the scaling, see `Features`.
    """
    sides = sums.inside, sums.outside
    rows = zip(*(side.by_symbol(len(counts)) for side in sides), strict=True)
    return [
        _Block(*ids, *(scales(side.squares[of_side], n, kappa) for side, of_side in zip(sides, ids, strict=True)))
        for ids, n in zip(rows, counts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Bases:
    """The bases that project the nodes of all symbols; rows are padded with zeros to m.

    templates (Templates): Templates of the features.
    inside_names (uint64, (d,)), outside_names (uint64, (d',)): Ids of the features, sorted.
    inside (float64, (d, m)): U of every symbol, with each row multiplied by the scale of its feature.
    outside (float64, (d', m)): V Sigma^-1 of every symbol, with each row multiplied by the scale of its feature.
    n_states (int32, (n_symbols,)): States of each symbol.
    singular_values (float64, (n_symbols, m)): The singular values of each symbol's Omega, in descending order.
    """

    templates: Templates
    inside_names: np.ndarray
    outside_names: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    n_states: np.ndarray
    singular_values: np.ndarray

    def project(self, nodes: Skeletons, terminal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the projections Y and Z of the nodes of a treebank part, each float64 (n_nodes, m).

        nodes (Skeletons): The nodes.
        terminal (int32, (n_nodes,)): The terminal of each leaf.
        """
        phi, psi = node_values(NodeContext(nodes, terminal), self.templates)
        y = phi.matrix(self.inside_names, nodes.n_nodes) @ self.inside
        return y, psi.matrix(self.outside_names, nodes.n_nodes) @ self.outside


def scaled(table: FeatureTable, kappa: float | None) -> csr_array:
    """Return the features of one symbol's nodes as a matrix, each feature scaled by sqrt(n / (count + kappa)).

    table (FeatureTable): The features of the n nodes.
    kappa (float or None): Pseudo-count; None leaves the features unscaled. The count of a numeric feature is its sum of
        squares, so that all features get a similar variance.
    RETURNS (csr_array, (n, d)): A column for each distinct key and each numeric template, float64.
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
    matrix.data *= scales(squares, n, kappa)[matrix.indices]
    return matrix


def scales(squares: np.ndarray, n: float, kappa: float | None) -> np.ndarray:
    """Return the scale sqrt(n / (count + kappa)) of each feature, float64 (d,); ones if kappa is None.

    squares (float64, (d,)): Sum of each feature's squared values over n nodes, which is its count.
    n (float): Number of nodes.
    kappa (float or None): Pseudo-count.
    """
    if kappa is None:
        return np.ones_like(squares)
    counts = np.where(squares + kappa > 0, squares + kappa, 1.0)  # a number may be zero at all nodes, and kappa too
    return np.sqrt(n / counts)


def singular_vectors(omega: csr_array, n_states: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the truncated SVD of a symbol's inside-outside matrix Omega: U (d, m), Sigma (m,) and V (d', m).

    omega (csr_array, (d, d')): Omega, the mean product of inside and outside features over the symbol's nodes.
    n_states (int): The maximum number m of singular values. Values of at most 1e-4 of the largest are left out,
        but one is always kept; it is 1 if Omega is zero.
    seed (int): Seed of the randomised SVD, which large matrices get.
    """
    if min(omega.shape) <= 2 * n_states + 10:
        u, sigma, vt = np.linalg.svd(omega.toarray(), full_matrices=False)
        flip = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
        u, vt = u * flip, vt * flip[:, None]
    else:
        from sklearn.utils.extmath import randomized_svd  # slow to import, and needed for learning alone

        u, sigma, vt = randomized_svd(omega, n_states, random_state=seed)
    rank = max(1, int(np.sum(sigma[:n_states] > _MIN_SINGULAR * sigma[0])))
    sigma = np.where(sigma > 0, sigma, 1.0)[:rank]  # Omega is zero where the features of one side are
    return u[:, :rank], sigma, vt[:rank].T
