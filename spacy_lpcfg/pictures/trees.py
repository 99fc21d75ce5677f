"""Trees drawn: SVG and HTML by a layout of their own, characters by the pretty printer of NLTK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Literal

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import (
    LABEL_HEIGHT,
    draw_label,
    draw_text,
    label_width,
    scrolling,
    svg_element,
    text_width,
)
from spacy_lpcfg.pictures.visible import visible
from spacy_lpcfg.trees.nltk import to_nltk
from spacy_lpcfg.trees.tree import Tree

_WIDEST = 4096  # characters of a label that is not broken into lines; not all of NLTK's versions take None
_MOST_LEVELS = 250
_SURE = 0.995  # a tag of this probability has no number
_ROW = 42.0  # from a level to the next
_GAP = 12.0  # between columns
_MARGIN = LABEL_HEIGHT / 2 + 2.0
_TAG = 'font-size="12" fill-opacity=".75"'
_LINE = 'fill="none" stroke="currentColor" stroke-opacity=".4"'


def tree_svg(tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None) -> str:
    """The tree as an SVG element, which is a file of its own as well.

    All words stand on one line, below their tags. Labels are coloured by kind: clauses, noun, verb and prepositional
    phrases, those of adjectives and adverbs, and others.

    span_scores (sequence of float, (n_spans,)): probability of each of `tree.spans()`, as a shade and a number; nan
        where it is not known
    tag_scores (sequence of float, (n_words,)): probability of each tag, a number if it is less than 0.995
    RAISES (ValueError): If there is not a score for each, or if the tree has more than 250 levels.
    """
    boxes = _boxes(tree, span_scores, tag_scores)
    root = boxes[0]
    if root.level >= _MOST_LEVELS:
        raise _too_deep(tree)
    lines = "".join(_draw_lines(box, root.level) for box in boxes if box.below)
    nodes = "".join(_draw_node(box, root.level) for box in boxes)
    height = _y(0, root.level) + 24.0 + _MARGIN
    return svg_element(root.width, height, f"<g {_LINE}>{lines}</g>{nodes}", " ".join(tree.words))


def tree_html(tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None) -> str:
    """The SVG of a tree in an element that scrolls where the page is too narrow; see `tree_svg`."""
    return scrolling(tree_svg(tree, span_scores, tag_scores))


def tree_text(tree: Tree, lines: Literal["unicode", "ascii"] = "unicode") -> str:
    """The tree in lines of characters of one width, for a terminal.

    lines (str): what its branches are drawn with: "unicode" has characters for it, "ascii" does with _ and |.
    RAISES (ImportError): Without NLTK. (ValueError): If the tree is too deep to be drawn.
    """
    printer = extra("nltk.tree.prettyprinter", "A tree in a terminal").TreePrettyPrinter
    try:
        drawn = printer(to_nltk(_visible(tree))).text(unicodelines=lines == "unicode", maxwidth=_WIDEST)
    except RecursionError as error:
        raise _too_deep(tree) from error
    return "\n".join(line.rstrip(" ") for line in drawn.splitlines())


def _visible(tree: Tree) -> Tree:
    return tree.fold(
        lambda node, below: Tree(visible(node.label), below, None if node.word is None else visible(node.word))
    )


def _too_deep(tree: Tree) -> ValueError:
    depth = tree.fold(lambda node, below: 1 + max(below, default=0))
    return ValueError(f"A tree of {depth} levels is too deep to be drawn: draw the parts of it that matter.")


# The layout --------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Box:
    """A node, and the room of all below it.

    own (float): width of its label, or of tag and word
    level (int): 0 for tags, and else one above the highest of its children
    left, x (float): where the room begins, and the middle of the label
    """

    node: Tree
    score: float | None
    below: list[_Box] = field(default_factory=list)
    own: float = 0.0
    width: float = 0.0
    level: int = 0
    left: float = 0.0
    x: float = 0.0


def _boxes(tree: Tree, span_scores: Sequence[float] | None, tag_scores: Sequence[float] | None) -> list[_Box]:
    """All nodes in pre-order, each with its place."""
    n_words = len(tree)
    of_tags = _each(tag_scores, n_words, "tags")
    of_spans = _each(span_scores, sum(1 for _ in tree.nodes()) - n_words, "brackets")
    boxes: list[_Box] = []
    stack: list[tuple[Tree, _Box | None]] = [(tree, None)]
    while stack:
        node, above = stack.pop()
        boxes.append(_Box(node, next(of_tags if node.is_leaf else of_spans)))
        if above:
            above.below.append(boxes[-1])
        stack += [(child, boxes[-1]) for child in reversed(node.children)]
    for box in reversed(boxes):
        _measure(box)
    for box in boxes:
        _share(box)
    for box in reversed(boxes):
        _centre(box)
    return boxes


def _each(scores: Sequence[float] | None, n: int, what: str) -> Iterator[float | None]:
    if scores is not None and len(scores) != n:
        raise ValueError(f"Expected scores of {n} {what}, got {len(scores)}.")
    return repeat(None) if scores is None else iter(scores)


def _measure(box: _Box) -> None:
    """How wide and high the room has to be, by the rooms below."""
    node = box.node
    if node.word is None:
        box.own = label_width(node.label, box.score) + _GAP
        box.level = 1 + max(below.level for below in box.below)
    else:
        box.score = None if box.score is None or box.score >= _SURE else box.score
        number = 0.0 if box.score is None else 25.0
        box.own = max(text_width(node.word, 15.0), text_width(node.label, 12.0) + number) + _GAP
    box.width = max(box.own, sum(below.width for below in box.below))


def _share(box: _Box) -> None:
    """Put the rooms below side by side, in the middle of this one."""
    left = box.left + (box.width - sum(below.width for below in box.below)) / 2
    for below in box.below:
        below.left = left
        left += below.width


def _centre(box: _Box) -> None:
    """The label stands between the first and the last below it, as far as it stays in its room."""
    middle = (box.below[0].x + box.below[-1].x) / 2 if box.below else box.left + box.width / 2
    box.x = min(max(middle, box.left + box.own / 2), box.left + box.width - box.own / 2)


def _y(level: int, levels: int) -> float:
    return _MARGIN + (levels - level) * _ROW


def _draw_node(box: _Box, levels: int) -> str:
    y = _y(box.level, levels)
    if box.node.word is None:
        return draw_label(box.x, y, box.own - _GAP, box.node.label, box.score)
    return draw_text(box.x, y, box.node.label, _TAG, box.score) + draw_text(box.x, y + 20.0, box.node.word)


def _draw_lines(box: _Box, levels: int) -> str:
    """A stem down from the label, a bar over the labels below, round at its ends, and a line down to each of them."""
    top = _y(box.level, levels) + LABEL_HEIGHT / 2
    bar = top + 10.0
    ends = [_y(each.level, levels) - LABEL_HEIGHT / 2 + (2.0 if each.node.is_leaf else 0.0) for each in box.below]
    first, *between, last = [each.x for each in box.below] if len(box.below) > 1 else [box.below[0].x] * 2
    path = f"M{box.x:.1f} {top:.1f}V{bar:.1f}"
    if not first <= box.x <= last:
        path += f"H{first if box.x < first else last:.1f}"
    if first == last:
        return f'<path d="{path}V{ends[0]:.1f}"/>'
    turn = min(6.0, (last - first) / 2)
    path += (
        f"M{first:.1f} {ends[0]:.1f}V{bar + turn:.1f}q0 {-turn:.1f} {turn:.1f} {-turn:.1f}"
        f"H{last - turn:.1f}q{turn:.1f} 0 {turn:.1f} {turn:.1f}V{ends[-1]:.1f}"
    )
    path += "".join(f"M{x:.1f} {bar:.1f}V{end:.1f}" for x, end in zip(between, ends[1:-1], strict=True))
    return f'<path d="{path}"/>'
