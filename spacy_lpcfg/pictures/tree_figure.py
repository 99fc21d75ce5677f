"""Trees as figures, for pictures made of points such as PNG: each constituent above the middle of its children."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from spacy_lpcfg.pictures.figures import new_figure
from spacy_lpcfg.pictures.visible import visible
from spacy_lpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHARACTER, _GAP, _LEVEL = 0.09, 0.15, 0.45  # inches
_PAPER = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}


class _Node(NamedTuple):
    """What stands at a place of a picture, and what is right below it, by numbers in the list of all."""

    text: str
    x: float
    below: list[int]


def tree_figure(tree: Tree) -> Figure:
    """A tree as a figure.

    RAISES (ImportError): Without matplotlib.
    """
    widths = [_GAP + _CHARACTER * max(len(word), len(tag)) for word, tag in zip(tree.words, tree.tags, strict=True)]
    ends = list(accumulate(widths))
    centres = (end - width / 2 for end, width in zip(ends, widths, strict=True))
    nodes: list[_Node] = []

    def add(node: Tree, below: list[int]) -> int:
        """The number of a node, which comes after those below it."""
        if node.is_leaf:
            nodes.append(_Node(visible(node.word or ""), next(centres), []))
            below = [len(nodes) - 1]
        nodes.append(_Node(visible(node.label), (nodes[below[0]].x + nodes[below[-1]].x) / 2, below))
        return len(nodes) - 1

    tree.fold(add)
    return _figure(nodes, ends[-1])


def _figure(nodes: list[_Node], width: float) -> Figure:
    depths = [0] * len(nodes)
    for number in reversed(range(len(nodes))):
        for child in nodes[number].below:
            depths[child] = depths[number] + 1
    figure = new_figure(width + 2 * _GAP, _LEVEL * (max(depths) + 1))
    axes = figure.add_subplot(xlim=(-_GAP, width + _GAP), ylim=(max(depths) + 0.5, -0.5))
    axes.axis("off")
    for node, depth in zip(nodes, depths, strict=True):
        for child in node.below:
            axes.plot([node.x, nodes[child].x], [depth, depth + 1], color="0.6", linewidth=0.8, zorder=1)
        axes.text(node.x, depth, node.text, ha="center", va="center", fontsize=10, bbox=_PAPER, parse_math=False)
    return figure
