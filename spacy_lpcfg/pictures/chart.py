"""The chart of a sentence as a heat map: how likely each of its spans is a constituent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import BLUE
from spacy_lpcfg.pictures.figures import new_figure
from spacy_lpcfg.pictures.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spacy_lpcfg.parsing.result import Posteriors

_LEAST_NAMED = 0.1
_MOST_NAMED = 30  # words, above which cells are too small for names
_INCHES = 0.55  # of a cell
_MOST_WORDS = 400  # of a chart, whose time and memory grow with their square


def chart_figure(words: Sequence[str], posteriors: Posteriors) -> Figure:
    """A cell for each span, from its first word (row) to its last (column), as dark as its likeliest bracket is likely.

    A cell names the labels that have a probability of 0.1 or more over it, in the order of the brackets. Below each
    word stands its likeliest tag.

    words (sequence of str): (n_words,)
    posteriors (Posteriors): of the sentence
    RAISES (ImportError): Without matplotlib. (ValueError): If the posteriors are of another number of words, or these
        are more than 400.
    """
    if len(words) > _MOST_WORDS:
        raise ValueError(
            f"A chart has at most {_MOST_WORDS} words, but a sentence has {len(words):,}: choose others by --sentence, "
            "or another picture, such as its spans."
        )
    if len(words) != len(posteriors.tags):
        raise ValueError(f"Expected posteriors of {len(words)} words, got those of {len(posteriors.tags)}.")
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


def span_table(n_words: int, posteriors: Posteriors) -> np.ndarray:
    """Probability of the likeliest bracket over the words from i to j, both included.

    RETURNS (float64, (n_words, n_words)): nan for j < i; 0 where pruning left no bracket
    """
    table = np.where(np.tri(n_words, k=-1, dtype=bool), np.nan, 0.0)
    for (start, end, _), p in posteriors.brackets.items():
        table[start, end - 1] = max(table[start, end - 1], p)
    return table


def _shades() -> Any:
    """From nothing to a blue on which both black and white text can be read."""
    colours = extra("matplotlib.colors", "A figure")
    return colours.LinearSegmentedColormap.from_list("shades", [(*colours.to_rgb(BLUE), alpha) for alpha in (0.0, 0.9)])


def _names(posteriors: Posteriors) -> dict[tuple[int, int], list[str]]:
    """The labels of each span that are likely enough to be named, in the order of the brackets."""
    names: dict[tuple[int, int], list[str]] = {}
    for (start, end, label), p in posteriors.brackets.items():
        if p >= _LEAST_NAMED:
            names.setdefault((start, end), []).append(f"{visible(label)} {f'{p:.2f}'.lstrip('0')}")
    return names


def _likeliest(tags: dict[str, float]) -> str:
    return max(tags, key=tags.__getitem__, default="")
