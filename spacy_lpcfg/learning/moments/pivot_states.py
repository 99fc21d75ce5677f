"""The latent states of a treebank's nodes by their pivot features: step 1 of figure 1 of Cohen and Collins (2014).

Notation: f are the values of an inside tree's pivot features tau, g those of an outside tree's, rho. The states of a
symbol are found in a CCA of many more features of the same nodes (section 6.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.moments.decomposition import AnchorSettings, anchor_states, decompose
from spacy_lpcfg.learning.moments.projections import singular_vectors


class Side(NamedTuple):
    """The states of n nodes of one symbol, by their pivot features of one side, inside or outside.

    columns (int64, (n, K)): The features of each node.
    posteriors (float64, (F, m)): p(h | f).
    pi (float64, (m,)): p(h).
    """

    columns: np.ndarray
    posteriors: np.ndarray
    pi: np.ndarray

    @property
    def ratios(self) -> np.ndarray:
        """p(f | h) / p(f), float64 (F, m)."""
        return self.posteriors / self.pi

    def rows(self, nodes: np.ndarray) -> Side:
        """Select nodes, and the features that they have."""
        features, columns = np.unique(self.columns[nodes], return_inverse=True)
        return Side(columns.reshape(len(nodes), -1), self.posteriors[features], self.pi)


@dataclass(frozen=True, eq=False)
class States:
    """The states of all symbols.

    sides (list[tuple[Side, Side]]): Inside and outside features of the nodes of each symbol.
    row (int64, (n_nodes,)): The row of each node among those of its symbol.
    """

    sides: list[tuple[Side, Side]]
    row: np.ndarray

    @cached_property
    def n_states(self) -> np.ndarray:
        """States of each symbol, int32 (n_symbols,)."""
        return np.array([len(inside.pi) for inside, _ in self.sides], dtype=np.int32)

    @cached_property
    def pi(self) -> np.ndarray:
        """p(h | a), float64 (n_symbols, m), padded with zeros."""
        pi = np.zeros((len(self.sides), self.n_states.max()))
        for row, (inside, _) in zip(pi, self.sides, strict=True):
            row[: len(inside.pi)] = inside.pi
        return pi

    def inside(self, symbol: int, nodes: np.ndarray) -> Side:
        """Return the inside features of nodes that all have the same symbol."""
        return self.sides[symbol][0].rows(self.row[nodes])

    def outside(self, symbol: int, nodes: np.ndarray) -> Side:
        """Return the outside features of nodes that all have the same symbol."""
        return self.sides[symbol][1].rows(self.row[nodes])


def symbol_states(
    phi: csr_array,
    psi: csr_array,
    tau: np.ndarray,
    rho: np.ndarray,
    n_states: int,
    *,
    seed: int,
    matching: str,
    shrink: float,
    precision: float,
    em: ConvexEM,
) -> tuple[Side, Side]:
    """Find the states of one symbol's n nodes; return their inside and outside pivot features, with the same states.

    phi (csr_array, (n, d)), psi (csr_array, (n, d')): Scaled features of the CCA, of inside and outside trees.
    tau (uint64, (n, K)), rho (uint64, (n, L)): Pivot features.
    n_states (int): The maximum number of states; there are fewer where the inside features tell no more apart.
    seed, matching, shrink, precision, em: see `Pivot` and `PivotFeatures`.
    """
    to_f, f = _one_hot(tau)
    to_g, g = _one_hot(rho)
    if n_states == 1:
        return Side(f, np.ones((to_f.shape[1], 1)), np.ones(1)), Side(g, np.ones((to_g.shape[1], 1)), np.ones(1))
    u, _, v = singular_vectors((phi.T @ psi) / len(tau), n_states, seed)
    settings = AnchorSettings(shrink=shrink, tolerance=precision)

    def solve(to_features: csr_array, representation: np.ndarray) -> np.ndarray:
        counts = to_features.sum(axis=0)
        means = (to_features.T @ representation) / counts[:, None]
        return anchor_states(means, counts, n_states, settings).posteriors

    of_f = solve(to_f, psi @ v)
    of_g = solve(to_g, phi @ u) if matching == "transition" else None
    decomposition = decompose(to_f.T @ to_g, of_f, of_g, em)
    joint = decomposition.outside * decomposition.pi
    return Side(f, of_f, decomposition.pi), Side(g, joint / joint.sum(axis=1, keepdims=True), decomposition.pi)


def _one_hot(keys: np.ndarray) -> tuple[csr_array, np.ndarray]:
    """Return K features of n nodes as a matrix of zeros and ones, (n, d), and as indices of its columns, (n, K)."""
    names, columns = np.unique(keys, return_inverse=True)
    columns = columns.reshape(keys.shape)
    n, k = keys.shape
    ones = csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, len(names)))
    return ones, columns
