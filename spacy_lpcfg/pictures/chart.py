"""Heat maps of a chart: the posterior probability that each span of a sentence is a constituent."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.pictures.drawing import (
    BLUE,
    draw_key,
    draw_text,
    draw_turned,
    is_right_to_left,
    svg_element,
    text_width,
)
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Posteriors

_LEAST_NAMED = 0.1
_LEAST_DRAWN = 0.005  # probability of a cell
_MOST_NAMED = 30  # cells of longer sentences are too small for names
_SIDE = 48.0  # pixels of a cell with names
_MARGIN = 16.0  # pixels between words and cells
_AXIS = 22.0  # pixels for the name of an axis
_LEAST_WIDTH = 210.0  # pixels, for the colour key
_LINE = 20.0  # pixels, of the colour key
_AXIS_NAME = 'font-size="12"'
_MOST_WORDS = 400  # time and memory grow with the square of this


def chart_svg(words: Sequence[str], posteriors: Posteriors) -> str:
    """Draw the posterior probabilities of the spans of a sentence as a heat map.

    A span has a cell in the row of its first word and the column of its last word. The cell is darker for a larger
    probability of the span's most probable label. It lists the labels with a probability of 0.1 or more; in sentences
    of more than 30 words only its tooltip does. Below each column stands the word with its most probable tag. Columns
    go from right to left for words of right-to-left scripts.

    words (sequence of str, (n_words,)): The words of the sentence, at most 400.
    posteriors (Posteriors): Posterior probabilities of the labelled spans and of the tags.
    RETURNS (str): An SVG element, which can also be saved as a file.
    RAISES (ValueError): If the posteriors are for another number of words, or there are more than 400 words.
    """
    _check_words(words, posteriors)
    n, is_reversed = len(words), is_right_to_left(words)
    side = _SIDE if n <= _MOST_NAMED else _SIDE / 2
    aside = max((text_width(word, 15.0) for word in words), default=0.0) + _MARGIN + _AXIS
    left = 0.0 if is_reversed else aside
    columns = [left + side * (n - 1 - i if is_reversed else i) for i in range(n)]
    names, table = _names(posteriors), span_table(n, posteriors)
    cells = [
        _draw_cell(columns[end], start * side, side, table[start, end], names.get((start, end + 1), []))
        for start in range(n)
        for end in range(start, n)
        if table[start, end] >= _LEAST_DRAWN
    ]
    at, anchor = (n * side + _MARGIN / 2, "start") if is_reversed else (left - _MARGIN / 2, "end")
    rows = [draw_text(at, (i + 0.5) * side, word, f'text-anchor="{anchor}"') for i, word in enumerate(words)]
    bottom, tagged = _draw_columns([x + side / 2 for x in columns], n * side, words, posteriors)
    width = max(n * side + aside, _LEAST_WIDTH)
    axes = [
        draw_turned(width - _AXIS / 2 if is_reversed else _AXIS / 2, n * side / 2, "first word", -90, _AXIS_NAME),
        draw_text(left + n * side / 2, bottom + _AXIS / 2, "last word", _AXIS_NAME),
    ]
    grid = _draw_grid(left + n * side if is_reversed else left, -side if is_reversed else side, n)
    drawn = "".join([grid, *cells, *rows, *tagged, *axes, _draw_key(bottom + _AXIS)])
    return svg_element(width, bottom + _AXIS + 2 * _LINE, drawn, " ".join(words))


def _draw_grid(x: float, step: float, n: int) -> str:
    """Return the SVG of the grid lines of a triangular chart of n words.

    x (float): The outer edge of the first column.
    step (float): Pixels from a column to the next, negative from right to left.
    """
    side = abs(step)
    rows = (f"M{x + step * max(i - 1, 0):.1f} {i * side:.1f}H{x + step * n:.1f}" for i in range(n + 1))
    columns = (f"M{x + step * i:.1f} 0V{min(i + 1, n) * side:.1f}" for i in range(n + 1))
    return f'<path d="{"".join([*rows, *columns])}" fill="none" stroke="currentColor" stroke-opacity=".15"/>'


def _draw_columns(
    centres: Sequence[float], top: float, words: Sequence[str], posteriors: Posteriors
) -> tuple[float, list[str]]:
    """Draw each word and its most probable tag below its column; return the lower end of these texts, and their SVG."""
    drawn, longest = [], 0.0
    for x, word, tags in zip(centres, words, posteriors.tags, strict=True):
        y, tag = top + _MARGIN / 2, max(tags, key=tags.__getitem__, default="")
        drawn += [draw_turned(x, y, word, 90), draw_turned(x, y + text_width(f"{word} ", 15.0), tag, 90)]
        longest = max(longest, text_width(f"{word} {tag}", 15.0))
    return top + longest + _MARGIN, drawn


def _draw_key(top: float) -> str:
    squares = [(f"{p:g}", BLUE, _opacity(p)) for p in (0.0, 0.25, 0.5, 0.75, 1.0)]
    caption = draw_text(4.0, top + _LINE / 2, "posterior probability", 'font-size="11" text-anchor="start"')
    return caption + draw_key(4.0, top + 1.5 * _LINE, squares)


def _opacity(p: float) -> float:
    return 0.9 * p


def _draw_cell(x: float, y: float, side: float, p: float, names: Sequence[str]) -> str:
    """Return the SVG of a cell, more opaque for a larger `p`, with names in its tooltip and, if large, inside it."""
    lines = names if side == _SIDE else ()
    middle = y + side / 2 - 11.0 * (len(lines) - 1) / 2
    texts = [draw_text(x + side / 2, middle + 11.0 * i, line, 'font-size="9"') for i, line in enumerate(lines)]
    title = f"<title>{escape(', '.join(names))}</title>" if names else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" fill="{BLUE}" '
        f'fill-opacity="{_opacity(p):.2f}">{title}</rect>{"".join(texts)}'
    )


def _check_words(words: Sequence[str], posteriors: Posteriors) -> None:
    if len(words) > _MOST_WORDS:
        raise ValueError(
            f"A chart has at most {_MOST_WORDS} words, but a sentence has {len(words):,}: choose others by --sentence, "
            "or another picture, such as its spans."
        )
    if len(words) != len(posteriors.tags):
        raise ValueError(f"Expected posteriors of {len(words)} words, got those of {len(posteriors.tags)}.")


def span_table(n_words: int, posteriors: Posteriors) -> np.ndarray:
    """Return the probability of the most probable label of each span of words i to j, both included.

    RETURNS (float64, (n_words, n_words)): The probability at (i, j); nan for j < i, and 0 for a span without any label.
    """
    table = np.where(np.tri(n_words, k=-1, dtype=bool), np.nan, 0.0)
    for (start, end, _), p in posteriors.brackets.items():
        table[start, end - 1] = max(table[start, end - 1], p)
    return table


def _names(posteriors: Posteriors) -> dict[tuple[int, int], list[str]]:
    """Return, for each span, its labels with a probability of 0.1 or more as texts such as "NP .93"."""
    names: dict[tuple[int, int], list[str]] = {}
    for (start, end, label), p in posteriors.brackets.items():
        if p >= _LEAST_NAMED:
            names.setdefault((start, end), []).append(f"{visible(label)} {f'{p:.2f}'.lstrip('0')}")
    return names
