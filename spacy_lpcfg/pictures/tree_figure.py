"""Draw trees with matplotlib, for raster formats such as PNG; the drawing equals that of `tree_svg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import LABEL_HEIGHT, label_colour, label_opacity, score_text
from spacy_lpcfg.pictures.figures import new_figure
from spacy_lpcfg.pictures.tree_layout import GAP, WORD_BELOW, TreeBox, tree_boxes, tree_height
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCH = 96.0  # pixels
_POINT = 0.75  # points in a pixel
_BASELINE = 4.6  # pixels from the centre of a text down to its baseline
_NUMBER = 25.0  # pixels that the number of a score takes


def tree_figure(
    tree: Tree, span_scores: Sequence[float] | None = None, tag_scores: Sequence[float] | None = None
) -> Figure:
    """Draw a tree as a matplotlib figure, in the colours and with the probabilities of `tree_svg`.

    tree (Tree): The tree.
    span_scores, tag_scores (sequence of float, or None): Probabilities of brackets and tags, as for `tree_svg`.
    RAISES (ImportError): If matplotlib is missing.
        (ValueError): If the number of scores differs from that of brackets or tags.
    """
    boxes = tree_boxes(tree, span_scores, tag_scores)
    width, height = boxes[0].width, tree_height(boxes[0])
    figure = new_figure(width / _INCH, height / _INCH)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for box in boxes:
        _draw_lines(axes, box)
        if box.node.word is None:
            _draw_label(axes, box)
        else:
            _draw_text(axes, box.x, box.y, box.node.label, 12.0, box.score, alpha=0.75)
            _draw_text(axes, box.x, box.y + WORD_BELOW, box.node.word, 15.0)
    return figure


def _draw_lines(axes: Axes, box: TreeBox) -> None:
    top, bar = box.stem
    for below in box.below:
        axes.plot([box.x, box.x, below.x, below.x], [top, bar, bar, below.top], color="0.6", linewidth=_POINT)


def _draw_label(axes: Axes, box: TreeBox) -> None:
    colour, width = label_colour(box.node.label), box.own_width - GAP
    patches = extra("matplotlib.patches", "A figure")
    for fill in ({"facecolor": colour, "alpha": label_opacity(box.score), "linewidth": 0}, {"facecolor": "none"}):
        axes.add_patch(
            patches.FancyBboxPatch(
                (box.x - width / 2, box.y - LABEL_HEIGHT / 2),
                width,
                LABEL_HEIGHT,
                boxstyle="round,pad=0,rounding_size=6",
                **{"edgecolor": colour, "linewidth": _POINT, **fill},
            )
        )
    _draw_text(axes, box.x, box.y, box.node.label, 13.0, box.score, fontweight="bold")


def _draw_text(
    axes: Axes, x: float, y: float, text: str, size: float, score: float | None = None, **settings: Any
) -> None:
    """Draw a line of text centred at a point, followed by a small number if there is a score."""
    number = score_text(score)
    middle = x - _NUMBER / 2 if number else x
    settings |= {"fontsize": size * _POINT, "ha": "center", "va": "baseline", "parse_math": False}
    drawn = axes.text(middle, y + _BASELINE, visible(text), **settings)
    if number:
        axes.annotate(
            number, (1, 0), (3, 0), xycoords=drawn, textcoords="offset points", va="bottom", fontsize=10 * _POINT
        )
