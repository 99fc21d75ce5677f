"""Count the local trees of a treebank that was read as skeletal trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from spacy_lpcfg.learning.treebank.skeletons import Skeletons
from spacy_lpcfg.trees.local_trees import LexicalLocalTree, LocalTree, LocalTrees, punctuation_tags
from spacy_lpcfg.trees.transforms import basic_category, split_chain


def count_local_trees(nodes: Skeletons) -> LocalTrees:
    """Count the local trees of skeletal trees, with binarisation and the collapsing of unary chains undone."""
    n_leaves = len(nodes.preterminals)
    chains = [_chain(name, is_leaf=i < n_leaves) for i, name in enumerate(nodes.symbols)]
    punctuation = _punctuation(nodes, chains)
    return LocalTrees.of_lexical(lambda: _lexical_local_trees(nodes, chains, punctuation), punctuation)


def _lexical_local_trees(
    nodes: Skeletons, chains: list[LocalTree], punctuation: Collection[str]
) -> Iterator[LexicalLocalTree]:
    children: list[LexicalLocalTree] = []
    words = [word.lower() for word in nodes.words]
    columns = (nodes.symbol.tolist(), nodes.left.tolist(), nodes.right.tolist(), nodes.word.tolist())
    for symbol, left, right, word in zip(*columns, strict=True):
        labels: Sequence[str] = chains[symbol]
        below: LexicalLocalTree
        if left >= 0:
            below = children[left] + children[right]
        else:
            *labels, tag = labels
            below = () if tag in punctuation else ((tag, words[word]),)
        for label in reversed(labels):
            if below:
                yield label, *below
            below = (label,)
        children.append(below)


def _chain(symbol: str, *, is_leaf: bool) -> LocalTree:
    """Return the labels of a symbol's chain, top first, without functions; a leaf's last one is its tag; () for "@"."""
    if not is_leaf and symbol.startswith("@"):
        return ()
    labels = split_chain(symbol)
    return (*map(basic_category, labels[:-1]), labels[-1] if is_leaf else basic_category(labels[-1]))


def _punctuation(nodes: Skeletons, chains: list[LocalTree]) -> frozenset[str]:
    leaves = nodes.leaves
    pairs, counts = np.unique(np.array([nodes.symbol[leaves], nodes.word[leaves]]), axis=1, return_counts=True)
    words: Counter[tuple[str, str]] = Counter()
    for (symbol, word), n in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        words[chains[symbol][-1], nodes.words[word]] += n
    return punctuation_tags(words)
