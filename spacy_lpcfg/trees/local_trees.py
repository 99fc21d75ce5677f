"""Local trees of a treebank: the label of a node with the labels and tags of its children, such as `NP -> DT NN`.

Punctuation and function labels (the SBJ of NP-SBJ) are left out, so that local trees are comparable to the rules of a
grammar, `S -> NP VP`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from spacy_lpcfg.trees.transforms import ESCAPED_BRACKETS, basic_category
from spacy_lpcfg.trees.tree import Tree

LocalTree = tuple[str, ...]
"""The label of a node, then the labels of its children; the tag of a child that is a word."""


@dataclass(frozen=True, eq=False)
class LocalTrees:
    """The set of local trees (a node's label with those of its children) that occur in a treebank.

    known (frozenset of tuple of str): The local trees, each the label of a node and then the labels of its children.
    punctuation (frozenset of str): Tags of punctuation, which is left out of local trees.
    """

    known: frozenset[LocalTree]
    punctuation: frozenset[str]

    @classmethod
    def of_trees(cls, trees: Iterable[Tree]) -> LocalTrees:
        """Collect the local trees of normalized trees; tags of punctuation are found by `punctuation_tags`."""
        trees = list(trees)
        punctuation = punctuation_tags(
            Counter((leaf.label, leaf.word or "") for tree in trees for leaf in tree.leaves())
        )
        return cls(frozenset(rule for tree in trees for rule in local_trees(tree, punctuation)), punctuation)

    def unseen(self, tree: Tree) -> list[LocalTree]:
        """Return the local trees of a normalized tree that do not occur in the treebank, in pre-order."""
        return [rule for rule in local_trees(tree, self.punctuation) if rule not in self.known]


def local_trees(tree: Tree, punctuation: Collection[str]) -> Iterator[LocalTree]:
    """Yield the local tree of each node in pre-order: its label, then the labels or tags of its children.

    tree (Tree): A normalized tree.
    punctuation (collection of str): Tags of children to leave out; a node without other children yields nothing.
    """
    for node in tree.nodes():
        children = [
            child.label if child.is_leaf else basic_category(child.label)
            for child in node.children
            if not (child.is_leaf and child.label in punctuation)
        ]
        if children:
            yield basic_category(node.label), *children


def punctuation_tags(counts: Mapping[tuple[str, str], int]) -> frozenset[str]:
    """Return the tags for which more than half of the tokens consist of punctuation marks alone.

    counts (mapping of (tag, word) to int): How often each word has each tag.
    """
    marks: dict[str, int] = defaultdict(int)
    for (tag, word), n in counts.items():
        marks[tag] += n if _is_punctuation(word) else -n
    return frozenset(tag for tag, balance in marks.items() if balance > 0)


_QUOTES = "`"  # which Unicode calls a modifier


def _is_punctuation(word: str) -> bool:
    return word in ESCAPED_BRACKETS or all(mark in _QUOTES or unicodedata.category(mark)[0] == "P" for mark in word)
