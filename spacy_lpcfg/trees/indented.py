"""Write trees in brackets on several indented lines, as in the files of the Penn Treebank."""

from __future__ import annotations

from spacy_lpcfg.trees.tree import Tree

INDENT = "  "
MOST_INDENTS = 100
"""Limit on the indents before a line, without which texts of deep trees would grow with the square of their levels."""


def indented(tree: Tree) -> str:
    """Return a tree in brackets on several lines, laid out as by CoreNLP.

    Each constituent begins a line, indented by two blanks for each node above it, up to 100 nodes. So does a tag with
    its word, unless the tag is the first child of its parent, or the child before it is a tag other than a conjunction
    (CC): then it stays on the line.
    """
    parts: list[str] = []
    open_nodes: list[tuple[Tree | None, int, bool]] = [(tree, 0, True)]  # node, depth, whether it stays on the line
    while open_nodes:
        node, depth, stays = open_nodes.pop()
        if node is None:
            parts.append(")")
            continue
        if depth:
            parts.append(" " if stays else "\n" + INDENT * min(depth, MOST_INDENTS))
        if node.word is not None:
            parts.append(str(node))
            continue
        parts.append(f"({node.label}")
        below: list[tuple[Tree | None, int, bool]] = []
        may_stay = True
        for child in node.children:
            below.append((child, depth + 1, may_stay and child.is_leaf))
            may_stay = child.is_leaf and not child.label.startswith("CC")
        open_nodes += [(None, 0, True), *reversed(below)]
    return "".join(parts)
