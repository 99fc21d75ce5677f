"""Count the local trees of a treebank that was read as skeletal trees."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from spacy_lpcfg.learning.treebank.skeletons import Skeletons
from spacy_lpcfg.trees.local_trees import LocalTree, LocalTrees, punctuation_tags
from spacy_lpcfg.trees.transforms import basic_category, split_chain


def count_local_trees(nodes: Skeletons) -> LocalTrees:
    """Count the local trees of skeletal trees, as they were before they were binarised and their chains collapsed."""
    n_leaves = len(nodes.preterminals)
    chains = [_chain(name, is_leaf=i < n_leaves) for i, name in enumerate(nodes.symbols)]
    punctuation = _punctuation(nodes, chains)
    counts: Counter[LocalTree] = Counter()
    children: list[LocalTree] = []
    for symbol, left, right in zip(nodes.symbol.tolist(), nodes.left.tolist(), nodes.right.tolist(), strict=True):
        chain, below = chains[symbol], () if left < 0 else children[left] + children[right]
        if chain and left >= 0 and below:
            local_tree: LocalTree = (chain[-1], *below)
            counts[local_tree] += 1
        is_mark = left < 0 and chain[-1] in punctuation
        children.append(below if not chain else () if is_mark and len(chain) == 1 else chain[:1])
    n_nodes = np.bincount(nodes.symbol, minlength=len(chains)).tolist()
    for chain, n in zip(chains, n_nodes, strict=True):
        for pair in pairwise(chain):
            counts[pair] += n * (pair[1] not in punctuation)
    return LocalTrees.of(+counts, punctuation)


def _chain(symbol: str, *, is_leaf: bool) -> LocalTree:
    """Labels of a symbol from the top, without functions; of a leaf the last is its tag; () for "@"."""
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
