"""Plots of surprisal by word, of learners' progress by iteration, and of calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from spacy_lpcfg.pictures.figures import new_figure
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spacy_lpcfg.evaluation.calibration import Reliability

END = "(end)"
_BAR, _TALLEST, _NUMBER = 42.0, 180.0, 20.0  # pixels: width of a bar with its gap, greatest height, room for a number
_AXIS = 46.0  # pixels left of the bars, for the name and the numbers of the axis
_LEAST_WIDTH = 240.0  # pixels, for the colour key
_MOST_LINES = 6  # of the axis
_QUANTITIES = {
    "log_likelihood": "log-likelihood (nats)",
    "f1": "F1 on held-out trees",
    "dev": "held-out log-likelihood\na word (nats)",
}
_COUNTERS = ("iteration", "epoch")

Steps = Sequence[Any]


def surprisal_svg(words: Sequence[str], bits: Sequence[float] | np.ndarray) -> str:
    """Draw the surprisal of each word of a sentence, and of its end, as a bar chart in an SVG element.

    words (sequence of str, (n_words,)): The words of the sentence.
    bits (float, (n_words + 1,)): Surprisal in bits of each word given those before it, and of the end. No bar is drawn
        where it is unknown (nan) or infinite (the prefix has no probability).
    RAISES (ValueError): If the number of bits is not n_words + 1.
    """
    _check_bits(words, bits)
    names = [*words, END]
    finite = np.where(np.isfinite(bits), bits, 0.0)
    most = max(finite.max(), 1.0)
    places = [_AXIS + (i + 0.5) * _BAR for i in range(len(names))]
    if is_right_to_left(words):
        places.reverse()
    bars = [
        _draw_bar(x, value, _TALLEST * height / most, BLUE if i < len(words) else "currentColor")
        + draw_turned(x, _NUMBER + _TALLEST + 10.0, name, 45)
        for i, (x, name, value, height) in enumerate(zip(places, names, bits, finite, strict=True))
    ]
    slant = 0.71 * max(text_width(name, 15.0) for name in names) + 24.0
    width, height = _AXIS + len(names) * _BAR + slant, _NUMBER + _TALLEST + slant + 16.0
    key = draw_key(4.0, height - 8.0, (("word", BLUE, 0.8), ("end of the sentence", "currentColor", 0.8)))
    drawn = "".join([_draw_axis(most, width - slant), *bars, key])
    return svg_element(max(width, _LEAST_WIDTH), height, drawn, f"Surprisal in bits: {' '.join(names)}")


def _draw_bar(x: float, value: float, height: float, colour: str) -> str:
    """Return a bar with its number above it."""
    number = f"{value:.1f}" if np.isfinite(value) else "\N{INFINITY}" if value > 0 else "?"
    top = _NUMBER + _TALLEST - height
    return (
        f'<rect x="{x - _BAR * 0.4:.1f}" y="{top:.1f}" width="{_BAR * 0.8:.1f}" '
        f'height="{height:.1f}" fill="{colour}" fill-opacity=".8"/>' + draw_text(x, top - 8.0, number, 'font-size="11"')
    )


def _draw_axis(most: float, right: float) -> str:
    """Return the vertical axis: its name, and lines with numbers."""
    step = next(step for step in (0.5 * 10**k * by for k in range(9) for by in (1, 2, 4)) if most <= _MOST_LINES * step)
    drawn = [draw_turned(9.0, _NUMBER + _TALLEST / 2, "surprisal (bits)", -90, 'font-size="12"')]
    for value in np.arange(0.0, most + step / 100, step):
        y = _NUMBER + _TALLEST * (1 - value / most)
        drawn.append(
            f'<path d="M{_AXIS:.1f} {y:.1f}H{right:.1f}" stroke="currentColor" stroke-opacity=".2" fill="none"/>'
            + draw_text(_AXIS - 4.0, y, f"{value:g}", 'font-size="11" text-anchor="end"')
        )
    return "".join(drawn)


def _check_bits(words: Sequence[str], bits: Sequence[float] | np.ndarray) -> None:
    if len(bits) != len(words) + 1:
        raise ValueError(f"Expected bits of {len(words)} words and of the sentence's end, got {len(bits)} numbers.")


def learning_figure(fits: Mapping[str, Steps]) -> Figure:
    """Plot log-likelihood and F1 by iteration: one panel for each quantity, and one curve for each fit.

    fits (mapping of str to steps): Steps of each fit by its name: the objects that learners pass to `on_step`, or the
        records that `spacy-lpcfg learn` stores under "fit" in a pipeline's meta. A fit of several networks has a curve
        for each.
    RAISES (ImportError): If matplotlib is missing.
        (ValueError): If no step has a known quantity.
    """
    curves = [curve for name, steps in fits.items() for curve in _curves(name, list(map(_by_name, steps)))]
    drawn = [quantity for quantity in _QUANTITIES if any(quantity in points for _, points in curves)]
    if not drawn:
        raise ValueError(
            f"Nothing to draw: no step of {list(fits)} has a number for any of {list(_QUANTITIES)}. Steps are kept by "
            "learners by EM, such as pivot, and by belief networks."
        )
    figure = new_figure(6.5, 0.6 + 2.6 * len(drawn))
    for axes, quantity in zip(figure.subplots(len(drawn), sharex=True, squeeze=False)[:, 0], drawn, strict=True):
        lines = {
            visible(name): axes.plot(*zip(*points[quantity], strict=True), color=f"C{i}", marker="o", markersize=3)[0]
            for i, (name, points) in enumerate(curves)
            if quantity in points
        }
        numbers = map(str, range(len(lines)))  # names come later: some matplotlibs leave out those that begin with _
        for name, text in zip(lines, axes.legend(lines.values(), numbers, framealpha=0.0).get_texts(), strict=True):
            text.set_parse_math(False)
            text.set_text(name)
        axes.set_ylabel(_QUANTITIES[quantity])
        axes.grid(alpha=0.3)
    axes.set_xlabel("iteration")
    axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def calibration_figure(curve: Reliability) -> Figure:
    """Plot a reliability diagram: accuracy by posterior probability, above a histogram of the brackets.

    curve (Reliability): The result of `spacy_lpcfg.evaluation.calibration.reliability`.
    RAISES (ImportError): If matplotlib is missing.
        (ValueError): If there are no brackets.
    """
    filled = curve.counts > 0
    if not filled.any():
        raise ValueError("Nothing to draw: there are no brackets. Give trees with constituents.")
    figure = new_figure(5.0, 6.0)
    above, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    above.plot([0, 1], [0, 1], color="C7", linestyle="--", label="perfect")
    above.plot(curve.confidences[filled], curve.accuracies[filled], marker="o", label="observed")
    above.set_title(f"{curve.counts.sum():,} brackets, calibration error {curve.expected_error:.3f}")
    above.set_ylabel("share that is right")
    above.legend(framealpha=0.0)
    below.bar(curve.confidences[filled], curve.counts[filled], width=0.05)
    below.set_yscale("log")
    below.set_ylabel("brackets")
    below.set_xlabel("posterior probability")
    return figure


def _by_name(step: Any) -> Mapping[str, Any]:
    return step if isinstance(step, Mapping) else step._asdict()


def _curves(name: str, steps: list[Mapping[str, Any]]) -> list[tuple[str, dict[str, list[tuple[float, float]]]]]:
    """Return the known points of each quantity, separately for each network or grammar of a fit."""
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    several = [kind for kind in ("network", "grammar") if len({step.get(kind) for step in steps}) > 1]
    for step in steps:
        points = curves.setdefault(", ".join([name, *(f"{kind} {step.get(kind)}" for kind in several)]), {})
        at = next((step[counter] for counter in _COUNTERS if counter in step), None)
        for quantity in _QUANTITIES:
            value = step.get(quantity)
            if at is not None and value is not None and np.isfinite(value):
                points.setdefault(quantity, []).append((at, value))
    return list(curves.items())
