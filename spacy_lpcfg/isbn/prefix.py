"""Partial parses of a sentence prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_lpcfg.trees.tree import Span, Tree

OPEN = -1
"""The end of a span that is still open."""


@dataclass(frozen=True)
class OpenNode:
    """A constituent that is still open: more children follow.

    label (str): The label.
    start (int): Position of the first word.
    children (tuple[Tree, ...]): The children that are complete.
    """

    label: str
    start: int
    children: tuple[Tree, ...]


@dataclass(frozen=True)
class PrefixTree:
    """A partial parse of a sentence prefix: the stack of open constituents, outermost first.

    open (tuple[OpenNode, ...]): The open constituents. The parser may later insert nodes between two of them, and above
        the first.
    last (Tree): The last word with its tag, which is not attached yet and will be below the innermost constituent.
    log_probability (float): ln P(words so far, this partial parse), in nats.
    """

    open: tuple[OpenNode, ...]
    last: Tree
    log_probability: float

    def __str__(self) -> str:
        """Return the parse as text with parentheses, which are not closed for open constituents.

        For example `... (S (NP (NNS Cats)) ... (VP (VB eat) ... (NN fish)`.
        """
        nodes = (f"({node.label} {' '.join(map(str, node.children))}" for node in self.open)
        return " ".join(f"... {node}" for node in (*nodes, self.last))


def prefix_tree(words: Sequence[str], tags: Sequence[str], spans: Sequence[Span], log_probability: float) -> PrefixTree:
    """Create a partial parse from its spans.

    words, tags (sequence of str, (n_words,)): The words so far and their tags.
    spans (sequence of (start, end, label)): Spans in pre-order; the end of an open constituent is OPEN. No closed span
        contains the last word.
    log_probability (float): ln P(words so far, this partial parse), in nats.
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
