"""Draw trees as SVG, HTML or text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from spacy_lpcfg.checks import check_one_of
from spacy_lpcfg.pictures.drawing import (
    described,
    draw_label,
    draw_text,
    draw_turned,
    scrolling,
    svg_element,
)
from spacy_lpcfg.pictures.tree_characters import ASCII, UNICODE, draw_tree
from spacy_lpcfg.pictures.tree_layout import GAP, WORD_BELOW, TreeBox, tree_layout
from spacy_lpcfg.trees.tree import Tree

_MOST_LEVELS = 250
_CHARACTERS = {"unicode": UNICODE, "ascii": ASCII}
_TAG = 'font-size="12" fill-opacity=".75"'
_LINE = 'fill="none" stroke="currentColor" stroke-opacity=".4"'


def tree_svg(tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None) -> str:
    """Draw a tree as SVG, with all words on one line below their tags.

    Words of right-to-left scripts go from right to left. If the drawing would be wider than 1,600 pixels, words are
    rotated. Labels are coloured by category: clauses; noun, verb and prepositional phrases; adjective and adverb
    phrases; all other labels.

    tree (Tree): The tree, of at most 250 levels.
    span_scores (sequence of float, (n_spans,), or None): Probabilities of `tree.spans()`, shown as shades and numbers;
        nan if unknown.
    tag_scores (sequence of float, (n_words,), or None): Probabilities of the tags, shown as numbers if less than 0.995;
        nan if unknown.
    RETURNS (str): An SVG element, which can also be saved as a file.
    RAISES (ValueError): If the number of scores differs from the number of constituents or tags, or the tree is too
        deep.
    """
    _check_depth(tree)
    boxes, width, height, is_turned = tree_layout(tree, span_scores, tag_scores)
    lines = "".join(_draw_lines(box) for box in boxes if box.below)
    nodes = "".join(_draw_node(box, is_turned=is_turned) for box in boxes)
    return svg_element(width, height, f"<g {_LINE}>{lines}</g>{nodes}", " ".join(tree.words))


def tree_html(tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None) -> str:
    """Return the SVG of `tree_svg` in an HTML element that scrolls sideways if the page is too narrow.

    Arguments and errors as for `tree_svg`.
    """
    return scrolling(tree_svg(tree, span_scores, tag_scores))


def tree_text(tree: Tree, lines: Literal["unicode", "ascii"] = "unicode") -> str:
    """Draw a tree as text in a monospaced font, for a terminal.

    tree (Tree): The tree, of at most 250 levels.
    lines (str): "unicode" for box-drawing characters, "ascii" for _ and |.
    RAISES (ValueError): If the tree has more than 250 levels, or `lines` is neither.
    """
    _check_depth(tree)
    check_one_of("a kind of lines", lines, _CHARACTERS)
    return "\n".join(draw_tree(tree, _CHARACTERS[lines]))


def _check_depth(tree: Tree) -> None:
    depth = tree.fold(lambda node, below: 1 + max(below, default=0))
    if depth > _MOST_LEVELS:
        raise ValueError(f"A tree of {depth} levels is too deep to be drawn: draw the subtrees that matter.")


# SVG elements ------------------------------------------------------------------------------------


def _draw_node(box: TreeBox, *, is_turned: bool) -> str:
    x, y, label, word = box.x, box.y, box.node.label, box.node.word
    if word is None:
        return draw_label(x, y, box.own_width - GAP, label, box.score)
    below = draw_turned(x, y + WORD_BELOW - 8.0, word, 90) if is_turned else draw_text(x, y + WORD_BELOW, word)
    return described(label, draw_text(x, y, label, _TAG, box.score)) + below


def _draw_lines(box: TreeBox) -> str:
    """Draw a stem down from the label, a bar with rounded ends, and a line down to each child."""
    top, bar = box.stem
    ends = [child.top for child in box.below]
    first, *between, last = [child.x for child in box.below] if len(box.below) > 1 else [box.below[0].x] * 2
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
