"""Data augmentation for treebanks: trees whose words are in capitals, lack the final full stop, and the like.

A treebank is edited text: a grammar that learned only from it takes HELP ME for names. With noisy trees it also learns
capitals, headlines, lower case, curly quotation marks, and sentences without a full stop. The last kind of noise
removes a word; all kinds keep the other words' tags and constituents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from spacy_lpcfg.checks import SHARE
from spacy_lpcfg.trees.tree import Tree

_ESCAPE = re.compile(r"(-[LR][RSC]B-)")
_LITTLE = re.compile(r"an?|and|as|at|but|by|for|from|in|nor|of|on|or|the|to|with|n['’]t|na|ta", re.IGNORECASE)
_CURLY = str.maketrans("'`", "’‘")


def capitals(tree: Tree) -> Tree:
    """Convert the words of a tree to CAPITALS."""
    return _spelled(tree, lambda leaf, _: _cased(leaf.word or "", str.upper))


def headline(tree: Tree) -> Tree:
    """Convert the words of a tree to Headline Case: the first word and all but short function words get a capital."""

    def spell(leaf: Tree, i: int) -> str:
        word = leaf.word or ""
        return word.lower() if i > 0 and _LITTLE.fullmatch(word) else word[:1].upper() + word[1:]

    return _spelled(tree, spell)


def lower_case(tree: Tree) -> Tree:
    """Convert the words of a tree to lower case."""
    return _spelled(tree, lambda leaf, _: _cased(leaf.word or "", str.lower))


def curly_quotes(tree: Tree) -> Tree:
    """Replace quotation marks and apostrophes by curly ones."""
    return _spelled(tree, lambda leaf, _: _curly(leaf))


def without_final(tree: Tree) -> Tree:
    """Remove the last word of a tree if its tag is "." and it is not the only word; else return the tree itself."""
    leaves = tree.leaves()
    if leaves[-1].label != "." or len(leaves) == 1:
        return tree
    last = leaves[-1]

    def drop(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return None if node is last else node
        remaining = [child for child in children if child is not None]
        return Tree(node.label, remaining) if remaining else None

    return (tree.fold(drop) or tree).with_source_of(tree)


COPIED: tuple[Callable[[Tree], Tree], ...] = (capitals, headline)
CHANGED: tuple[Callable[[Tree], Tree], ...] = (lower_case, curly_quotes, without_final)
KINDS = (*COPIED, *CHANGED)


def with_noise(trees: Iterable[Tree], *, share: float, seed: int = 0) -> Iterator[Tree]:
    """Yield trees with noise: some are changed at random, and some are followed by changed copies.

    Copies in capitals and in headline case are added after their trees, since nearly all of their words differ. Lower
    case, curly quotation marks and missing final punctuation are applied in place, since most words stay the same: in a
    copy, words that occur once, from which learners estimate unknown words, would occur twice.

    trees (iterable of Tree): Trees with Penn Treebank tags.
    share (float): Probability, from 0 to 1, with which each of the five kinds of noise is applied to a tree.
    seed (int): Seed of the random choice.
    YIELDS (Tree): Each tree, changed or not, and after it its copies, except for copies that equal the original tree.
    RAISES (ValueError): If `share` is not between 0 and 1.
    """
    SHARE(share=share)
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
    """Replace the words of a tree by `spell(leaf, position)`."""
    leaves = (Tree(leaf.label, word=spell(leaf, i)) for i, leaf in enumerate(tree.leaves()))
    return tree.with_leaves(leaves).with_source_of(tree)


def _cased(word: str, change: Callable[[str], str]) -> str:
    """Change the case of a word, except for escaped parentheses and brackets such as -LRB-."""
    return "".join(piece if _ESCAPE.fullmatch(piece) else change(piece) for piece in _ESCAPE.split(word))


def _curly(leaf: Tree) -> str:
    word = leaf.word or ""
    if word in ('"', "``", "''"):
        return "“" if leaf.label == "``" else "”" if leaf.label == "''" else word
    if word == "'" and leaf.label == "``":
        return "‘"
    return word.translate(_CURLY)
