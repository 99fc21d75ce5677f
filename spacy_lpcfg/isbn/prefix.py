"""Hypotheses about the tree of a sentence after some of its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_lpcfg.trees.tree import Span, Tree

OPEN = -1
"""In place of a span's end: it is still open."""


@dataclass(frozen=True)
class OpenNode:
    """A constituent that is not complete: more children follow.

    label (str): its label.
    start (int): its first word.
    children (tuple[Tree, ...]): its first children, which are complete.
    """

    label: str
    start: int
    children: tuple[Tree, ...]


@dataclass(frozen=True)
class PrefixTree:
    """A hypothesis about the words so far: constituents that are open, each somewhere within the one before.

    open (tuple[OpenNode, ...]): from the outermost to the innermost. Between two of them, and above the first, other
        nodes may yet come: those that begin with the inner one.
    last (Tree): the last word, with its tag, which is not yet part of any of them but will be of the innermost.
    log_probability (float): natural log of the probability of the words so far with this hypothesis.
    """

    open: tuple[OpenNode, ...]
    last: Tree
    log_probability: float

    def __str__(self) -> str:
        """In brackets, of which open ones are not closed: ... (S (NP (NNS Cats)) ... (VP (VB eat) ... (NN fish)"""
        nodes = (f"({node.label} {' '.join(map(str, node.children))}" for node in self.open)
        return " ".join(f"... {part}" for part in (*nodes, self.last))


def prefix_tree(words: Sequence[str], tags: Sequence[str], spans: Sequence[Span], log_probability: float) -> PrefixTree:
    """The hypothesis that has these spans.

    spans (sequence of (start, end, label)): in pre-order; end is OPEN of those that are open, and the last word is
        under none that is closed.
    """
    last = len(words) - 1
    bounds = [start for start, end, _ in spans if end == OPEN] + [last]
    nodes: list[OpenNode] = []
    for start, end, label in spans:
        if end == OPEN:
            until = bounds[len(nodes) + 1]
            within = [(i - start, j - start, name) for i, j, name in spans if j != OPEN and start <= i and j <= until]
            whole = Tree.from_spans(words[start:until], tags[start:until], [(0, until - start, label), *within])
            nodes.append(OpenNode(label, start, whole.children))
    return PrefixTree(tuple(nodes), Tree(tags[last], word=words[last]), log_probability)
