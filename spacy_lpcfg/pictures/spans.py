"""Drawings of spans: the brackets of a sentence as layers of bars under its words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.pictures.drawing import (
    LABEL_HEIGHT,
    draw_label,
    draw_text,
    label_width,
    scrolling,
    svg_element,
    text_width,
)

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Posteriors
    from spacy_lpcfg.trees.tree import Span

LIKELY = 0.5
_ROW = LABEL_HEIGHT + 4.0
_GAP = 12.0  # between words
_FIRST = 42.0  # vertical centre of the first layer


def spans_svg(words: Sequence[str], posteriors: Posteriors, min_probability: float = LIKELY) -> str:
    """Draw brackets as layers of bars under the words, the shortest on top, with their probabilities.

    words (sequence of str, (n_words,)): The words of the sentence.
    posteriors (Posteriors): Posterior probabilities of its brackets.
    min_probability (float): Brackets that are less probable are left out.
    RETURNS (str): An SVG element, which can also be saved as a file.
    """
    # reversed, since the outermost of brackets over the same words comes first but is drawn lowest
    likely = [(span, p) for span, p in reversed(posteriors.brackets.items()) if p >= min_probability]
    likely.sort(key=lambda item: item[0][1] - item[0][0])
    edges = _edges(words, likely)
    drawn = [
        draw_text((left + right) / 2, 14.0, word)
        for word, left, right in zip(words, edges[:-1], edges[1:], strict=True)
    ]
    depths = np.zeros(len(words), dtype=int)
    for (start, end, label), p in likely:
        depth = depths[start:end].max()
        depths[start:end] = depth + 1
        left, right = edges[start], edges[end]
        drawn.append(draw_label((left + right) / 2, _FIRST + depth * _ROW, right - left - 4.0, label, p))
    return svg_element(edges[-1], _FIRST + depths.max(initial=0) * _ROW, "".join(drawn), " ".join(words))


def spans_html(words: Sequence[str], posteriors: Posteriors, min_probability: float = LIKELY) -> str:
    """Return the SVG of `spans_svg` in an element that scrolls if the page is too narrow."""
    return scrolling(spans_svg(words, posteriors, min_probability))


def _edges(words: Sequence[str], likely: Sequence[tuple[Span, float]]) -> list[float]:
    """Return the left edge of each word and the right edge of the last, spaced so that each label fits its bar."""
    widths = np.array([text_width(word, 15.0) + _GAP for word in words])
    for (start, end, label), p in likely:
        missing = label_width(label, p) + 4.0 - widths[start:end].sum()
        widths[start:end] += max(missing, 0.0) / (end - start)
    return list(accumulate(widths.tolist(), initial=0.0))
