"""Co-occurrence counts of inside and outside features: Omega of section 2.2.1 of Cohen et al. (2013).

Features of all symbols lie side by side, since each symbol has features of its own; so Omega has a block for each. It
is not scaled yet, and so a sum over nodes, and over the parts of a treebank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.treebank.features import INSIDE, OUTSIDE, FeatureTable, NodeContext, feature_table, mix

Sum = TypeVar("Sum")

_OF_SYMBOL = 1 << 32  # mixed with a symbol gives no key, as it is no template's number


class Templates(NamedTuple):
    """Names of feature templates, as in `Spectral`: of nodes with children, of all nodes, and of leaves."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    leaf: tuple[str, ...]


class Values(NamedTuple):
    """The features that nodes have, one after the other.

    nodes (int64, (k,)); values (float64, (k,)).
    keys (uint64, (k,)): Of the features among those of their symbol; names (uint64, (k,)): among all.
    """

    nodes: np.ndarray
    keys: np.ndarray
    names: np.ndarray
    values: np.ndarray

    def matrix(self, names: np.ndarray, n_nodes: int) -> csr_array:
        """Return the features as a matrix (n_nodes, d); `names` are all names, sorted."""
        return csr_array((self.values, (self.nodes, np.searchsorted(names, self.names))), shape=(n_nodes, len(names)))


def node_values(context: NodeContext, templates: Templates) -> tuple[Values, Values]:
    """Compute the inside and the outside features of the nodes of a shard."""
    nodes = context.nodes
    outside = _values(context, feature_table(context, OUTSIDE, templates.outside), np.arange(nodes.n_nodes))
    inside = [
        _values(context, feature_table(context, INSIDE, names), rows)
        for names, rows in ((templates.leaf, nodes.leaves), (templates.inside, nodes.inner))
    ]
    return Values(*map(np.concatenate, zip(*inside, strict=True))), outside


def _values(context: NodeContext, table: FeatureTable, nodes: np.ndarray) -> Values:
    """Return the features of some nodes; the keys of numbers are the largest."""
    table, n_values = table.rows(nodes), table.values.shape[1]
    numbers = np.arange(n_values, dtype=np.uint64) + np.uint64(2**64 - max(n_values, 1))
    keys = np.concatenate([table.keys.T, np.repeat(numbers[:, None], len(nodes), axis=1)]).ravel()
    n_columns = table.keys.shape[1] + n_values
    values = np.concatenate([np.ones(table.keys.size), table.values.T.astype(np.float64).ravel()])
    names = mix(_OF_SYMBOL, np.tile(context.symbol[nodes], n_columns), keys)
    return Values(np.tile(nodes, n_columns), keys, names, values)


class Features(NamedTuple):
    """The features of one side, sorted by name.

    names, keys (uint64, (d,)): See `Values`; symbols (int32, (d,)).
    squares (float64, (d,)): Sums of squared values, which are counts but for numbers.
    """

    names: np.ndarray
    keys: np.ndarray
    symbols: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values: Values, symbol: np.ndarray) -> Features:
        """symbol (int32, (n,)): of the nodes."""
        names, first, of = np.unique(values.names, return_index=True, return_inverse=True)
        return cls(names, values.keys[first], symbol[values.nodes[first]], np.bincount(of, weights=values.values**2))

    def of_symbols(self, n_symbols: int) -> list[np.ndarray]:
        """Return places of the features of each symbol, by their keys."""
        order = np.lexsort([self.keys, self.symbols])
        return np.split(order, np.cumsum(np.bincount(self.symbols, minlength=n_symbols))[:-1])

    def merged(self, other: Features) -> Features:
        names, keys, symbols, squares = (np.concatenate(columns) for columns in zip(self, other, strict=True))
        names, first, of = np.unique(names, return_index=True, return_inverse=True)
        return Features(names, keys[first], symbols[first], np.bincount(of, weights=squares))


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Sums over nodes.

    inside, outside (Features): d and d' of them.
    products (csr_array, (d, d')): Of an inside and an outside feature's values.
    """

    inside: Features
    outside: Features
    products: csr_array

    @classmethod
    def of(cls, context: NodeContext, templates: Templates) -> Cooccurrence:
        """Count the co-occurrences of a shard."""
        of_inside, of_outside = node_values(context, templates)
        symbol, n_nodes = context.nodes.symbol, context.nodes.n_nodes
        inside, outside = Features.of(of_inside, symbol), Features.of(of_outside, symbol)
        phi, psi = of_inside.matrix(inside.names, n_nodes), of_outside.matrix(outside.names, n_nodes)
        return cls(inside, outside, csr_array(phi.T @ psi))

    def __add__(self, other: Cooccurrence) -> Cooccurrence:
        inside, outside = self.inside.merged(other.inside), self.outside.merged(other.outside)
        return Cooccurrence(inside, outside, _placed(self, inside, outside) + _placed(other, inside, outside))


def _placed(part: Cooccurrence, inside: Features, outside: Features) -> csr_array:
    """Return the products of a part in the places of more features."""
    products = part.products.tocoo()
    rows = np.searchsorted(inside.names, part.inside.names)[products.row]
    columns = np.searchsorted(outside.names, part.outside.names)[products.col]
    return csr_array((products.data, (rows, columns)), shape=(len(inside.names), len(outside.names)))


def paired_sum(parts: Iterable[Sum], add: Callable[[Sum, Sum], Sum]) -> Sum:
    """Return the sum of at least one part, two by two in their order, so that what is large is seldom added to."""
    pending: list[Sum] = []
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
