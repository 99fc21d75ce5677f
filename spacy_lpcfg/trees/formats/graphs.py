"""Trees whose phrases may have gaps, as in NEGRA and TIGER, made continuous by raising.

First, punctuation that hangs at the root goes to the lowest phrase around it, so that it makes no gap. Then, from the
lowest phrase up, each one that has a gap keeps the block of its children that holds its head, and the other children
go up to its parent. The head is the child with the edge label HD; in a phrase without such, the block is the one with
the most words, the first of several. So a phrase loses no more than what a gap parts from its head (Boyd, 2007,
"Discontinuity revisited").
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
_HEADS = frozenset({"HD"})
_NO_EDGE = frozenset({"", "--"})
_TAG_BRACKETS = {"$(": "$[", "$)": "$]", "$[": "$[", "$]": "$]"}


class Word(NamedTuple):
    """A word: its tag, the id of its parent phrase (a key of `Graph.phrases`, or `Graph.root`), and its edge label."""

    word: str
    tag: str
    parent: str
    edge: str


class Phrase(NamedTuple):
    """A phrase's label, the name of the phrase above it, and the label of the edge between."""

    label: str
    parent: str
    edge: str


@dataclass(frozen=True)
class Graph:
    """A sentence whose phrases may have gaps; each word and phrase has the name of the phrase above it.

    phrases (mapping of str to Phrase): The phrases by their names.
    root (str): The name of the root, which is no phrase.
    """

    words: Sequence[Word]
    phrases: Mapping[str, Phrase]
    root: str


class Raised(NamedTuple):
    """A continuous tree, how often a child was raised to the next phrase, and how many punctuation marks were moved."""

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
    """Make the tree of a sentence continuous, below an unlabelled root.

    RAISES (ValueError): If there are no words, a phrase is above itself, below one that is not there or below more than
        `MOST_LEVELS`, or a label or word is empty or has spaces.
    """
    if not graph.words:
        raise ValueError("Expected words in the sentence, but got none. Remove it.")
    depths = _depths(graph)
    words = _with_lowered_punctuation(graph)
    n_moved = sum(before != after for before, after in zip(graph.words, words, strict=True))
    parts: dict[str, list[_Part]] = {name: [] for name in (*graph.phrases, graph.root)}
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
    return Raised(Tree("", [part.tree for part in sorted(parts[graph.root])]), n_raised, n_moved)


def _block_of_head(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """Return the children of a phrase in the block that it keeps, and the others."""
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
        if word.parent == graph.root and not any(map(str.isalnum, word.word)):
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
    """Return the number of phrases above each phrase, the root included."""
    depths = {graph.root: 0}
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
    """Return the phrase of a name and those above it, up to the root."""
    names = [name]
    while names[-1] != graph.root:
        names.append(graph.phrases[_known(names[-1], graph)].parent)
    return names


def _known(name: str, graph: Graph) -> str:
    if name != graph.root and name not in graph.phrases:
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
    """Return a category with its function, as the Penn Treebank has them: `NP-SB`."""
    whole = label if edge in _NO_EDGE else f"{label}-{edge}"
    if not label or any(char.isspace() or char in "()" for char in whole):
        raise ValueError(f"Expected a category without spaces and brackets, but got {shown(whole)}. Rename it.")
    return whole
