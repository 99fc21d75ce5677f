"""Co-occurrence matrix of inside and outside features: the unscaled Omega of section 2.2.1 of Cohen et al. (2013).

Each symbol has its own features. One sparse matrix holds the features of all symbols, with a block for each symbol.
Before scaling, the matrix is a sum over nodes, and can be added up over the shards of a treebank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.treebank.features import INSIDE, OUTSIDE, FeatureTable, NodeContext, feature_table, mix

Sum = TypeVar("Sum")

_NAME = 1 << 32  # the first column of names; that of keys is a template's number, which is smaller


class Templates(NamedTuple):
    """Names of the feature templates of nodes.

    inside (tuple of str): Templates of `features.INSIDE` for inner nodes.
    outside (tuple of str): Templates of `features.OUTSIDE` for all nodes.
    leaf (tuple of str): Templates of `features.INSIDE` for leaves.
    """

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    leaf: tuple[str, ...]


class Values(NamedTuple):
    """The features of nodes as the entries of a sparse matrix, one for each node and feature that it has.

    nodes (int64, (k,)): The node of each entry.
    keys (uint64, (k,)): The id of the entry's feature, unique among the features of the node's symbol.
    names (uint64, (k,)): The id of the entry's feature, unique among the features of all symbols.
    values (float64, (k,)): The feature's value: 1, or the number of a numeric template.
    """

    nodes: np.ndarray
    keys: np.ndarray
    names: np.ndarray
    values: np.ndarray

    def matrix(self, names: np.ndarray, n_nodes: int) -> csr_array:
        """Return the entries as a sparse matrix with a column for each feature.

        names (uint64, (d,)): Sorted ids of the features, which include all of `self.names`.
        n_nodes (int): Number of nodes.
        RETURNS (csr_array, (n_nodes, d)): The values of the features, float64.
        """
        return csr_array((self.values, (self.nodes, np.searchsorted(names, self.names))), shape=(n_nodes, len(names)))


def node_values(context: NodeContext, templates: Templates) -> tuple[Values, Values]:
    """Return the inside features and the outside features of all nodes of a shard, as two `Values`."""
    nodes = context.nodes
    outside = _values(context, feature_table(context, OUTSIDE, templates.outside), np.arange(nodes.n_nodes))
    inside = [
        _values(context, feature_table(context, INSIDE, names), rows)
        for names, rows in ((templates.leaf, nodes.leaves), (templates.inside, nodes.inner))
    ]
    return Values(*map(np.concatenate, zip(*inside, strict=True))), outside


def _values(context: NodeContext, table: FeatureTable, nodes: np.ndarray) -> Values:
    """Return the features in the rows `nodes` of a table as sparse entries."""
    table, n_values = table.rows(nodes), table.values.shape[1]
    numeric_keys = np.arange(n_values, dtype=np.uint64) + np.uint64(2**64 - max(n_values, 1))  # the largest keys
    keys = np.concatenate([table.keys.T, np.repeat(numeric_keys[:, None], len(nodes), axis=1)]).ravel()
    n_columns = table.keys.shape[1] + n_values
    values = np.concatenate([np.ones(table.keys.size), table.values.T.astype(np.float64).ravel()])
    names = mix(_NAME, np.tile(context.symbol[nodes], n_columns), keys)
    return Values(np.tile(nodes, n_columns), keys, names, values)


class Features(NamedTuple):
    """The distinct inside features, or the distinct outside features, of a set of nodes, sorted by `names`.

    names, keys (uint64, (d,)): The ids of each feature, see `Values`.
    symbols (int32, (d,)): The symbol of the nodes that have the feature.
    squares (float64, (d,)): The sum of the feature's squared values over nodes: a count, except for numeric templates.
    """

    names: np.ndarray
    keys: np.ndarray
    symbols: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values: Values, symbol: np.ndarray) -> Features:
        """Collect the distinct features of nodes.

        values (Values): The features of the nodes.
        symbol (int32, (n_nodes,)): The symbol of each node.
        """
        names, first, feature = np.unique(values.names, return_index=True, return_inverse=True)
        squares = np.bincount(feature, weights=values.values**2)
        return cls(names, values.keys[first], symbol[values.nodes[first]], squares)

    def by_symbol(self, n_symbols: int) -> list[np.ndarray]:
        """Return, for each symbol, the indices of its features, sorted by key."""
        order = np.lexsort([self.keys, self.symbols])
        return np.split(order, np.cumsum(np.bincount(self.symbols, minlength=n_symbols))[:-1])

    def merged(self, other: Features) -> Features:
        """Return the union of two sets of features; the squares of common features are added."""
        names, keys, symbols, squares = (np.concatenate(columns) for columns in zip(self, other, strict=True))
        names, first, feature = np.unique(names, return_index=True, return_inverse=True)
        return Features(names, keys[first], symbols[first], np.bincount(feature, weights=squares))


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Sums over nodes of the products of inside and outside features.

    inside, outside (Features): The d inside and d' outside features.
    products (csr_array, (d, d')): The sum, over nodes, of the product of each inside and each outside feature.
    """

    inside: Features
    outside: Features
    products: csr_array

    @classmethod
    def of(cls, context: NodeContext, templates: Templates) -> Cooccurrence:
        """Count the co-occurrences of inside and outside features in a shard."""
        of_inside, of_outside = node_values(context, templates)
        symbol, n_nodes = context.nodes.symbol, context.nodes.n_nodes
        inside, outside = Features.of(of_inside, symbol), Features.of(of_outside, symbol)
        phi, psi = of_inside.matrix(inside.names, n_nodes), of_outside.matrix(outside.names, n_nodes)
        return cls(inside, outside, csr_array(phi.T @ psi))

    def __add__(self, other: Cooccurrence) -> Cooccurrence:
        inside, outside = self.inside.merged(other.inside), self.outside.merged(other.outside)
        return Cooccurrence(inside, outside, _expanded(self, inside, outside) + _expanded(other, inside, outside))


def _expanded(part: Cooccurrence, inside: Features, outside: Features) -> csr_array:
    """Return the products of a part for larger sets of features, with zeros for features that the part lacks.

    inside, outside (Features): Supersets of the part's features.
    RETURNS (csr_array, (d, d')): The products.
    """
    products = part.products.tocoo()
    rows = np.searchsorted(inside.names, part.inside.names)[products.row]
    columns = np.searchsorted(outside.names, part.outside.names)[products.col]
    return csr_array((products.data, (rows, columns)), shape=(len(inside.names), len(outside.names)))


def pairwise_sum(parts: Iterable[Sum], add: Callable[[Sum, Sum], Sum]) -> Sum:
    """Return the sum of one or more parts by pairwise summation, which adds sums of similarly many parts.

    parts (iterable): The parts, which are added in order.
    add (callable): Associative addition of two parts; it need not commute.
    """
    pending: list[Sum] = []  # sums of 2^k parts each, the largest first
    for number, part in enumerate(parts, start=1):
        pending.append(part)
        while number % 2 == 0:
            last = pending.pop()
            pending[-1] = add(pending[-1], last)
            number //= 2
    total = pending.pop()
    while pending:
        total = add(pending.pop(), total)
    return total
