"""Trees as flat arrays: one entry for each node of all trees, in pre-order, words included."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.queries.pattern import ROOT, LabelTest
from spacy_lpcfg.queries.reading import CLOSE, FIRST, OPEN, Strings
from spacy_lpcfg.trees import HeadRules

NONE = -1
_UNKNOWN = -2
_FEW = 16  # labels that at most one node in so many has are looked up in the sorted order


class TreeArrays:
    """The nodes of many trees as flat arrays, with one entry for each node in pre-order.

    Nodes are numbered from 0 through all trees. Words are nodes below their tags, as in Tregex. Words are numbered
    through all trees too, with one number left out before each tree, so that words of two trees are never adjacent.

    codes (iterable of int32 arrays): Codes (integers for parentheses, labels and words) of whole trees, as
        `reading.codes_of_trees` yields them.
    strings (Strings): The code of each label and word.
    rules (HeadRules): Head rules of the treebank's language.

    The attributes are int32 arrays (n_nodes,), except for `roots`:

    - `label`: The index of the label or word in `strings`.
    - `parent`, `left`, `right`: The parent, the left and the right sister; NONE (-1) where there is none.
    - `last`: The last child; NONE for words.
    - `end`: 1 + the number of the last node in the subtree below the node.
    - `start`, `stop`: The words below the node have the numbers [start, stop).
    - `roots`: The root of each tree, followed by the number of nodes, int64 (n_trees + 1,).
    """

    def __init__(self, codes: Iterable[np.ndarray], strings: Strings, rules: HeadRules) -> None:
        self.rules = rules
        self._table = strings
        batches = [_flat(batch) for batch in codes] or [_flat(np.zeros(0, np.int32))]
        n_nodes = np.cumsum([0, *(len(batch[0]) for batch in batches)])
        n_words = np.cumsum([0, *(batch[4].max(initial=-1) + 1 for batch in batches)])
        self.label, self.parent, self.end, self.start, self.stop = (
            np.concatenate([batch[i] + shift for batch, shift in zip(batches, shifts, strict=False)]).astype(np.int32)
            for i, shifts in enumerate([0 * n_nodes, n_nodes, n_nodes, n_words, n_words])
        )
        after = np.minimum(self.end, len(self.end) - 1)
        self.parent[self.parent == np.repeat(n_nodes[:-1], np.diff(n_nodes)) + NONE] = NONE
        is_sister = (self.end < len(self.end)) & (self.parent[after] == self.parent) & (self.parent != NONE)
        self.right = np.where(is_sister, self.end, NONE).astype(np.int32)
        self.roots = np.append(np.flatnonzero(self.parent == NONE), len(self.parent))
        self._head_of: dict[tuple[int, ...], int] = {}
        self._holds_of: dict[LabelTest, np.ndarray] = {}
        self._groups_of: dict[tuple[LabelTest, int], tuple[str, ...]] = {}

    @cached_property
    def left(self) -> np.ndarray:
        """The left sister of each node, int32 (n_nodes,); NONE if there is none."""
        left = np.full(len(self.right), NONE, np.int32)
        has_right = np.flatnonzero(self.right != NONE)
        left[self.right[has_right]] = has_right
        return left

    @cached_property
    def last(self) -> np.ndarray:
        """The last child of each node, int32 (n_nodes,); NONE for words."""
        last = np.full(len(self.right), NONE, np.int32)
        are_last = np.flatnonzero((self.right == NONE) & (self.parent != NONE))
        last[self.parent[are_last]] = are_last
        return last

    @cached_property
    def first_at(self) -> np.ndarray:
        """For each word number, the first node in pre-order that starts there or later, int64 (max(stop) + 2,)."""
        n_words = int(self.stop[self.roots[:-1]].max(initial=0))
        return np.searchsorted(self.start, np.arange(n_words + 2, dtype=np.int32))

    def tree_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the number, from 0, of the tree to which each node belongs, int64 of the shape of `ids`."""
        return np.searchsorted(self.roots, ids, side="right") - 1

    # Labels

    @cached_property
    def strings(self) -> list[str]:
        """The labels and words as a list; `label` holds indices into it."""
        return list(self._table)

    def string(self, node: int) -> str:
        """Return the label or word of a node."""
        return self.strings[self.label[node]]

    @cached_property
    def _n_of_label(self) -> np.ndarray:
        """The number of nodes that have each label or word, int64 (n_strings,)."""
        return np.bincount(self.label, minlength=len(self.strings))

    @cached_property
    def _by_label(self) -> tuple[np.ndarray, np.ndarray]:
        """All nodes sorted by label, int64 (n_nodes,), and the end of each label's run there, int64 (n_strings,)."""
        small = self.label.astype(np.uint16) if len(self.strings) < 2**16 else self.label
        return np.argsort(small, kind="stable"), np.cumsum(self._n_of_label)

    def _labels_of(self, test: LabelTest) -> np.ndarray:
        """Return a mask of the strings that pass a label test, bool (n_strings,)."""
        if test not in self._holds_of:
            self._holds_of[test] = np.fromiter(test.holds(self.strings), bool, len(self.strings))
        return self._holds_of[test]

    def groups(self, test: LabelTest, node: int) -> tuple[str, ...]:
        """Match a test's regular expression in a node's label; return the texts of the match and of its groups.

        RETURNS (tuple of str): The text of the whole match, then of each group ("" for a group without a match); () if
            the expression does not match.
        RAISES (ValueError): If the regular expression takes too long.
        """
        key = test, int(self.label[node])
        if key not in self._groups_of:  # each string is searched once, however many nodes have it
            match = next(test.search([self.string(node)]))
            self._groups_of[key] = (match[0], *match.groups("")) if match else ()
        return self._groups_of[key]

    def count(self, test: LabelTest) -> int:
        """Return the number of nodes that pass a label test; for `_ROOT_`, even if negated, the number of trees."""
        return int(self._n_of_label[self._labels_of(test)].sum()) if test.text != ROOT else len(self.roots) - 1

    def where(self, test: LabelTest, ids: np.ndarray | None = None) -> np.ndarray:
        """Return the nodes that pass a label test, in pre-order, int64 (n,).

        test (LabelTest): The test; `_ROOT_` accepts the roots of trees.
        ids (int64 array or None): The nodes to test, in pre-order; None for all nodes.
        RAISES (ValueError): If a regular expression takes too long.
        """
        if test.text == ROOT:
            ids = np.arange(len(self.label)) if ids is None else ids
            return ids[(self.parent[ids] == NONE) != test.is_negated]
        is_wanted = self._labels_of(test)
        if ids is not None:
            return ids[is_wanted[self.label[ids]]]
        if self.count(test) * _FEW > len(self.label):
            return np.flatnonzero(is_wanted[self.label])
        order, ends = self._by_label
        runs = [order[ends[i] - self._n_of_label[i] : ends[i]] for i in np.flatnonzero(is_wanted)]
        return np.sort(np.concatenate([*runs, order[:0]]))

    # Heads

    @cached_property
    def _heads(self) -> np.ndarray:
        """The head child of each node as far as computed; _UNKNOWN where the head rules have not been applied yet."""
        is_known = (self.last == np.arange(1, len(self.last) + 1)) | (self.last == NONE)
        return np.where(is_known, self.last, _UNKNOWN)

    def heads(self, ids: np.ndarray) -> np.ndarray:
        """Find the head child of each node by the head rules: node numbers in the shape of `ids`, NONE for words."""
        for node in ids[self._heads[ids] == _UNKNOWN].tolist():
            children = [node + 1]
            while (right := int(self.right[children[-1]])) != NONE:
                children.append(right)
            labels = (int(self.label[node]), *self.label[children].tolist())
            if labels not in self._head_of:
                label, *below = (self.strings[i] for i in labels)
                self._head_of[labels] = self.rules.head(label, below)
            self._heads[node] = children[self._head_of[labels]]
        return self._heads[ids]


# Codes to arrays ---------------------------------------------------------------------------------


def _flat(codes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Convert the codes of whole trees to the arrays label, parent, end, start and stop of their nodes."""
    is_open, is_close = codes == OPEN, codes == CLOSE
    is_label = np.append(False, is_open)[:-1]
    is_word = ~is_open & ~is_close & ~is_label
    depth = np.cumsum(is_open, dtype=np.int32) - np.cumsum(is_close, dtype=np.int32)
    position = np.cumsum(is_word | (is_open & (depth == 1)), dtype=np.int32) - 1  # one is left out before each tree
    positions = np.flatnonzero(~is_label)  # of nodes and closing brackets
    is_node = ~is_close[positions]
    parent, closing = _parents_and_ends(depth[positions] + ~is_open[positions], is_node, is_open[positions])
    opening = positions[is_node]
    words = is_word[opening]
    label = codes[opening + ~words] - FIRST
    return label, parent, np.cumsum(is_node)[closing], position[opening] - words, position[positions[closing]]


def _parents_and_ends(level: np.ndarray, is_node: np.ndarray, is_open: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the parent of each node and the position of its end: its closing parenthesis, or itself for a word.

    level (int32 array (n,)): The depth, from 1, of each node and closing parenthesis; a parenthesis has the depth of
        its node. Sorted stably by level, each parenthesis comes right after its node, and sisters follow each other.
    is_node, is_open (bool arrays (n,)): Which entries are nodes, and which are nodes other than words.
    """
    small = level.astype(np.uint16) if level.max(initial=0) < 2**16 else level
    order = np.argsort(small, kind="stable")
    ranks = np.flatnonzero(is_node[order])
    sorted_nodes = order[ranks]
    number = (np.cumsum(is_node) - 1)[sorted_nodes]
    is_first = (level[sorted_nodes] == 1) | (level[is_node][number - 1] == level[sorted_nodes] - 1)
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(sorted_nodes)), 0))
    parent, closing = np.empty(len(sorted_nodes), np.int32), np.empty(len(sorted_nodes), np.int64)
    parent[number] = np.where(level[sorted_nodes] == 1, NONE, number[first] - 1)
    closing[number] = np.where(is_open[sorted_nodes], order[np.minimum(ranks + 1, len(order) - 1)], sorted_nodes)
    return parent, closing
