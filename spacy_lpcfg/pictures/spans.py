"""Drawings of constituents as layers of labelled bars under the words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.pictures.drawing import (
    LABEL_HEIGHT,
    MAX_WIDTH,
    TURNED_WIDTH,
    draw_label,
    draw_text,
    draw_turned,
    is_right_to_left,
    label_width,
    scrolling,
    svg_element,
    text_width,
)

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Posteriors
    from spacy_lpcfg.trees.tree import Span

_LIKELY = 0.5
_ROW = LABEL_HEIGHT + 4.0
_GAP = 12.0  # between words
_FIRST = 42.0  # vertical centre of the first layer


def spans_svg(words: Sequence[str], posteriors: Posteriors) -> str:
    """Draw constituents as layers of bars under the words, the shortest on top, with their probabilities.

    words (sequence of str, (n_words,)): The words of the sentence; in long sentences they are rotated.
    posteriors (Posteriors): Posterior probabilities of the labelled spans; those below 0.5 are left out.
    RETURNS (str): An SVG element, which can also be saved as a file.
    """
    # reversed, since the outermost of brackets over the same words comes first but is drawn lowest
    likely = [(span, p) for span, p in reversed(posteriors.brackets.items()) if p >= _LIKELY]
    likely.sort(key=lambda item: item[0][1] - item[0][0])
    widths = [text_width(word, 15.0) for word in words]
    edges, top = _edges(widths, likely), _FIRST
    is_turned = edges[-1] > MAX_WIDTH
    if is_turned:
        edges, top = _edges([TURNED_WIDTH] * len(words), likely), max(widths) + _ROW
    if is_right_to_left(words):
        edges = [edges[-1] - edge for edge in edges]
    centres = [(left + right) / 2 for left, right in pairwise(edges)]
    drawn = [
        draw_turned(x, 4.0, word, 90) if is_turned else draw_text(x, 14.0, word)
        for x, word in zip(centres, words, strict=True)
    ]
    depths = np.zeros(len(words), dtype=int)
    for (start, end, label), p in likely:
        depth = depths[start:end].max()
        depths[start:end] = depth + 1
        middle, width = (edges[start] + edges[end]) / 2, abs(edges[end] - edges[start]) - 4.0
        drawn.append(draw_label(middle, top + depth * _ROW, width, label, p))
    height = top + depths.max(initial=0) * _ROW
    return svg_element(max(edges), height, "".join(drawn), " ".join(words))


def spans_html(words: Sequence[str], posteriors: Posteriors) -> str:
    """Return the SVG of `spans_svg` in an HTML element that scrolls sideways if the page is too narrow."""
    return scrolling(spans_svg(words, posteriors))


def _edges(words: Sequence[float], likely: Sequence[tuple[Span, float]]) -> list[float]:
    """Return the left edge of each word and the right edge of the last one, in pixels, so that each label fits its bar.

    words (sequence of float, (n_words,)): The widths of the words in pixels.
    likely (sequence of (Span, float)): The labelled spans to draw, with their probabilities, the shortest first.
    """
    widths = np.array(words) + _GAP
    for (start, end, label), p in likely:
        missing = label_width(label, p) + 4.0 - widths[start:end].sum()
        widths[start:end] += max(missing, 0.0) / (end - start)
    return list(accumulate(widths.tolist(), initial=0.0))
