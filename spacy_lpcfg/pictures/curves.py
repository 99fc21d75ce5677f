"""Plots of the surprisal of words, of the progress of learning by iteration, and of calibration, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from spacy_lpcfg.pictures.drawing import (
    BLUE,
    COLOURS,
    draw_key,
    draw_text,
    draw_turned,
    is_right_to_left,
    svg_element,
    text_width,
)
from spacy_lpcfg.pictures.plots import Axis, Point, draw_line, draw_points, draw_x_axis, draw_y_axis

if TYPE_CHECKING:
    from spacy_lpcfg.evaluation.calibration import Reliability

END = "(end)"
_BAR, _TALLEST, _NUMBER = 42.0, 180.0, 20.0  # pixels: width of a bar with its gap, greatest height, room for a number
_AXIS = 46.0  # pixels left of the bars, for the name and the numbers of the axis
_LEAST_WIDTH = 240.0  # pixels, for the colour key
_QUANTITIES = {
    "log_likelihood": "log-likelihood (nats)",
    "f1": "F1 on held-out trees",
    "dev": "held-out nats a word",
}
_COUNTERS = ("iteration", "epoch")
_LEFT, _WIDTH, _HEIGHT, _GAP = 100.0, 420.0, 180.0, 20.0  # pixels of a panel, its axis to the left, and what is between
_KEY_ROW = 20.0  # pixels
_PERFECT = 'stroke-dasharray="6 4" stroke-opacity=".6"'

Steps = Sequence[Any]
Curve = tuple[str, dict[str, list[Point]]]


def surprisal_svg(words: Sequence[str], bits: Sequence[float] | np.ndarray) -> str:
    """Draw the surprisal of each word of a sentence, and of its end, as a bar chart.

    words (sequence of str, (n_words,)): The words of the sentence.
    bits (float, (n_words + 1,)): Surprisal in bits of each word given the words before it, and of the end. No bar is
        drawn where it is unknown (nan) or infinite (the prefix has no probability).
    RETURNS (str): An SVG element, which can also be saved as a file.
    RAISES (ValueError): If the number of bits is not n_words + 1.
    """
    if len(bits) != len(words) + 1:
        raise ValueError(f"Expected bits of {len(words)} words and of the sentence's end, got {len(bits)} numbers.")
    names = [*words, END]
    finite = np.where(np.isfinite(bits), bits, 0.0)
    axis = Axis(0.0, max(finite.max(), 1.0), _NUMBER + _TALLEST, _NUMBER)
    places = [_AXIS + (i + 0.5) * _BAR for i in range(len(names))]
    if is_right_to_left(words):
        places.reverse()
    bars = [
        _draw_bar(x, value, axis.start - axis.place(height), BLUE if i < len(words) else "currentColor")
        + draw_turned(x, _NUMBER + _TALLEST + 10.0, name, 45)
        for i, (x, name, value, height) in enumerate(zip(places, names, bits, finite, strict=True))
    ]
    slant = 0.71 * max(text_width(name, 15.0) for name in names) + 24.0
    width, height = _AXIS + len(names) * _BAR + slant, _NUMBER + _TALLEST + slant + 16.0
    key = draw_key(4.0, height - 8.0, (("word", BLUE, 0.8), ("end of the sentence", "currentColor", 0.8)))
    drawn = "".join([draw_y_axis(axis, _AXIS, width - slant, "surprisal (bits)"), *bars, key])
    return svg_element(max(width, _LEAST_WIDTH), height, drawn, f"Surprisal in bits: {' '.join(names)}")


def _draw_bar(x: float, value: float, height: float, colour: str) -> str:
    number = f"{value:.1f}" if np.isfinite(value) else "\N{INFINITY}" if value > 0 else "?"
    top = _NUMBER + _TALLEST - height
    return (
        f'<rect x="{x - _BAR * 0.4:.1f}" y="{top:.1f}" width="{_BAR * 0.8:.1f}" '
        f'height="{height:.1f}" fill="{colour}" fill-opacity=".8"/>' + draw_text(x, top - 8.0, number, 'font-size="11"')
    )


def learning_svg(fits: Mapping[str, Steps]) -> str:
    """Draw the progress of learning by iteration: log-likelihood, F1 and held-out loss, in one panel each.

    fits (mapping of str to steps): The steps of each fit by its name, drawn as one curve: the objects that learners
        pass to `on_step`, or the records that `spacy-lpcfg learn` stores under "fit" in a pipeline's meta. A fit of
        several networks has a curve for each.
    RETURNS (str): An SVG element, which can also be saved as a file.
    RAISES (ValueError): If no step has any of these quantities.
    """
    curves = [curve for name, steps in fits.items() for curve in _curves(name, list(map(_by_name, steps)))]
    drawn = [quantity for quantity in _QUANTITIES if any(quantity in points for _, points in curves)]
    if not drawn:
        raise ValueError(
            f"Nothing to draw: no step of {list(fits)} has a number for any of {list(_QUANTITIES)}. Steps are kept by "
            "learners by EM, such as pivot, and by belief networks."
        )
    x = _axis_of([at for _, points in curves for at, _ in chain(*points.values())], _LEFT, _LEFT + _WIDTH)
    panels = [_draw_quantity(x, _GAP + i * (_HEIGHT + _GAP), quantity, curves) for i, quantity in enumerate(drawn)]
    bottom = len(drawn) * (_HEIGHT + _GAP)
    numbers = draw_x_axis(x, bottom, bottom, "iteration", only_whole=True)
    bottom += 50.0
    keys = [
        draw_key(_LEFT, bottom + i * _KEY_ROW, [(name, colour, 1.0)])
        for i, ((name, _), colour) in enumerate(zip(curves, cycle(COLOURS), strict=False))
    ]
    names = [name for name, _ in curves]
    width = _LEFT + max(_WIDTH, *(30.0 + text_width(name, 11.0) for name in names)) + _GAP
    content = "".join([*panels, numbers, *keys])
    return svg_element(width, bottom + len(keys) * _KEY_ROW, content, f"Learning of {', '.join(names)}")


def _axis_of(values: Sequence[float], start: float, end: float) -> Axis:
    """Return an axis from the pixel `start` to the pixel `end` that covers `values`, with a margin at both ends."""
    low, high = min(values), max(values)
    margin = 0.04 * (high - low) or 0.5
    return Axis(low - margin, high + margin, start, end)


def _draw_quantity(x: Axis, top: float, quantity: str, curves: Sequence[Curve]) -> str:
    """Return the SVG of the panel of one quantity, with its vertical axis, but without the numbers below it."""
    of_quantity = [points.get(quantity, []) for _, points in curves]
    y = _axis_of([value for points in of_quantity for _, value in points], top + _HEIGHT, top)
    drawn = [draw_y_axis(y, x.start, x.end, _QUANTITIES[quantity])]
    for points, colour in zip(of_quantity, cycle(COLOURS), strict=False):
        drawn += [draw_line(x, y, points, colour), draw_points(x, y, points, colour)] if points else []
    return "".join(drawn)


def calibration_svg(curve: Reliability) -> str:
    """Draw a reliability diagram: accuracy by posterior probability, above a histogram of the number of constituents.

    curve (Reliability): The result of `spacy_lpcfg.evaluation.calibration.reliability`.
    RETURNS (str): An SVG element, which can also be saved as a file.
    RAISES (ValueError): If there are no constituents.
    """
    filled = curve.counts > 0
    if not filled.any():
        raise ValueError("Nothing to draw: there are no brackets. Give trees with constituents.")
    places, counts = curve.confidences[filled].tolist(), curve.counts[filled].tolist()
    title, top, size = f"{curve.counts.sum():,} brackets, calibration error {curve.expected_error:.3f}", 30.0, 300.0
    x, y = Axis(0.0, 1.0, _LEFT, _LEFT + size), Axis(0.0, 1.0, top + size, top)
    points = list(zip(places, curve.accuracies[filled].tolist(), strict=True))
    bottom = top + size + _GAP + 100.0
    below = Axis(0.5, 1.1 * max(counts), bottom, top + size + _GAP, is_log=True)
    bars = [
        f'<rect x="{x.place(at) - 7.5:.1f}" y="{below.place(count):.1f}" width="15" '
        f'height="{bottom - below.place(count):.1f}" fill="{BLUE}" fill-opacity=".8"/>'
        for at, count in zip(places, counts, strict=True)
    ]
    drawn = [
        draw_text(_LEFT + size / 2, 12.0, title, 'font-size="13"'),
        draw_y_axis(y, x.start, x.end, "share that is right"),
        draw_line(x, y, [(0.0, 0.0), (1.0, 1.0)], "currentColor", _PERFECT),
        draw_line(x, y, points, BLUE),
        draw_points(x, y, points, BLUE),
        draw_y_axis(below, x.start, x.end, "brackets"),
        *bars,
        draw_x_axis(x, top, bottom, "posterior probability"),
        draw_key(_LEFT, bottom + 55.0, [("observed", BLUE, 1.0), ("perfect (dashed)", "currentColor", 0.6)]),
    ]
    return svg_element(_LEFT + size + _GAP, bottom + 70.0, "".join(drawn), title)


def _by_name(step: Any) -> Mapping[str, Any]:
    return step if isinstance(step, Mapping) else step._asdict()


def _curves(name: str, steps: list[Mapping[str, Any]]) -> list[Curve]:
    """Return the curves of a fit, each a name and its points by quantity; each network or grammar has its own curve."""
    curves: dict[str, dict[str, list[Point]]] = {}
    several = [kind for kind in ("network", "grammar") if len({step.get(kind) for step in steps}) > 1]
    for step in steps:
        points = curves.setdefault(", ".join([name, *(f"{kind} {step.get(kind)}" for kind in several)]), {})
        at = next((step[counter] for counter in _COUNTERS if counter in step), None)
        for quantity in _QUANTITIES:
            value = step.get(quantity)
            if at is not None and value is not None and np.isfinite(value):
                points.setdefault(quantity, []).append((at, value))
    return list(curves.items())
