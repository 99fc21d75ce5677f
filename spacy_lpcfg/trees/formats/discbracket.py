"""Read the brackets of disco-dop for discontinuous trees: each word has its position, `(NP (ART 0=Ein) (NN 1=Zug))`."""

from __future__ import annotations

import re

from spacy_lpcfg.trees.formats.graphs import ROOT, Graph, Phrase, Word, make_continuous
from spacy_lpcfg.trees.formats.negra import count_raised
from spacy_lpcfg.trees.transforms import ROOT_LABELS
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import TreeBuilder

_WORD = re.compile(r"([0-9]{1,9})=(\S+)")
_ESCAPES = {"#LRB#": "(", "#RRB#": ")"}


class DiscBracketBuilder(TreeBuilder):
    """A builder of trees from disco-dop's brackets; discontinuous trees are made continuous by `make_continuous`."""

    def finished(self, tree: Tree) -> Tree | None:
        continuous = make_continuous(_graph(tree))
        count_raised(continuous, self.dropped)
        return continuous.tree


def _graph(tree: Tree) -> Graph:
    """Build the graph of a tree; an artificial root, such as ROOT, is no phrase of the graph.

    RAISES (ValueError): If words do not have the positions 0, 1 and so on, each once.
    """
    words: dict[int, Word] = {}
    phrases: dict[str, Phrase] = {}
    stack = [(tree, ROOT)]
    while stack:
        node, parent = stack.pop()
        if node.word is not None:
            position, form = _numbered(node.word)
            if position in words:
                raise ValueError(f"Expected each position once, but {position} has two words. Renumber the words.")
            words[position] = Word(form, node.label, parent, "")
            continue
        name = parent
        if node is not tree or node.label not in ROOT_LABELS:
            name = str(len(phrases))
            phrases[name] = Phrase(node.label, parent, "")
        stack.extend((child, name) for child in node.children)
    if max(words) != len(words) - 1:
        raise ValueError(f"Expected words at all positions up to {max(words)}, but got {len(words)}. Renumber them.")
    return Graph([words[i] for i in range(len(words))], phrases)


def _numbered(word: str) -> tuple[int, str]:
    numbered = _WORD.fullmatch(word)
    if numbered is None:
        raise ValueError(f"Expected a position before each word, as in 0={word[:40]}. Number the words.")
    form = numbered[2]
    return int(numbered[1]), _ESCAPES.get(form, form)
