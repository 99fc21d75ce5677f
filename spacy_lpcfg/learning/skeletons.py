"""Skeletal trees as arrays: the form in which a treebank is learned from.

Every tree is normalised, its unary chains are collapsed and it is binarised; what is left is one table with a row
for every node, children before parents, tree after tree. All statistics of the learners are then array operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from spacy_lpcfg.trees.heads import head_rules
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries, normalize, strip_root
from spacy_lpcfg.trees.tree import Tree

NONE = -1


@dataclass(frozen=True, eq=False)
class Skeletons:
    """The skeletal trees of a treebank, or of a shard of it; n nodes, children before parents.

    preterminals, interminals (tuple[str, ...]): names of the symbols; ids count the preterminals first.
    words (tuple[str, ...]): the distinct words.
    symbol (int32, (n,)): the symbol of each node.
    left, right, parent (int64, (n,)): nodes; -1 for none.
    word (int32, (n,)): id of a leaf's word; -1 for inner nodes.
    head (int64, (n,)): the node of the lexical head.
    start, end (int32, (n,)): the words that the node spans.
    length (int32, (n,)): words of the node's sentence.
    root_label (str): the commonest label over whole trees; "" for none.
    """

    preterminals: tuple[str, ...]
    interminals: tuple[str, ...]
    words: tuple[str, ...]
    symbol: np.ndarray
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray
    word: np.ndarray
    head: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: np.ndarray
    root_label: str

    @property
    def n_nodes(self) -> int:
        return len(self.symbol)

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.preterminals + self.interminals

    @cached_property
    def roots(self) -> np.ndarray:
        """Root nodes, one a tree."""
        return np.flatnonzero(self.parent == NONE)

    @cached_property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.left == NONE)

    @cached_property
    def first_word(self) -> np.ndarray:
        """Index in `leaves` of the first word of each node's sentence, int64 (n,)."""
        lengths = self.length[self.roots]
        tree = np.searchsorted(self.roots, np.arange(self.n_nodes))
        return (np.cumsum(lengths) - lengths)[tree]

    def leaf_symbol_at(self, position: np.ndarray) -> np.ndarray:
        """Symbol of the leaf at a position of each node's sentence, -1 beyond its ends, int32 (n,)."""
        beyond = (position < 0) | (position >= self.length)
        leaf = self.leaves[np.where(beyond, 0, self.first_word + position)]
        return np.where(beyond, NONE, self.symbol[leaf])

    @cached_property
    def inner(self) -> np.ndarray:
        """Nodes with two children."""
        return np.flatnonzero(self.left != NONE)

    def first(self, n_trees: int) -> Skeletons:
        """The first trees, with the symbols and words of all."""
        end = self.roots[:n_trees].max(initial=NONE) + 1
        return replace(self, **{name: getattr(self, name)[:end] for name in _COLUMNS})


class _Builder:
    """Rows of the table as they grow; symbols and words get ids as they come."""

    def __init__(self, lang: str, markov: int) -> None:
        self.markov = markov
        rules = head_rules(lang)
        self.head_side = lru_cache(maxsize=None)(lambda label, *children: rules.head(label, children))
        self.preterminals: dict[str, int] = {}
        self.interminals: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.rows: list[tuple[int, ...]] = []
        self.is_leaf: list[bool] = []
        self.lengths: list[int] = []
        self.root_labels: Counter[str] = Counter()
        self.position = 0

    def add(self, tree: Tree) -> None:
        """Add the rows of a tree, unless nothing of it is left when it is normalised."""
        label, _ = strip_root(tree)
        normal = normalize(tree)
        if normal is None:
            return
        self.root_labels[label] += 1
        self.position = 0
        first = len(self.rows)
        binarize(collapse_unaries(normal), markov=self.markov).fold(self._row)
        self.lengths += [self.position] * (len(self.rows) - first)

    def _row(self, node: Tree, children: list[tuple[int, str]]) -> tuple[int, str]:
        """Add a node; what its parent needs of it: its row, and the label that stands for it among head candidates."""
        row = len(self.rows)
        if node.word is not None:
            symbol = self.preterminals.setdefault(node.label, len(self.preterminals))
            word = self.words.setdefault(node.word, len(self.words))
            self.rows.append((symbol, NONE, NONE, word, row, self.position, self.position + 1))
            self.position += 1
            self.is_leaf.append(True)
            return row, node.label
        (left, left_label), (right, right_label) = children
        symbol = self.interminals.setdefault(node.label, len(self.interminals))
        side = self.head_side(node.label, left_label, right_label)
        head_child = self.rows[(left, right)[side]]
        self.rows.append((symbol, left, right, NONE, head_child[4], self.rows[left][5], self.rows[right][6]))
        self.is_leaf.append(False)
        return row, (left_label, right_label)[side] if node.label.startswith("@") else node.label

    def build(self) -> Skeletons:
        """The table of all rows."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, 7).T
        is_leaf = np.array(self.is_leaf, dtype=bool)
        parent = np.full(table.shape[1], NONE, dtype=np.int64)
        for child in table[1:3]:
            parent[child[~is_leaf]] = np.flatnonzero(~is_leaf)
        return Skeletons(
            preterminals=tuple(self.preterminals),
            interminals=tuple(self.interminals),
            words=tuple(self.words),
            symbol=(table[0] + np.where(is_leaf, 0, len(self.preterminals))).astype(np.int32),
            left=table[1],
            right=table[2],
            parent=parent,
            word=table[3].astype(np.int32),
            head=table[4],
            start=table[5].astype(np.int32),
            end=table[6].astype(np.int32),
            length=np.array(self.lengths, dtype=np.int32),
            root_label=max(self.root_labels, key=lambda label: self.root_labels[label], default=""),
        )


def skeletons(trees: Iterable[Tree], *, lang: str = "en", markov: int = 0) -> Skeletons:
    """The skeletal trees of a treebank.

    trees (Iterable[Tree]): raw or normalised; trees of nothing but empty elements are left out.
    lang (str): language, for the head rules.
    markov (int): siblings that an "@" symbol remembers.
    """
    builder = _Builder(lang, markov)
    for tree in trees:
        builder.add(tree)
    return builder.build()


def join(shards: Sequence[Skeletons]) -> Skeletons:
    """One table of several, with symbols and words sorted by name, so that it does not depend on how trees were cut."""
    preterminals = tuple(sorted({name for shard in shards for name in shard.preterminals}))
    interminals = tuple(sorted({name for shard in shards for name in shard.interminals}))
    words = tuple(sorted({word for shard in shards for word in shard.words}))
    moved, start = [_Builder("en", 0).build()], 0  # an empty table first, for the types of the columns
    for shard in shards:
        symbol_ids = [
            *_ids(shard.preterminals, preterminals),
            *(_ids(shard.interminals, interminals) + len(preterminals)),
        ]
        word_ids = [*_ids(shard.words, words), NONE]
        moved.append(_moved(shard, start, np.array(symbol_ids, np.int32), np.array(word_ids, np.int32)))
        start += shard.n_nodes
    roots: Counter[str] = Counter()
    for shard in shards:
        roots[shard.root_label] += len(shard.roots)
    return Skeletons(
        preterminals=preterminals,
        interminals=interminals,
        words=words,
        root_label=max(sorted(roots), key=lambda label: roots[label], default=""),
        **{name: np.concatenate([getattr(shard, name) for shard in moved]) for name in _COLUMNS},
    )


_COLUMNS = ("symbol", "word", "start", "end", "length", "left", "right", "parent", "head")


def _moved(shard: Skeletons, start: int, symbol_ids: np.ndarray, word_ids: np.ndarray) -> Skeletons:
    """A shard whose nodes begin at `start`, with the ids of other symbols and words."""

    def nodes(ids: np.ndarray) -> np.ndarray:
        return np.where(ids == NONE, NONE, ids + start)

    return replace(
        shard,
        symbol=symbol_ids[shard.symbol],
        word=word_ids[shard.word],
        left=nodes(shard.left),
        right=nodes(shard.right),
        parent=nodes(shard.parent),
        head=nodes(shard.head),
    )


def _ids(names: Sequence[str], among: Sequence[str]) -> np.ndarray:
    """Place of each name in a sorted sequence that holds them all, int32."""
    index = {name: i for i, name in enumerate(among)}
    return np.array([index[name] for name in names], dtype=np.int32)
