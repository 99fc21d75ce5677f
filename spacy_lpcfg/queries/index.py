"""Trees as flat arrays, which patterns are looked up in: all nodes of all trees in pre-order, words included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from spacy_lpcfg.queries.pattern import ROOT, LabelTest, TreePattern
from spacy_lpcfg.queries.reading import CLOSE, FIRST, OPEN, Strings, codes_of_file, codes_of_trees
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees import ENGLISH, HeadRules, Tree, TreebankError
from spacy_lpcfg.trees.files import files_of

NONE = -1
_FEW = 16  # a label is looked up if one node in so many has it
Scores = tuple[Sequence[float] | None, Sequence[float] | None]


class TreeIndex:
    """Trees that many patterns are asked of.

    codes (iterable of int32 arrays): Brackets, labels and words of whole trees, as `reading` has them.
    strings (Strings): The labels and words of the codes.
    rules (HeadRules): Of the language of the trees.
    scores (iterable of Scores): For each tree posterior probabilities of its brackets and of its tags, each in their
        order or None; none if none are known.

    Words are nodes as in Tregex, below their tags. A node is a number, from 0; its `label` one of `strings`. `end` is
    the node after the last below it, `start` and `stop` its words, which count on from tree to tree, with one left out
    between them. `parent`, `left` and `right` sister are NONE where there is none. All are int32 (n_nodes,).
    """

    def __init__(
        self,
        codes: Iterable[np.ndarray],
        strings: Strings,
        rules: HeadRules = ENGLISH,
        scores: Iterable[Scores] = (),
    ) -> None:
        self.rules = rules
        self._table = strings
        parts = list(_flat_parts(codes)) or [_flat(np.zeros(0, np.int32), 0, 0)]
        self.label, self.parent, self.end, self.start, self.stop = (
            np.concatenate([part[i] for part in parts]) for i in range(5)
        )
        self.roots = np.append(np.flatnonzero(self.parent == NONE), len(self.parent))
        self.right = self._right_sisters()
        self.scores = self._flat_scores(scores)
        self._heads: np.ndarray | None = None
        self._head_of: dict[tuple[int, ...], int] = {}
        self._found: dict[LabelTest, np.ndarray] = {}

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], rules: HeadRules = ENGLISH, scores: Iterable[Scores] = ()) -> TreeIndex:
        """Trees as they stand, artificial roots, function labels and empty elements included; settings as above."""
        strings = Strings()
        return cls(codes_of_trees(trees, strings), strings, rules, scores)

    @classmethod
    def read(
        cls,
        paths: PathLike | Iterable[PathLike],
        rules: HeadRules = ENGLISH,
        *,
        on_error: Callable[[TreebankError], None] | None = None,
    ) -> TreeIndex:
        """The trees of bracketed files, folders of them, or patterns; faster than `from_trees`.

        RAISES (TreebankError): As of `read_trees`. (FileNotFoundError): As of `TreeFiles.of`.
        """
        strings = Strings()
        files = (codes_of_file(path, strings, on_error) for path in files_of(paths))
        return cls(chain.from_iterable(files), strings, rules)

    # Asking

    def search(self, pattern: str | TreePattern) -> Iterator[TreeMatch]:
        """The matches of a pattern, in the order of the trees and of their nodes.

        A match is a node and the nodes that the pattern names. There is one match for each choice of these, however
        many ways there are to choose the others.

        pattern (str or TreePattern): Such as NP < (PP <# of).
        RAISES (PatternError): For a text that is no pattern.
        """
        from spacy_lpcfg.queries.matching import matches

        for number, names in matches(self, _compiled(pattern)):
            yield TreeMatch(TreeNode(self, number), {name: TreeNode(self, i) for name, i in names.items()})

    def nodes(self, pattern: str | TreePattern) -> np.ndarray:
        """The nodes that a pattern matches, in pre-order, whatever it names: much faster than `search`.

        RAISES (PatternError): For a text that is no pattern.
        RETURNS (array of int64): Numbers of nodes; `TreeNode(index, number)` tells more of one.
        """
        from spacy_lpcfg.queries.matching import matching_nodes

        return matching_nodes(self, _compiled(pattern))

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.roots) - 1

    # Nodes and labels

    @cached_property
    def strings(self) -> list[str]:
        """The labels and words, by their codes."""
        return list(self._table)

    @cached_property
    def left(self) -> np.ndarray:
        """The left sister of each node."""
        left = np.full(len(self.right), NONE, np.int32)
        has_right = np.flatnonzero(self.right != NONE)
        left[self.right[has_right]] = has_right
        return left

    @cached_property
    def last(self) -> np.ndarray:
        """The last child of each node."""
        last = np.full(len(self.right), NONE, np.int32)
        are_last = np.flatnonzero((self.right == NONE) & (self.parent != NONE))
        last[self.parent[are_last]] = are_last
        return last

    @cached_property
    def first_at(self) -> np.ndarray:
        """For each word the first node that begins with it or with a word after it."""
        n_words = int(self.stop[self.roots[:-1]].max(initial=0))
        return np.searchsorted(self.start, np.arange(n_words + 2, dtype=np.int32))

    @cached_property
    def n_of_label(self) -> np.ndarray:
        """How many nodes have each of the strings."""
        return np.bincount(self.label, minlength=len(self.strings))

    def string(self, node: int) -> str:
        """The label or word of a node."""
        return self.strings[self.label[node]]

    def tree_of(self, ids: np.ndarray) -> np.ndarray:
        """The tree that each node is of."""
        return np.searchsorted(self.roots, ids, side="right") - 1

    def labels_of(self, test: LabelTest) -> np.ndarray:
        """Which of the strings a test is of: bool (n_strings,)."""
        if test not in self._found:
            holds = test.holds
            self._found[test] = np.fromiter(map(holds, self.strings), bool, len(self.strings))
        return self._found[test]

    def count(self, test: LabelTest) -> int:
        """How many nodes a test holds of; of roots, that are all it could hold of."""
        return int(self.n_of_label[self.labels_of(test)].sum()) if test.text != ROOT else len(self)

    def where(self, test: LabelTest, ids: np.ndarray | None = None) -> np.ndarray:
        """Those of some nodes, or of all, that a test holds of."""
        if test.text == ROOT:
            ids = np.arange(len(self.label)) if ids is None else ids
            return ids[(self.parent[ids] == NONE) != test.is_negated]
        is_wanted = self.labels_of(test)
        if ids is not None:
            return ids[is_wanted[self.label[ids]]]
        if self.count(test) * _FEW > len(self.label):
            return np.flatnonzero(is_wanted[self.label])
        order, ends = self._by_label
        found = [order[ends[i] - self.n_of_label[i] : ends[i]] for i in np.flatnonzero(is_wanted)]
        return np.sort(np.concatenate([*found, order[:0]]))

    @cached_property
    def _by_label(self) -> tuple[np.ndarray, np.ndarray]:
        """The nodes by their labels, and where those of each end."""
        small = self.label.astype(np.uint16) if len(self.strings) < 2**16 else self.label
        return np.argsort(small, kind="stable"), np.cumsum(self.n_of_label)

    # Heads

    def heads(self, ids: np.ndarray) -> np.ndarray:
        """The head child of each node; NONE of words."""
        if self._heads is None:
            self._heads = np.where(self.last == np.arange(1, len(self.last) + 1), self.last, NONE - 1)
            self._heads[self.last == NONE] = NONE
        for i in ids[self._heads[ids] == NONE - 1].tolist():
            self._heads[i] = self._head(i)
        return self._heads[ids]

    def _head(self, node: int) -> int:
        children = list(self.children(node))
        labels = (int(self.label[node]), *self.label[children].tolist())
        if labels not in self._head_of:
            label, *below = (self.strings[i] for i in labels)
            self._head_of[labels] = self.rules.head(label, below)
        return children[self._head_of[labels]]

    def children(self, node: int) -> Iterator[int]:
        """The children of a node, from left to right."""
        child, end = node + 1, int(self.end[node])
        while child < end:
            yield child
            child = int(self.end[child])

    # Making

    def _right_sisters(self) -> np.ndarray:
        after = np.minimum(self.end, max(len(self.end) - 1, 0))
        is_sister = (self.end < len(self.end)) & (self.parent[after] == self.parent) & (self.parent != NONE)
        return np.where(is_sister, self.end, NONE).astype(np.int32)

    def _flat_scores(self, scores: Iterable[Scores]) -> np.ndarray | None:
        """Posterior probabilities of nodes, nan where nothing is known; None if there are none."""
        flat = None
        for tree, (brackets, tags) in enumerate(scores):
            if flat is None:
                flat = np.full(len(self.label), np.nan)
            ids = np.arange(self.roots[tree], self.roots[tree + 1])
            n_below = self.end[ids] - ids
            is_tag = (n_below == 2) & (self.end[np.minimum(ids + 1, len(self.end) - 1)] == ids + 2)
            if brackets is not None:
                flat[ids[(n_below > 1) & ~is_tag]] = brackets
            if tags is not None:
                flat[ids[is_tag]] = tags
        return flat


def _compiled(pattern: str | TreePattern) -> TreePattern:
    return TreePattern(pattern) if isinstance(pattern, str) else pattern


# What is found -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree in an index.

    index (TreeIndex): Where it stands.
    number (int): The node's, in pre-order of all trees.
    """

    index: TreeIndex
    number: int

    @property
    def label(self) -> str:
        """The label, the tag, or the word."""
        return self.index.strings[self.index.label[self.number]]

    @property
    def tree_number(self) -> int:
        """The tree that it is of, from 0."""
        return int(self.index.tree_of(np.array(self.number)))

    @property
    def start(self) -> int:
        """The first word of the tree that is below it."""
        return int(self.index.start[self.number] - self.index.start[self.root.number])

    @property
    def end(self) -> int:
        """The word of the tree after the last below it."""
        return int(self.index.stop[self.number] - self.index.start[self.root.number])

    @property
    def root(self) -> TreeNode:
        """The root of its tree."""
        return TreeNode(self.index, int(self.index.roots[self.tree_number]))

    @property
    def is_word(self) -> bool:
        return int(self.index.end[self.number]) == self.number + 1

    @property
    def words(self) -> list[str]:
        """The words below it, or the word that it is."""
        ids = np.arange(self.number, self.index.end[self.number])
        return [self.index.strings[i] for i in self.index.label[ids[self.index.end[ids] == ids + 1]].tolist()]

    @property
    def probability(self) -> float | None:
        """The posterior probability of its bracket or tag; None where nothing is known."""
        scores = self.index.scores
        return None if scores is None or np.isnan(scores[self.number]) else float(scores[self.number])

    @property
    def tree(self) -> Tree:
        """The subtree; of a word, with its tag."""
        index = self.index
        number = int(index.parent[self.number]) if self.is_word else self.number
        below: dict[int, list[Tree]] = {}
        for i in range(int(index.end[number]) - 1, number - 1, -1):
            label, children = index.strings[index.label[i]], below.pop(i, [])[::-1]
            if i == index.end[i] - 1:
                continue
            is_tag = not children
            tree = Tree(label, word=index.strings[index.label[i + 1]]) if is_tag else Tree(label, children)
            below.setdefault(int(index.parent[i]), []).append(tree)
        return tree

    def __repr__(self) -> str:
        return f"TreeNode({self.label!r}, {' '.join(self.words)!r})"


@dataclass(frozen=True)
class TreeMatch:
    """A node that a pattern matches.

    node (TreeNode): The node.
    names (dict of str to TreeNode): The nodes that the pattern names; not those of a part that is optional, or of an
        alternative, and did not match.
    """

    node: TreeNode
    names: dict[str, TreeNode]

    @property
    def probability(self) -> float | None:
        """The least posterior probability of the node and of the named ones; None where nothing is known."""
        known = [node.probability for node in (self.node, *self.names.values())]
        return min((each for each in known if each is not None), default=None)


# Codes to arrays ---------------------------------------------------------------------------------


def _flat_parts(codes: Iterable[np.ndarray]) -> Iterator[tuple[np.ndarray, ...]]:
    n_nodes = n_words = 0
    for part in codes:
        flat = _flat(part, n_nodes, n_words)
        yield flat
        n_nodes += len(flat[0])
        n_words = int(flat[4].max(initial=n_words - 1)) + 1


def _flat(codes: np.ndarray, n_nodes: int, n_words: int) -> tuple[np.ndarray, ...]:
    """Label, parent, end, start and stop of each node of some whole trees.

    n_nodes, n_words (int): How many there are before.
    """
    is_open, is_close = codes == OPEN, codes == CLOSE
    is_word = ~is_open & ~is_close & ~np.append(False, is_open)[:-1]
    depth = np.cumsum(is_open, dtype=np.int32) - np.cumsum(is_close, dtype=np.int32)
    is_root = is_open & (depth == 1)
    position = np.cumsum(is_word | is_root, dtype=np.int32) - 1  # one is left out before each tree
    places = np.flatnonzero(~np.append(False, is_open)[:-1])  # of nodes and closing brackets
    is_node = ~is_close[places]
    level = depth[places] + ~is_open[places]
    parent, closing = _parents_and_ends(level, is_node, is_open[places])
    end = np.cumsum(is_node)[closing]
    opening, last = places[is_node], places[closing]
    words = is_word[opening]
    label = codes[opening + ~words] - FIRST
    parent = np.where(parent == NONE, NONE, parent + n_nodes)
    start, stop = position[opening] - words + n_words, position[last] + n_words
    return tuple(each.astype(np.int32) for each in (label, parent, end + n_nodes, start, stop))


def _parents_and_ends(level: np.ndarray, is_node: np.ndarray, is_open: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each node its parent, and where it ends: at a closing bracket, or at the word itself.

    level (int32 array (n,)): Of nodes and closing brackets in their order, from 1; a bracket that closes has the level
        of the one that it closes, so that it comes right after it within the level, and sisters come side by side.
    is_node, is_open (bool arrays (n,)): Which of them are nodes, and which of these are no words.
    """
    small = level.astype(np.uint16) if level.max(initial=0) < 2**16 else level
    order = np.argsort(small, kind="stable")
    places = np.flatnonzero(is_node[order])
    own = order[places]
    number = (np.cumsum(is_node) - 1)[own]
    before = level[is_node][number - 1]
    is_first = (level[own] == 1) | (before == level[own] - 1)
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(own)), 0))
    parent, closing = np.empty(len(own), np.int32), np.empty(len(own), np.int64)
    parent[number] = np.where(level[own] == 1, NONE, number[first] - 1)
    closing[number] = np.where(is_open[own], order[np.minimum(places + 1, len(order) - 1)], own)
    return parent, closing
