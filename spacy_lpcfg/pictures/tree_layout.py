"""Layout of tree drawings: all words on one line, each label above the middle of its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from spacy_lpcfg.pictures.drawing import (
    LABEL_HEIGHT,
    MAX_WIDTH,
    TURNED_WIDTH,
    is_right_to_left,
    label_width,
    text_width,
)
from spacy_lpcfg.trees.tree import Tree

GAP = 12.0  # between columns
WORD_BELOW = 20.0  # pixels from a tag down to its word
_SURE = 0.995  # tags of at least this probability are shown without a number
_ROW = 42.0  # pixels from a level to the next
_MARGIN = LABEL_HEIGHT / 2 + 2.0


@dataclass(eq=False)
class TreeBox:
    """A node of a tree with the place of its label and the horizontal extent of its subtree, in pixels.

    node (Tree): The node.
    score (float or None): Probability of the constituent or tag; None if it is not shown.
    below (list of TreeBox): The children, in the order in which they are drawn from left to right.
    own_width (float): Width of the label, or of tag and word, with a gap.
    width (float): Width of the subtree.
    level (int): 0 for tags, otherwise one more than the highest level of the children.
    left (float): Left edge of the subtree.
    x, y (float): Centre of the label.
    """

    node: Tree
    score: float | None
    below: list[TreeBox] = field(default_factory=list)
    own_width: float = 0.0
    width: float = 0.0
    level: int = 0
    left: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def top(self) -> float:
        """The y coordinate of the upper end of the label, where the line from the parent ends."""
        return self.y - LABEL_HEIGHT / 2 + (2.0 if self.node.is_leaf else 0.0)

    @property
    def stem(self) -> tuple[float, float]:
        """The y coordinates of the lower end of the label and of the bar above the children."""
        top = self.y + LABEL_HEIGHT / 2
        return top, top + 10.0


class TreeLayout(NamedTuple):
    """A tree with the positions of its nodes, and the size of its drawing.

    boxes (list of TreeBox): The nodes in pre-order.
    width, height (float): The size of the drawing in pixels.
    is_turned (bool): Whether words are written from top to bottom, because the drawing would be too wide.
    """

    boxes: list[TreeBox]
    width: float
    height: float
    is_turned: bool


def tree_layout(tree: Tree, span_scores: Sequence[float] | None, tag_scores: Sequence[float] | None) -> TreeLayout:
    """Compute the positions of the nodes of a tree, from right to left if its words are written so.

    span_scores (sequence of float, (n_spans,), or None): Probabilities of `tree.spans()`; nan if unknown.
    tag_scores (sequence of float, (n_words,), or None): Probabilities of the tags; nan if unknown.
    RAISES (ValueError): If the number of scores differs from the number of constituents or tags.
    """
    boxes = _boxes(tree, span_scores, tag_scores)
    root = boxes[0]
    _measure_all(boxes, is_turned=False)
    is_turned = root.width > MAX_WIDTH
    if is_turned:
        _measure_all(boxes, is_turned=True)
    for box in boxes:
        _spread(box)
    for box in reversed(boxes):
        _centre(box)
        box.y = _MARGIN + (root.level - box.level) * _ROW
    if is_right_to_left(tree.words):
        _mirror(boxes, root.width)
    words = max(text_width(word, 15.0) for word in tree.words) if is_turned else 4.0
    return TreeLayout(boxes, root.width, 2 * _MARGIN + root.level * _ROW + 20.0 + words, is_turned)


def _boxes(tree: Tree, span_scores: Sequence[float] | None, tag_scores: Sequence[float] | None) -> list[TreeBox]:
    """Return the nodes of a tree in pre-order, with their scores, but without positions."""
    n_words = len(tree)
    of_tags = _checked_scores(tag_scores, n_words, "tags")
    of_spans = _checked_scores(span_scores, sum(1 for _ in tree.nodes()) - n_words, "brackets")
    boxes: list[TreeBox] = []
    stack: list[tuple[Tree, TreeBox | None]] = [(tree, None)]
    while stack:
        node, above = stack.pop()
        boxes.append(TreeBox(node, next(of_tags if node.is_leaf else of_spans)))
        if above:
            above.below.append(boxes[-1])
        stack += [(child, boxes[-1]) for child in reversed(node.children)]
    return boxes


def _checked_scores(scores: Sequence[float] | None, n: int, items: str) -> Iterator[float | None]:
    if scores is not None and len(scores) != n:
        raise ValueError(f"Expected scores of {n} {items}, got {len(scores)}.")
    return repeat(None) if scores is None else iter(scores)


def _measure_all(boxes: list[TreeBox], *, is_turned: bool) -> None:
    for box in reversed(boxes):
        _measure(box, is_turned=is_turned)


def _mirror(boxes: list[TreeBox], width: float) -> None:
    """Mirror a layout horizontally, for scripts that are written from right to left."""
    for box in boxes:
        box.x, box.left = width - box.x, width - box.left - box.width
        box.below.reverse()


def _measure(box: TreeBox, *, is_turned: bool) -> None:
    """Compute the level and widths of a box from its children."""
    node = box.node
    if node.word is None:
        box.own_width = label_width(node.label, box.score) + GAP
        box.level = 1 + max(below.level for below in box.below)
    else:
        box.score = None if box.score is None or box.score >= _SURE else box.score
        number = 0.0 if box.score is None else 25.0
        word = TURNED_WIDTH if is_turned else text_width(node.word, 15.0)
        box.own_width = max(word, text_width(node.label, 12.0) + number) + GAP
    box.width = max(box.own_width, sum(below.width for below in box.below))


def _spread(box: TreeBox) -> None:
    """Put the subtrees of the children side by side, centred within the width of this box's subtree."""
    left = box.left + (box.width - sum(below.width for below in box.below)) / 2
    for below in box.below:
        below.left = left
        left += below.width


def _centre(box: TreeBox) -> None:
    """Centre the label above its children as far as it stays within the subtree."""
    middle = (box.below[0].x + box.below[-1].x) / 2 if box.below else box.left + box.width / 2
    box.x = min(max(middle, box.left + box.own_width / 2), box.left + box.width - box.own_width / 2)
