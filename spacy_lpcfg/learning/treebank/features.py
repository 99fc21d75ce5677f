"""The inside and outside features of section 3.1 of Cohen et al. (2013), as columns of 64-bit keys.

A template is a function from a `NodeContext` to a column with an entry for every node: a key (the value of the node's
feature) or, for counts of words, a number. In the paper every feature includes the symbol of the node; here keys leave
it out, since each symbol has its own features.

Keys are hashes of ids, so that shards that share ids get the same keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.learning.treebank.skeletons import NONE, Skeletons

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def mix(*columns: np.ndarray | int) -> np.ndarray:
    """Hash the rows of several columns of ids, each (n,), to keys, uint64 (n,)."""
    key = np.uint64(0)
    with np.errstate(over="ignore"):
        for column in columns:
            key = (key ^ np.asarray(column).astype(np.uint64)) * _PRIME
            key = key ^ (key >> _SHIFT)
    return np.asarray(key)


class NodeContext:
    """Attributes of the nodes of one shard, from which templates make features; each array is computed when needed.

    skeletons (Skeletons): The shard, with ids of symbols and words that all shards share.
    terminal (int32, (n_nodes,)): The terminal of every leaf; -1 for inner nodes.
    """

    def __init__(self, skeletons: Skeletons, terminal: np.ndarray) -> None:
        self.nodes = skeletons
        self.terminal = terminal

    def of(self, index: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the values of a column at other nodes, such as the parents; 0 where there is no such node.

        index (int32, (n,)): The other node of each node; -1 for none.
        column (array, (n_nodes,)): The column.
        """
        return np.where(index == NONE, np.zeros((), dtype=column.dtype), column[index])

    @cached_property
    def symbol(self) -> np.ndarray:
        return self.nodes.symbol.astype(np.uint64) + np.uint64(1)

    @cached_property
    def left_symbol(self) -> np.ndarray:
        return self.of(self.nodes.left, self.symbol)

    @cached_property
    def right_symbol(self) -> np.ndarray:
        return self.of(self.nodes.right, self.symbol)

    @cached_property
    def rule(self) -> np.ndarray:
        """Key of the rule below each node, a -> b c or (for leaves) a -> x, uint64 (n_nodes,)."""
        return mix(self.symbol, self.left_symbol, self.right_symbol, self.terminal)

    @cached_property
    def left_rule(self) -> np.ndarray:
        return self.of(self.nodes.left, self.rule)

    @cached_property
    def right_rule(self) -> np.ndarray:
        return self.of(self.nodes.right, self.rule)

    @cached_property
    def head_tag(self) -> np.ndarray:
        return self.symbol[self.nodes.head]

    @cached_property
    def parent_symbol(self) -> np.ndarray:
        return self.of(self.nodes.parent, self.symbol)

    @cached_property
    def is_right(self) -> np.ndarray:
        parent = self.nodes.parent
        return (parent != NONE) & (self.nodes.right[parent] == np.arange(self.nodes.n_nodes))

    @cached_property
    def rule_above(self) -> np.ndarray:
        """Key of the rule above each node and of the node's side, left or right, in it, uint64 (n_nodes,); 0 at a root.

        The key has the sibling's symbol, but not its word, since lexical rules belong to inside trees.
        """
        above = mix(
            self.parent_symbol,
            self.of(self.nodes.parent, self.left_symbol),
            self.of(self.nodes.parent, self.right_symbol),
            self.is_right,
        )
        return np.where(self.nodes.parent == NONE, np.uint64(0), above)

    @cached_property
    def two_above(self) -> np.ndarray:
        return mix(self.rule_above, self.of(self.nodes.parent, self.rule_above))

    @cached_property
    def three_above(self) -> np.ndarray:
        return mix(self.rule_above, self.of(self.nodes.parent, self.two_above))

    @cached_property
    def head_above(self) -> np.ndarray:
        """Key of the tag that heads the nearest ancestor with another lexical head, uint64 (n_nodes,); 0 if none has
        one.
        """
        ancestor = self.nodes.parent.copy()
        pending = np.flatnonzero(ancestor != NONE)
        while len(pending):
            pending = pending[self.nodes.head[ancestor[pending]] == self.nodes.head[pending]]
            ancestor[pending] = self.nodes.parent[ancestor[pending]]
            pending = pending[ancestor[pending] != NONE]
        return self.of(ancestor, self.head_tag)

    def leaf_at(self, position: np.ndarray) -> np.ndarray:
        """Return the key of the preterminal at a position of each node's sentence, uint64 (n_nodes,); 0 out of range.

        position (int, (n_nodes,)): Positions of words.
        """
        return (self.nodes.leaf_symbol_at(position) + 1).astype(np.uint64)


Template = Callable[[NodeContext], np.ndarray]

INSIDE: dict[str, Template] = {
    "label": lambda c: np.zeros(c.nodes.n_nodes, dtype=np.uint64),
    "left": lambda c: c.left_symbol,
    "right": lambda c: c.right_symbol,
    "rule": lambda c: c.rule,
    "rule+left_rule": lambda c: mix(c.rule, c.left_rule),
    "rule+right_rule": lambda c: mix(c.rule, c.right_rule),
    "head_tag": lambda c: c.head_tag,
    "n_words": lambda c: (c.nodes.end - c.nodes.start).astype(np.float32),
    "first_tag": lambda c: c.leaf_at(c.nodes.start),
    "last_tag": lambda c: c.leaf_at(c.nodes.end - 1),
    "head_word": lambda c: mix(c.terminal[c.nodes.head]),
}
OUTSIDE: dict[str, Template] = {
    "label": lambda c: np.zeros(c.nodes.n_nodes, dtype=np.uint64),
    "rule_above": lambda c: c.rule_above,
    "two_above": lambda c: c.two_above,
    "three_above": lambda c: c.three_above,
    "parent": lambda c: c.parent_symbol,
    "parent+grandparent": lambda c: mix(c.parent_symbol, c.of(c.nodes.parent, c.parent_symbol)),
    "head_above": lambda c: c.head_above,
    "n_left": lambda c: c.nodes.start.astype(np.float32),
    "n_right": lambda c: (c.nodes.length - c.nodes.end).astype(np.float32),
    "tag_before": lambda c: c.leaf_at(c.nodes.start - 1),
    "tag_after": lambda c: c.leaf_at(c.nodes.end),
}
PAPER_INSIDE = ("left", "right", "rule", "rule+left_rule", "rule+right_rule", "head_tag", "n_words")
PAPER_OUTSIDE = (
    "rule_above",
    "two_above",
    "three_above",
    "parent",
    "parent+grandparent",
    "head_above",
    "n_left",
    "n_right",
)
PAPER_LEAF = ("rule",)
SIMPLE_INSIDE = ("rule",)
SIMPLE_OUTSIDE = ("rule_above",)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of n nodes, with a row for each node.

    keys (uint64, (n, n_keys)): A key for each template that is not numeric.
    values (float32, (n, n_values)): A number for each numeric template.
    """

    keys: np.ndarray
    values: np.ndarray

    @classmethod
    def join(cls, tables: Sequence[FeatureTable]) -> FeatureTable:
        """Concatenate the rows of several tables."""
        return cls(np.concatenate([table.keys for table in tables]), np.concatenate([table.values for table in tables]))

    def rows(self, nodes: np.ndarray) -> FeatureTable:
        return FeatureTable(self.keys[nodes], self.values[nodes])


def feature_table(context: NodeContext, templates: dict[str, Template], names: Sequence[str]) -> FeatureTable:
    """Compute the features of all nodes of a shard.

    context (NodeContext): The shard.
    templates (dict[str, Template]): `INSIDE` or `OUTSIDE`.
    names (sequence of str): Names of the templates to use.
    RAISES (ValueError): If `templates` lacks a name.
    """
    unknown = [name for name in names if name not in templates]
    if unknown:
        raise ValueError(f"Expected features among {sorted(templates)}, got {unknown}.")
    columns = [templates[name](context) for name in names]
    n = context.nodes.n_nodes
    keys = [mix(i, column) for i, column in enumerate(columns) if column.dtype == np.uint64]
    values = [column for column in columns if column.dtype != np.uint64]
    return FeatureTable(
        np.stack(keys, axis=1) if keys else np.empty((n, 0), dtype=np.uint64),
        np.stack(values, axis=1) if values else np.empty((n, 0), dtype=np.float32),
    )
