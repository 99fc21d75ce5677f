"""Skeletal trees as arrays: the form of a treebank from which grammars are learned.

Every tree is normalised, its unary chains are collapsed and it is binarised. All trees make one table with a row for
every node: tree after tree, and children before their parents. The learners' statistics are then array operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.trees.heads import head_rules
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries, normalize, strip_root
from spacy_lpcfg.trees.tree import Tree

NONE = -1


@dataclass(frozen=True, eq=False)
class Skeletons:
    """The skeletal trees of a treebank, or of a shard of it; n nodes, children before parents.

    preterminals, interminals (tuple[str, ...]): Names of the symbols; ids count the preterminals first.
    words (tuple[str, ...]): The distinct words.
    symbol (int32, (n,)): The symbol of each node.
    left, right, parent (int32, (n,)): The left child, right child and parent of each node; -1 for none.
    word (int32, (n,)): Id of a leaf's word; -1 for inner nodes.
    head (int32, (n,)): The leaf that is each node's lexical head.
    start, end (int32, (n,)): Each node covers the words [start, end) of its sentence.
    length (int32, (n,)): Number of words of each node's sentence.
    root_labels (Counter of str): Number of trees with each label of an artificial root, such as "TOP"; "" for none.
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
    root_labels: Counter[str]

    @property
    def n_nodes(self) -> int:
        return len(self.symbol)

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.preterminals + self.interminals

    @property
    def root_label(self) -> str:
        """The most frequent label of the artificial roots, the first one on ties; "" without trees."""
        return max(self.root_labels, key=self.root_labels.__getitem__, default="")

    @cached_property
    def roots(self) -> np.ndarray:
        """The root node of each tree, int64 (n_trees,)."""
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
        """Return the symbol of the leaf at a position in each node's sentence, -1 beyond its ends, int32 (n,).

        position (int, (n,)): A position among the words of each node's sentence.
        """
        beyond = (position < 0) | (position >= self.length)
        leaf = self.leaves[np.where(beyond, 0, self.first_word + position)]
        return np.where(beyond, NONE, self.symbol[leaf])

    @cached_property
    def inner(self) -> np.ndarray:
        """The nodes with two children, in ascending order, int64 (n_inner,)."""
        return np.flatnonzero(self.left != NONE)

    def between(self, first: int, end: int) -> Skeletons:
        """Return trees `first` to `end - 1`, with nodes renumbered from 0, and the same ids of symbols and words."""
        rows = slice(*(int(self.roots[:n_roots].max(initial=NONE)) + 1 for n_roots in (first, end)))
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns | {name: _shifted(columns[name], -rows.start) for name in _NODES})


class Reading(NamedTuple):
    """Settings of how trees become skeletal trees.

    lang (str): Language, table or file of the head rules, see `head_rules`.
    markov (int): Markov order of the binarization: number of siblings that an "@" symbol records.
    functions (bool): Whether labels keep their function labels (SBJ in NP-SBJ).
    """

    lang: str = "en"
    markov: int = 0
    functions: bool = False


AS_ENGLISH = Reading()


class _Builder:
    """Incremental builder of a `Skeletons` table; symbols and words get ids in order of appearance."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        rules = head_rules(reading.lang)
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
        """Add the rows of a tree, unless it consists of empty elements only."""
        label, _ = strip_root(tree)
        normal = normalize(tree, functions=self.reading.functions)
        if normal is None:
            return
        self.root_labels[label] += 1
        self.position = 0
        first = len(self.rows)
        binarize(collapse_unaries(normal), markov=self.reading.markov).fold(self._row)
        self.lengths += [self.position] * (len(self.rows) - first)

    def _row(self, node: Tree, children: list[tuple[int, str]]) -> tuple[int, str]:
        """Add the row of a node, after the rows of its children.

        children (list of (int, str)): The results of this method for the children.
        RETURNS (tuple[int, str]): Index of the row, and the label that head rules see: the node's own label, or for "@"
            the label of the head child.
        """
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
        """Return the table of all rows."""
        table = np.array(self.rows, dtype=np.int32).reshape(-1, 7).T
        is_leaf = np.array(self.is_leaf, dtype=bool)
        parent = np.full(table.shape[1], NONE, dtype=np.int32)
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
            word=table[3],
            head=table[4],
            start=table[5],
            end=table[6],
            length=np.array(self.lengths, dtype=np.int32),
            root_labels=self.root_labels,
        )


def skeletons(trees: Iterable[Tree], reading: Reading = AS_ENGLISH) -> Skeletons:
    """Return the skeletal trees of a treebank.

    trees (Iterable[Tree]): Raw or normalised; trees of nothing but empty elements are left out.
    reading (Reading): Head rules, Markov order and function labels.
    """
    builder = _Builder(reading)
    for tree in trees:
        builder.add(tree)
    return builder.build()


def join(shards: Sequence[Skeletons]) -> Skeletons:
    """Join tables into one, with symbols and words sorted by name: the result is the same for any division into shards.

    shards (sequence of Skeletons): The tables, in the order of their trees; [] gives a table without nodes.
    RAISES (ValueError): If there are more than 2^31 - 1 nodes (some 60 million trees).
    """
    preterminals = tuple(sorted({name for shard in shards for name in shard.preterminals}))
    interminals = tuple(sorted({name for shard in shards for name in shard.interminals}))
    words = tuple(sorted({word for shard in shards for word in shard.words}))
    n_nodes = sum(shard.n_nodes for shard in shards)
    if n_nodes > np.iinfo(np.int32).max:
        raise ValueError(f"Expected a treebank of at most 2^31 nodes, got {n_nodes}: learn from a part of it.")
    columns = {name: np.empty(n_nodes, dtype=np.int32) for name in _COLUMNS}
    ids_of = [{name: i for i, name in enumerate(names)} for names in (preterminals, interminals, words)]
    start = 0
    for shard in shards:
        names = (shard.preterminals, shard.interminals, shard.words)
        pre, inter, own_words = (_ids(some, ids) for some, ids in zip(names, ids_of, strict=True))
        symbols = np.concatenate([pre, inter + len(preterminals)])
        ids = {"symbol": symbols, "word": np.append(own_words, np.int32(NONE))}
        for name, column in columns.items():
            values = getattr(shard, name)
            values = ids[name][values] if name in ids else _shifted(values, start) if name in _NODES else values
            column[start : start + shard.n_nodes] = values
        start += shard.n_nodes
    return Skeletons(
        preterminals=preterminals,
        interminals=interminals,
        words=words,
        root_labels=sum((shard.root_labels for shard in shards), Counter()),
        **columns,
    )


_NODES = ("left", "right", "parent", "head")
_COLUMNS = ("symbol", "word", "start", "end", "length", *_NODES)


def _shifted(nodes: np.ndarray, by: int | np.ndarray) -> np.ndarray:
    """Add an offset to node numbers, except for -1."""
    return np.where(nodes == NONE, np.int32(NONE), nodes + np.asarray(by, dtype=np.int32))


def _ids(names: Sequence[str], ids: Mapping[str, int]) -> np.ndarray:
    return np.array([ids[name] for name in names], dtype=np.int32)
