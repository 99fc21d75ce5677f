"""Counts of the local trees of a treebank: the label of a node with the labels and tags of its children.

Punctuation is left out, and labels have no functions, so that a local tree stands for a rule of the grammar that
annotators had in mind: `NP -> DT NN`, `S -> NP VP`.

The tags of auxiliaries are marked (`VP -> VBD^ VP`), since other verbs do not stand there. Words count as auxiliaries
if they often stand beside a phrase with the label of their parent.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.trees.transforms import basic_category
from spacy_lpcfg.trees.tree import Tree

LocalTree = tuple[str, ...]
"""The label of a node, then the labels of its children; the tag of a child that is a word."""

TaggedWord = tuple[str, str]
"""Tag and word, in lower case."""

LexicalLocalTree = tuple[str | TaggedWord, ...]
"""A local tree with words beside their tags."""

_MARK = "^"  # after the tag of an auxiliary
_LEAST_COUNT, _LEAST_SHARE = 20, 0.15  # how often a word occurs, and stands beside a phrase with its parent's label


@dataclass(frozen=True, eq=False)
class LocalTrees:
    """The local trees of a treebank with their counts.

    symbols (tuple of str): Labels and tags, with "^" after the tags of auxiliaries, (n_symbols,).
    offsets (int32, (n_local_trees + 1,)): Where each local tree begins in `rules`.
    rules (int32, (offsets[-1],)): Ids of the parent and of its children, one local tree after the other.
    counts (int32, (n_local_trees,)): How often the treebank has each, at least once.
    punctuation (tuple of str): Tags of punctuation, which is left out.
    auxiliaries (tuple of str): The tagged words whose tags are marked, such as "VBD had".
    """

    symbols: tuple[str, ...]
    offsets: np.ndarray
    rules: np.ndarray
    counts: np.ndarray
    punctuation: tuple[str, ...]
    auxiliaries: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, counts: Mapping[LocalTree, int], punctuation: Iterable[str], auxiliaries: Iterable[TaggedWord] = ()
    ) -> LocalTrees:
        """Encode counts of local trees with marked tags, the most frequent first."""
        order = sorted(counts, key=lambda rule: (-counts[rule], rule))
        symbols = tuple(sorted({symbol for rule in order for symbol in rule}))
        ids = {symbol: i for i, symbol in enumerate(symbols)}
        return cls(
            symbols,
            np.cumsum([0, *map(len, order)], dtype=np.int32),
            np.array([ids[symbol] for rule in order for symbol in rule], dtype=np.int32),
            np.array([counts[rule] for rule in order], dtype=np.int32),
            tuple(sorted(punctuation)),
            tuple(sorted(map(" ".join, auxiliaries))),
        )

    @classmethod
    def of_trees(cls, trees: Iterable[Tree]) -> LocalTrees:
        """Count the local trees of normalised trees, without the tags that `punctuation_tags` finds in them."""
        trees = list(trees)
        words = Counter((leaf.label, leaf.word or "") for tree in trees for leaf in tree.leaves())
        punctuation = punctuation_tags(words)
        return cls.of_lexical(
            lambda: (rule for tree in trees for rule in lexical_local_trees(tree, punctuation)), punctuation
        )

    @classmethod
    def of_lexical(cls, rules: Callable[[], Iterable[LexicalLocalTree]], punctuation: Iterable[str]) -> LocalTrees:
        """Count local trees that `rules` yields; it is called twice, first to find auxiliaries."""
        auxiliaries = _auxiliaries(rules())
        counts = Counter(
            tuple(child if isinstance(child, str) else child[0] + _MARK * (child in auxiliaries) for child in rule)
            for rule in rules()
        )
        return cls.of(counts, punctuation, auxiliaries)

    def __bool__(self) -> bool:
        return len(self.counts) > 0

    @cached_property
    def as_dict(self) -> dict[LocalTree, int]:
        """The count of each local tree, without the marks of auxiliaries."""
        bounds = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        marked = {f"{text.partition(' ')[0]}{_MARK}" for text in self.auxiliaries}
        plain = [symbol.removesuffix(_MARK) if symbol in marked else symbol for symbol in self.symbols]
        names = [plain[i] for i in self.rules.tolist()]
        counts: Counter[LocalTree] = Counter()
        for (start, end), n in zip(bounds, self.counts.tolist(), strict=True):
            counts[tuple(names[start:end])] += n
        return dict(counts)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each symbol."""
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def id_of_word(self, tag: str, word: str) -> int | None:
        """Return the id of the symbol of a tagged word; None if the treebank has no such symbol."""
        return self.ids.get(tag + _MARK if f"{tag} {word.lower()}" in self._auxiliaries else tag)

    @cached_property
    def _auxiliaries(self) -> frozenset[str]:
        return frozenset(self.auxiliaries)

    def unseen(self, tree: Tree) -> list[LocalTree]:
        """Return the local trees of a tree that the treebank does not have, in pre-order."""
        return [rule for rule in local_trees(tree, self.punctuation) if rule not in self.as_dict]


NO_LOCAL_TREES = LocalTrees.of({}, ())


def local_trees(tree: Tree, punctuation: Collection[str]) -> Iterator[LocalTree]:
    """Yield the local trees of a normalised tree in pre-order; a node above nothing but punctuation has none."""
    for rule in lexical_local_trees(tree, punctuation):
        yield tuple(child if isinstance(child, str) else child[0] for child in rule)


def lexical_local_trees(tree: Tree, punctuation: Collection[str]) -> Iterator[LexicalLocalTree]:
    """Yield the local trees of a normalised tree, as `local_trees`, with words beside their tags."""
    for node in tree.nodes():
        children = [
            (child.label, (child.word or "").lower()) if child.is_leaf else basic_category(child.label)
            for child in node.children
            if not (child.is_leaf and child.label in punctuation)
        ]
        if children:
            yield basic_category(node.label), *children


def _auxiliaries(rules: Iterable[LexicalLocalTree]) -> frozenset[TaggedWord]:
    """Return the words that often stand beside a phrase with the label of their parent."""
    counts: Counter[TaggedWord] = Counter()
    beside: Counter[TaggedWord] = Counter()
    for label, *children in rules:
        is_beside = label in children
        for child in children:
            if not isinstance(child, str):
                counts[child] += 1
                beside[child] += is_beside
    return frozenset(word for word, n in counts.items() if n >= _LEAST_COUNT and beside[word] >= _LEAST_SHARE * n)


def punctuation_tags(counts: Mapping[tuple[str, str], int]) -> frozenset[str]:
    """Return the tags most of whose words consist of punctuation marks.

    counts (mapping of (tag, word) to int): How often each word has each tag.
    """
    marks: dict[str, int] = defaultdict(int)
    for (tag, word), n in counts.items():
        marks[tag] += n if _is_punctuation(word) else -n
    return frozenset(tag for tag, balance in marks.items() if balance > 0)


_BRACKETS = ("-LRB-", "-RRB-", "-LCB-", "-RCB-", "-LSB-", "-RSB-")
_QUOTES = "`"  # which Unicode calls a modifier


def _is_punctuation(word: str) -> bool:
    return word in _BRACKETS or all(mark in _QUOTES or unicodedata.category(mark)[0] == "P" for mark in word)
