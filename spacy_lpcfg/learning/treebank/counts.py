"""Counts of the symbols, roots and rules of skeletal trees, and the treebank PCFG of their relative frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.learning.treebank.skeletons import Skeletons


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of a treebank's symbols, roots and binary rules.

    symbols (float64, (n_symbols,)): Nodes of each symbol.
    roots (float64, (n_symbols,)): Number of trees whose root has each symbol.
    rules (int32, (n_rules, 3)): The symbols a, b, c of each rule a -> b c, sorted.
    rule_counts (float64, (n_rules,)): Occurrences of each rule.
    rule_of (int32, (n_nodes,)): The rule of each inner node, -1 for leaves.
    """

    symbols: np.ndarray
    roots: np.ndarray
    rules: np.ndarray
    rule_counts: np.ndarray
    rule_of: np.ndarray

    @property
    def rule_weights(self) -> np.ndarray:
        """Relative frequency t(a -> b c | a) of each rule, float64 (n_rules,)."""
        return self.rule_counts / self.symbols[self.rules[:, 0]]


def count(nodes: Skeletons) -> Counts:
    """Count the symbols, roots and rules of skeletal trees."""
    n_symbols, inner = len(nodes.symbols), nodes.inner
    key = np.zeros(len(inner), dtype=np.int64)
    for part in (inner, nodes.left[inner], nodes.right[inner]):
        key = key * n_symbols + nodes.symbol[part]
    keys, rule_of, rule_counts = np.unique(key, return_inverse=True, return_counts=True)
    rules = np.stack(np.unravel_index(keys, (n_symbols,) * 3), axis=1)
    of_nodes = np.full(nodes.n_nodes, -1, dtype=np.int32)
    of_nodes[inner] = rule_of
    return Counts(
        symbols=np.bincount(nodes.symbol, minlength=n_symbols).astype(np.float64),
        roots=np.bincount(nodes.symbol[nodes.roots], minlength=n_symbols).astype(np.float64),
        rules=rules.astype(np.int32),
        rule_counts=rule_counts.astype(np.float64),
        rule_of=of_nodes,
    )


def smoothed_roots(counts: Counts, symbols: tuple[str, ...], share: float) -> np.ndarray:
    """Return pi(a), float64 (n_symbols,): root frequencies, interpolated with the frequencies of all constituents.

    counts (Counts): Counts of the treebank.
    symbols (tuple[str, ...], (n_symbols,)): Names of the symbols; symbols that begin with "@" are not constituents.
    share (float): Interpolation weight of the frequencies of constituents.
    """
    allowed = np.array([not name.startswith("@") for name in symbols])
    everywhere = counts.symbols * allowed
    return (1 - share) * counts.roots / counts.roots.sum() + share * everywhere / everywhere.sum()


def boundary_tags(nodes: Skeletons, tag_of: np.ndarray, n_tags: int) -> tuple[np.ndarray, np.ndarray]:
    """Return P(tag before | symbol) and P(tag after | symbol), smoothed by P(tag), each (n_symbols, n_tags + 1).

    The last column is for nodes at the edge of the sentence.

    nodes (Skeletons): The trees.
    tag_of (int, (n_preterminals,)): Tag id of each preterminal.
    n_tags (int): Number of tags.
    """
    tables, tag_of_leaf = [], np.append(tag_of, n_tags)
    for position in (nodes.start - 1, nodes.end):
        counts = np.zeros((len(nodes.symbols), n_tags + 1))
        np.add.at(counts, (nodes.symbol, tag_of_leaf[nodes.leaf_symbol_at(position)]), 1)
        tables.append(_smoothed(counts))
    return tables[0], tables[1]


def _smoothed(counts: np.ndarray) -> np.ndarray:
    """Normalize rows of counts, smoothed by one pseudo-count per row, distributed as the (add-one) column sums."""
    prior = (counts.sum(axis=0) + 1) / (counts.sum() + counts.shape[1])
    return (counts + prior) / (counts.sum(axis=1, keepdims=True) + 1)
