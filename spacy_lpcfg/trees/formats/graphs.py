"""Graphs of sentences whose phrases may have gaps, as in NEGRA and TIGER, and their conversion to trees by raising.

First, punctuation right below the root is moved to the lowest phrase around it, so that it makes no gap. Then the
children of each phrase, from the lowest phrases up, are divided at the gaps into blocks of adjacent children. The block
with the head stays, and the children in other blocks are raised to the parent. The head is the child with the edge
label HD; in a phrase without one, the block with the most words stays, the first of several. So a phrase loses only
children that a gap separates from its head (Boyd, 2007, "Discontinuity revisited").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.transforms import escape_token
from spacy_lpcfg.trees.tree import Tree

MOST_LEVELS = 1_000
"""Limit on the phrases above a word: the time to make phrases continuous grows with it."""
ROOT = "the root"
"""The id of the root of every `Graph`, which is no phrase; it has a space, unlike the ids of phrases."""
_HEADS = frozenset({"HD"})
_NO_EDGE = frozenset({"", "--"})
_TAG_BRACKETS = {"$(": "$[", "$)": "$]", "$[": "$[", "$]": "$]"}


class Word(NamedTuple):
    """A word: its tag, the id of its parent phrase (a key of `Graph.phrases`, or `ROOT`), and its edge label."""

    word: str
    tag: str
    parent: str
    edge: str


class Phrase(NamedTuple):
    """A phrase: its label, the id of its parent (a key of `Graph.phrases`, or `ROOT`), and its edge label."""

    label: str
    parent: str
    edge: str


@dataclass(frozen=True)
class Graph:
    """A sentence whose phrases may have gaps: each word and phrase has the id of its parent.

    words (sequence of Word): The words from left to right.
    phrases (mapping of str to Phrase): The phrases by their ids.
    """

    words: Sequence[Word]
    phrases: Mapping[str, Phrase]


class Raised(NamedTuple):
    """A continuous tree, and how it was made from a graph.

    tree (Tree): The tree, with an unlabelled root.
    n_raised (int): How often a child was raised to the parent of its phrase.
    n_moved (int): How many punctuation marks were moved from the root to a phrase.
    """

    tree: Tree
    n_raised: int
    n_moved: int


class _Part(NamedTuple):
    """A continuous subtree over the words [start, end), and the label of the edge above it."""

    start: int
    end: int
    edge: str
    tree: Tree


def make_continuous(graph: Graph) -> Raised:
    """Convert a graph to a continuous tree with an unlabelled root, by raising children across gaps.

    RAISES (ValueError): If there are no words; if a phrase is its own ancestor, has an unknown parent or more than
        `MOST_LEVELS` ancestors; or if a word, tag or label is empty or has white space, or a label has parentheses.
    """
    if not graph.words:
        raise ValueError("Expected words in the sentence, but got none. Remove it.")
    depths = _depths(graph)
    words = _with_lowered_punctuation(graph)
    n_moved = sum(before != after for before, after in zip(graph.words, words, strict=True))
    parts: dict[str, list[_Part]] = {name: [] for name in (*graph.phrases, ROOT)}
    for i, word in enumerate(words):
        parts[_known(word.parent, graph)].append(_Part(i, i + 1, word.edge, _leaf(word)))
    n_raised = 0
    for name in sorted(graph.phrases, key=lambda name: -depths[name]):
        phrase = graph.phrases[name]
        head_block, others = _block_of_head(sorted(parts[name]))
        n_raised += len(others)
        if head_block:
            label = _joined(phrase.label, phrase.edge)
            whole = _Part(
                head_block[0].start, head_block[-1].end, phrase.edge, Tree(label, [part.tree for part in head_block])
            )
            parts[_known(phrase.parent, graph)].extend([whole, *others])
    return Raised(Tree("", [part.tree for part in sorted(parts[ROOT])]), n_raised, n_moved)


def _block_of_head(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """Divide children at gaps into blocks; return the children in the block that the phrase keeps, and all others."""
    blocks: list[list[_Part]] = []
    for part in parts:
        if blocks and blocks[-1][-1].end == part.start:
            blocks[-1].append(part)
        else:
            blocks.append([part])
    if len(blocks) < 2:
        return list(parts), []
    heads = [block for block in blocks if any(part.edge.upper() in _HEADS for part in block)]
    head_block = heads[0] if heads else max(blocks, key=lambda block: block[-1].end - block[0].start)
    return head_block, [part for block in blocks if block is not head_block for part in block]


def _with_lowered_punctuation(graph: Graph) -> list[Word]:
    """Return the words, with punctuation right below the root moved to the lowest phrase with words on both sides."""
    lowered, loose, before = list(graph.words), list[int](), ""
    for i, word in enumerate(graph.words):
        if word.parent == ROOT and not any(map(str.isalnum, word.word)):
            loose.append(i)
            continue
        if loose and before:
            around = set(_above(word.parent, graph))
            lowest = next(name for name in _above(before, graph) if name in around)
            for j in loose:
                lowered[j] = lowered[j]._replace(parent=lowest)
        loose, before = [], word.parent
    return lowered


def _depths(graph: Graph) -> dict[str, int]:
    """Return the number of nodes above each phrase, by the phrase's id; 0 for the root.

    RAISES (ValueError): As for `make_continuous`, for the phrases.
    """
    depths = {ROOT: 0}
    for name in graph.phrases:
        path = [name]
        while path[-1] not in depths:
            path.append(graph.phrases[_known(path[-1], graph)].parent)
            if len(path) > len(graph.phrases) + 1:
                raise ValueError(f"Expected phrases below the root, but {shown(name)} is above itself. Mend its edges.")
        depth = depths[path.pop()]
        depths |= {above: depth + i for i, above in enumerate(reversed(path), start=1)}
        if depths[name] > MOST_LEVELS:
            raise ValueError(f"Expected phrases in at most {MOST_LEVELS:,} levels, got more. Leave the sentence out.")
    return depths


def _above(name: str, graph: Graph) -> list[str]:
    """Return the id of a phrase and of each of its ancestors, up to the root."""
    names = [name]
    while names[-1] != ROOT:
        names.append(graph.phrases[_known(names[-1], graph)].parent)
    return names


def _known(name: str, graph: Graph) -> str:
    if name != ROOT and name not in graph.phrases:
        raise ValueError(f"Expected a phrase {shown(name)}, to which an edge leads, but there is none. Mend the edge.")
    return name


def _leaf(word: Word) -> Tree:
    if not word.word or not word.tag or any(map(str.isspace, chain(word.word, word.tag))):
        raise ValueError(
            f"Expected a word and a tag without spaces, but got {shown(word.word)} with the tag {shown(word.tag)}. "
            "Join a word with a space by an underscore."
        )
    return Tree(_TAG_BRACKETS.get(word.tag, escape_token(word.tag)), word=escape_token(word.word))


def _joined(label: str, edge: str) -> str:
    """Join a category and the label of the edge above it as the Penn Treebank writes function labels: `NP-SB`.

    RAISES (ValueError): If the category is empty, or the result has white space or parentheses.
    """
    whole = label if edge in _NO_EDGE else f"{label}-{edge}"
    if not label or any(char.isspace() or char in "()" for char in whole):
        raise ValueError(f"Expected a category without spaces and brackets, but got {shown(whole)}. Rename it.")
    return whole
