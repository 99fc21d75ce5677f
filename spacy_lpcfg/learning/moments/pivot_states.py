"""The latent states of a treebank's nodes, estimated from their pivot features.

This is step 1 of figure 1 of Cohen and Collins (2014). f are the values of the pivot features tau of an inside tree, g
the values of the pivot features rho of an outside tree. The states of a symbol are found in a CCA (canonical
correlation analysis) of many more features of the same nodes (section 6.2).
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
    """Posteriors over the states of n nodes of one symbol, given their inside or their outside pivot features.

    columns (int64, (n, K)): The ids of the K features of each node, as rows of `posteriors`.
    posteriors (float64, (F, m)): p(h | f) for each feature f and state h.
    pi (float64, (m,)): p(h), the share of each state among the symbol's nodes.
    """

    columns: np.ndarray
    posteriors: np.ndarray
    pi: np.ndarray

    @property
    def ratios(self) -> np.ndarray:
        """The ratio p(f | h) / p(f) of each feature and state, float64 (F, m)."""
        return self.posteriors / self.pi

    def rows(self, nodes: np.ndarray) -> Side:
        """Return the posteriors of some of the nodes, with only the features that these nodes have.

        nodes (int, (k,)): Indices of the nodes, rows of `columns`.
        """
        features, columns = np.unique(self.columns[nodes], return_inverse=True)
        return Side(columns.reshape(len(nodes), -1), self.posteriors[features], self.pi)


@dataclass(frozen=True, eq=False)
class States:
    """Posteriors over the latent states of all nodes of a treebank, by symbol.

    sides (list[tuple[Side, Side]]): The inside and the outside `Side` of the nodes of each symbol.
    row (int64, (n_nodes,)): The index of each node among the nodes of its symbol.
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
        """Return the inside `Side` of some nodes of a symbol.

        symbol (int): Id of the symbol.
        nodes (int, (k,)): Ids of the nodes in the treebank.
        """
        return self.sides[symbol][0].rows(self.row[nodes])

    def outside(self, symbol: int, nodes: np.ndarray) -> Side:
        """Return the outside `Side` of some nodes of a symbol; arguments as for `inside`."""
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
    """Find the latent states of one symbol's n nodes; return its inside and outside `Side`, over the same states.

    phi (csr_array, (n, d)), psi (csr_array, (n, d')): Scaled inside and outside features for the CCA.
    tau (uint64, (n, K)), rho (uint64, (n, L)): Keys of the inside and of the outside pivot features.
    n_states (int): The maximum number of states; fewer are found if the inside features span fewer dimensions.
    seed (int): Seed of the singular value decomposition.
    matching, shrink, precision, em: Settings of `PivotFeatures`.
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
    """Return feature keys, (n, K), as an indicator matrix, (n, d), and as indices of its columns, (n, K)."""
    names, columns = np.unique(keys, return_inverse=True)
    columns = columns.reshape(keys.shape)
    n, k = keys.shape
    ones = csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, len(names)))
    return ones, columns
