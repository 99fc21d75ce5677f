"""Heat maps of a chart: the posterior probability that each span of a sentence is a constituent."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import BLUE, draw_text, draw_turned, svg_element, text_width
from spacy_lpcfg.pictures.figures import new_figure
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spacy_lpcfg.parsing.result import Posteriors

_LEAST_NAMED = 0.1
_MOST_NAMED = 30  # cells of longer sentences are too small for names
_INCHES = 0.55  # side of a cell
_SIDE = 48.0  # pixels of a cell with names
_MARGIN = 16.0  # pixels between words and cells
_LEAST_WIDTH = 130.0  # pixels, for the caption
_MOST_WORDS = 400  # time and memory grow with the square of this


def chart_figure(words: Sequence[str], posteriors: Posteriors) -> Figure:
    """Draw the chart of a sentence as a matplotlib heat map.

    A span has a cell in the row of its first word and the column of its last word, the darker the more probable its
    most probable bracket. The cell lists the labels with a probability of 0.1 or more, in the order of the brackets.
    The most probable tag is written below each word.

    words (sequence of str, (n_words,)): The words of the sentence, at most 400.
    posteriors (Posteriors): Posterior probabilities of its brackets and tags.
    RAISES (ImportError): If matplotlib is missing.
        (ValueError): If the number of words is not that of the posteriors, or is more than 400.
    """
    _check_words(words, posteriors)
    n = len(words)
    side = 2.0 + (_INCHES if n <= _MOST_NAMED else _INCHES / 2) * n
    figure = new_figure(side + 1.0, side)
    axes = figure.add_subplot()
    table = span_table(n, posteriors)
    image = axes.imshow(table, cmap=_shades(), vmin=0.0, vmax=1.0, interpolation="none")
    figure.colorbar(image, ax=axes, label="posterior probability", shrink=0.8)
    shown = [visible(word) for word in words]
    tagged = [f"{word}\n{visible(_likeliest(tags))}" for word, tags in zip(shown, posteriors.tags, strict=True)]
    axes.set_xticks(range(n), tagged, rotation=90, parse_math=False)
    axes.set_yticks(range(n), shown, parse_math=False)
    axes.set_xlabel("last word")
    axes.set_ylabel("first word")
    if n <= _MOST_NAMED:
        for (start, end), names in _names(posteriors).items():
            axes.text(
                end - 1, start, "\n".join(names), ha="center", va="center", fontsize=7,
                parse_math=False,
            )  # fmt: skip
    return figure


def chart_svg(words: Sequence[str], posteriors: Posteriors) -> str:
    """Return the chart of `chart_figure` as an SVG element, without matplotlib. Tooltips of cells list the brackets.

    words (sequence of str, (n_words,)): The words of the sentence, at most 400.
    posteriors (Posteriors): Posterior probabilities of its brackets and tags.
    RAISES (ValueError): If the number of words is not that of the posteriors, or is more than 400.
    """
    _check_words(words, posteriors)
    n = len(words)
    side = _SIDE if n <= _MOST_NAMED else _SIDE / 2
    names = _names(posteriors)
    left = max((text_width(word, 15.0) for word in words), default=0.0) + _MARGIN
    table = span_table(n, posteriors)
    cells = [
        _draw_cell(left + end * side, start * side, side, table[start, end], names.get((start, end + 1), []))
        for start in range(n)
        for end in range(start, n)
    ]
    rows = [
        draw_text(left - _MARGIN / 2, (row + 0.5) * side, word, 'text-anchor="end"') for row, word in enumerate(words)
    ]
    columns, below = [], 0.0
    for column, (word, tags) in enumerate(zip(words, posteriors.tags, strict=True)):
        x, y = left + (column + 0.5) * side, n * side + _MARGIN / 2
        columns += [draw_turned(x, y, word, 90), draw_turned(x, y + text_width(f"{word} ", 15.0), _likeliest(tags), 90)]
        below = max(below, text_width(f"{word} {_likeliest(tags)}", 15.0))
    height = n * side + below + 2 * _MARGIN
    caption = draw_text(4.0, height - _MARGIN / 2, "posterior probability", 'font-size="11" text-anchor="start"')
    drawn = "".join([*cells, *rows, *columns, caption])
    return svg_element(max(left + n * side, _LEAST_WIDTH), height, drawn, " ".join(words))


def _draw_cell(x: float, y: float, side: float, p: float, names: Sequence[str]) -> str:
    """Return a square whose opacity is the probability, with names in its tooltip and, if there is room, inside it."""
    lines = names if side == _SIDE else ()
    middle = y + side / 2 - 11.0 * (len(lines) - 1) / 2
    texts = [draw_text(x + side / 2, middle + 11.0 * i, line, 'font-size="9"') for i, line in enumerate(lines)]
    title = f"<title>{escape(', '.join(names))}</title>" if names else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" fill="{BLUE}" '
        f'fill-opacity="{0.9 * p:.2f}" stroke="currentColor" stroke-opacity=".15">{title}</rect>{"".join(texts)}'
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
    """Return the probability of the most probable bracket over the words from i to j, both included.

    RETURNS (float64, (n_words, n_words)): nan for j < i; 0 where pruning left no bracket.
    """
    table = np.where(np.tri(n_words, k=-1, dtype=bool), np.nan, 0.0)
    for (start, end, _), p in posteriors.brackets.items():
        table[start, end - 1] = max(table[start, end - 1], p)
    return table


def _shades() -> Any:
    """Return a colormap from transparent to a blue on which both black and white text can be read."""
    colours = extra("matplotlib.colors", "A figure")
    return colours.LinearSegmentedColormap.from_list("shades", [(*colours.to_rgb(BLUE), alpha) for alpha in (0.0, 0.9)])


def _names(posteriors: Posteriors) -> dict[tuple[int, int], list[str]]:
    """Return the labels of each span that have a probability of 0.1 or more, each with it, such as "NP .93"."""
    names: dict[tuple[int, int], list[str]] = {}
    for (start, end, label), p in posteriors.brackets.items():
        if p >= _LEAST_NAMED:
            names.setdefault((start, end), []).append(f"{visible(label)} {f'{p:.2f}'.lstrip('0')}")
    return names


def _likeliest(tags: dict[str, float]) -> str:
    return max(tags, key=tags.__getitem__, default="")
