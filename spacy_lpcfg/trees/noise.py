"""Trees as careless or loud writers would have them, to learn from beside the trees themselves.

A treebank is edited text: a grammar that has learned from it alone takes HELP ME for names. It learns better what words
look like in capitals, in a headline, in lower case, with curly quotation marks, and without a full stop, from some of
its trees in these forms. All but the last keep the number of words, and all keep the brackets.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from spacy_lpcfg.trees.tree import Tree

_ESCAPE = re.compile(r"(-[LR][RSC]B-)")
_LITTLE = re.compile(r"an?|and|as|at|but|by|for|from|in|nor|of|on|or|the|to|with|n['’]t|na|ta", re.IGNORECASE)
_CURLY = str.maketrans("'`", "’‘")


def capitals(tree: Tree) -> Tree:
    """The tree IN CAPITALS."""
    return _spelled(tree, lambda leaf, _: _cased(leaf.word or "", str.upper))


def headline(tree: Tree) -> Tree:
    """The tree in Headline Case: every word has a capital, but for short function words inside."""

    def spell(leaf: Tree, i: int) -> str:
        word = leaf.word or ""
        return word.lower() if i > 0 and _LITTLE.fullmatch(word) else word[:1].upper() + word[1:]

    return _spelled(tree, spell)


def lower_case(tree: Tree) -> Tree:
    """The tree in lower case."""
    return _spelled(tree, lambda leaf, _: _cased(leaf.word or "", str.lower))


def curly_quotes(tree: Tree) -> Tree:
    """The tree with curly quotation marks and apostrophes."""
    return _spelled(tree, lambda leaf, _: _curly(leaf))


def without_final(tree: Tree) -> Tree:
    """The tree without the punctuation mark that ends its sentence; itself if it has none, or nothing else."""
    leaves = tree.leaves()
    if leaves[-1].label != "." or len(leaves) == 1:
        return tree
    last = leaves[-1]

    def drop(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return None if node is last else node
        rest = [child for child in children if child is not None]
        return Tree(node.label, rest) if rest else None

    return tree.fold(drop) or tree


COPIED: tuple[Callable[[Tree], Tree], ...] = (capitals, headline)
CHANGED: tuple[Callable[[Tree], Tree], ...] = (lower_case, curly_quotes, without_final)
KINDS = (*COPIED, *CHANGED)


def with_noise(trees: Iterable[Tree], *, share: float, seed: int = 0) -> Iterator[Tree]:
    """The trees, of which some are in other letters.

    Copies in capitals and in headline case follow their trees: nearly all of their words are others. Trees in lower
    case, with curly quotation marks and without final punctuation are changed in place: most of their words stay, and
    in a copy words seen once, from which learners tell what unknown words are, would be seen twice.

    trees (iterable of Tree): Trees of a treebank with the tags of the Penn Treebank.
    share (float): What share of the trees is copied, or changed, in each of the five ways.
    seed (int): Of which trees these are. The same trees and seed give the same.
    RETURNS (iterator of Tree): The trees and the copies, but for copies that are as the tree is.
    RAISES (ValueError): If the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"The share of the trees to copy or change is between 0 and 1, but got {share}.")
    return _with_noise(trees, share, random.Random(seed).random)


def _with_noise(trees: Iterable[Tree], share: float, draw: Callable[[], float]) -> Iterator[Tree]:
    for tree in trees:
        copies = [kind(tree) for kind in COPIED if draw() < share]
        changed = tree
        for kind in CHANGED:
            changed = kind(changed) if draw() < share else changed
        yield changed
        yield from (copy for copy in copies if copy != tree)


def _spelled(tree: Tree, spell: Callable[[Tree, int], str]) -> Tree:
    """The tree with other words, which a leaf and its place give."""
    words = iter([spell(leaf, i) for i, leaf in enumerate(tree.leaves())])

    def rebuild(node: Tree, children: list[Tree]) -> Tree:
        return Tree(node.label, children, next(words) if node.is_leaf else None)

    return tree.fold(rebuild)


def _cased(word: str, change: Callable[[str], str]) -> str:
    """The word in another case, but for the names of brackets."""
    return "".join(part if _ESCAPE.fullmatch(part) else change(part) for part in _ESCAPE.split(word))


def _curly(leaf: Tree) -> str:
    word = leaf.word or ""
    if word in ('"', "``", "''"):
        return "“" if leaf.label == "``" else "”" if leaf.label == "''" else word
    if word == "'" and leaf.label == "``":
        return "‘"
    return word.translate(_CURLY)
