"""Where the nodes of a tree stand in its picture: words on one line, each label above the middle of its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from spacy_lpcfg.pictures.drawing import LABEL_HEIGHT, label_width, text_width
from spacy_lpcfg.trees.tree import Tree

GAP = 12.0  # between columns
WORD_BELOW = 20.0  # from a tag down to its word
_SURE = 0.995  # a tag of this probability has no number
_ROW = 42.0  # from a level to the next
_MARGIN = LABEL_HEIGHT / 2 + 2.0


@dataclass(eq=False)
class TreeBox:
    """A node, and the room of all below it.

    own (float): width of its label, or of tag and word
    level (int): 0 for tags, and else one above the highest of its children
    left, x, y (float): where the room begins, and the middle of the label, in pixels
    """

    node: Tree
    score: float | None
    below: list[TreeBox] = field(default_factory=list)
    own: float = 0.0
    width: float = 0.0
    level: int = 0
    left: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def top(self) -> float:
        """Where the line from above ends."""
        return self.y - LABEL_HEIGHT / 2 + (2.0 if self.node.is_leaf else 0.0)

    @property
    def stem(self) -> tuple[float, float]:
        """Where the line down from its label begins, and where the bar over those below it is."""
        top = self.y + LABEL_HEIGHT / 2
        return top, top + 10.0


def tree_boxes(tree: Tree, span_scores: Sequence[float] | None, tag_scores: Sequence[float] | None) -> list[TreeBox]:
    """All nodes in pre-order, each with its place.

    RAISES (ValueError): If there is not a score for each.
    """
    n_words = len(tree)
    of_tags = _each(tag_scores, n_words, "tags")
    of_spans = _each(span_scores, sum(1 for _ in tree.nodes()) - n_words, "brackets")
    boxes: list[TreeBox] = []
    stack: list[tuple[Tree, TreeBox | None]] = [(tree, None)]
    while stack:
        node, above = stack.pop()
        boxes.append(TreeBox(node, next(of_tags if node.is_leaf else of_spans)))
        if above:
            above.below.append(boxes[-1])
        stack += [(child, boxes[-1]) for child in reversed(node.children)]
    for box in reversed(boxes):
        _measure(box)
    for box in boxes:
        _share(box)
    for box in reversed(boxes):
        _centre(box)
        box.y = _MARGIN + (boxes[0].level - box.level) * _ROW
    return boxes


def tree_height(root: TreeBox) -> float:
    """How high the picture of a tree is."""
    return 2 * _MARGIN + root.level * _ROW + 24.0


def _each(scores: Sequence[float] | None, n: int, what: str) -> Iterator[float | None]:
    if scores is not None and len(scores) != n:
        raise ValueError(f"Expected scores of {n} {what}, got {len(scores)}.")
    return repeat(None) if scores is None else iter(scores)


def _measure(box: TreeBox) -> None:
    """How wide and high the room has to be, by the rooms below."""
    node = box.node
    if node.word is None:
        box.own = label_width(node.label, box.score) + GAP
        box.level = 1 + max(below.level for below in box.below)
    else:
        box.score = None if box.score is None or box.score >= _SURE else box.score
        number = 0.0 if box.score is None else 25.0
        box.own = max(text_width(node.word, 15.0), text_width(node.label, 12.0) + number) + GAP
    box.width = max(box.own, sum(below.width for below in box.below))


def _share(box: TreeBox) -> None:
    """Put the rooms below side by side, in the middle of this one."""
    left = box.left + (box.width - sum(below.width for below in box.below)) / 2
    for below in box.below:
        below.left = left
        left += below.width


def _centre(box: TreeBox) -> None:
    """The label stands between the first and the last below it, as far as it stays in its room."""
    middle = (box.below[0].x + box.below[-1].x) / 2 if box.below else box.left + box.width / 2
    box.x = min(max(middle, box.left + box.own / 2), box.left + box.width - box.own / 2)
