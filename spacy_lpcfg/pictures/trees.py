"""Trees drawn as SVG, as HTML and by characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from spacy_lpcfg.pictures.drawing import (
    draw_label,
    draw_text,
    scrolling,
    svg_element,
)
from spacy_lpcfg.pictures.tree_characters import ASCII, UNICODE, draw_tree
from spacy_lpcfg.pictures.tree_layout import GAP, WORD_BELOW, TreeBox, tree_boxes, tree_height
from spacy_lpcfg.trees.tree import Tree

_MOST_LEVELS = 250
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
    _check_depth(tree)
    boxes = tree_boxes(tree, span_scores, tag_scores)
    root = boxes[0]
    lines = "".join(_draw_lines(box) for box in boxes if box.below)
    nodes = "".join(_draw_node(box) for box in boxes)
    return svg_element(root.width, tree_height(root), f"<g {_LINE}>{lines}</g>{nodes}", " ".join(tree.words))


def tree_html(tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None) -> str:
    """The SVG of a tree in an element that scrolls where the page is too narrow; see `tree_svg`."""
    return scrolling(tree_svg(tree, span_scores, tag_scores))


def tree_text(tree: Tree, lines: Literal["unicode", "ascii"] = "unicode") -> str:
    """The tree in lines of characters of one width, for a terminal.

    lines (str): what its branches are drawn with: "unicode" has characters for it, "ascii" does with _ and |.
    RAISES (ValueError): If the tree has more than 250 levels.
    """
    _check_depth(tree)
    return "\n".join(draw_tree(tree, UNICODE if lines == "unicode" else ASCII))


def _check_depth(tree: Tree) -> None:
    depth = tree.fold(lambda node, below: 1 + max(below, default=0))
    if depth > _MOST_LEVELS:
        raise ValueError(f"A tree of {depth} levels is too deep to be drawn: draw the parts of it that matter.")


# The drawing -------------------------------------------------------------------------------------


def _draw_node(box: TreeBox) -> str:
    y = box.y
    if box.node.word is None:
        return draw_label(box.x, y, box.own - GAP, box.node.label, box.score)
    return draw_text(box.x, y, box.node.label, _TAG, box.score) + draw_text(box.x, y + WORD_BELOW, box.node.word)


def _draw_lines(box: TreeBox) -> str:
    """A stem down from the label, a bar over the labels below, round at its ends, and a line down to each of them."""
    top, bar = box.stem
    ends = [each.top for each in box.below]
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
