"""Plots as SVG: axes with round numbers, lines and points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from spacy_lpcfg.pictures.drawing import draw_text, draw_turned, text_width

_MOST_TICKS = 7
_NAME = 'font-size="12"'

Point = tuple[float, float]


class Axis(NamedTuple):
    """A linear or logarithmic axis of a plot.

    low, high (float): The values at its ends, which differ; both are positive if it is logarithmic.
    start, end (float): The pixel coordinates of its ends.
    is_log (bool): Whether it is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """Return the pixel coordinate of a value."""
        low, high, at = map(log10, (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    @property
    def ticks(self) -> list[float]:
        """The values at which ticks are drawn, in ascending order: at most seven round numbers between the ends.

        On a logarithmic axis, all powers of ten between the ends.
        """
        if self.is_log:
            return [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        steps = (float(f"{digit}e{power}") for power in range(-12, 300) for digit in (1, 2, 5))
        step = next(step for step in steps if self.high - self.low <= (_MOST_TICKS - 1) * step)
        return [step * n for n in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)]


def draw_y_axis(axis: Axis, left: float, right: float, name: str) -> str:
    """Return the SVG of a vertical axis: its name, and a horizontal line with its number at each tick.

    left, right (float): The pixel coordinates of the ends of the lines; numbers and name are to the left of them.
    name (str): The name of the axis.
    """
    numbers = [f"{value:,.10g}" for value in axis.ticks]
    beside = left - 18.0 - max(text_width(number, 11.0) for number in numbers)
    drawn = [draw_turned(beside, (axis.start + axis.end) / 2, name, -90, _NAME)]
    for value, number in zip(axis.ticks, numbers, strict=True):
        y = axis.place(value)
        drawn.append(_draw_rule(f"M{left:.1f} {y:.1f}H{right:.1f}"))
        drawn.append(draw_text(left - 4.0, y, number, 'font-size="11" text-anchor="end"'))
    return "".join(drawn)


def draw_x_axis(axis: Axis, top: float, bottom: float, name: str, *, only_whole: bool = False) -> str:
    """Return the SVG of a horizontal axis: its name, and a vertical line with its number at each tick.

    top, bottom (float): The pixel coordinates of the ends of the lines; numbers and name are below them.
    name (str): The name of the axis.
    only_whole (bool): Whether to draw ticks only at whole numbers.
    """
    drawn = [draw_text((axis.start + axis.end) / 2, bottom + 30.0, name, _NAME)]
    for value in axis.ticks:
        if not only_whole or value == round(value):
            x = axis.place(value)
            drawn.append(_draw_rule(f"M{x:.1f} {top:.1f}V{bottom:.1f}"))
            drawn.append(draw_text(x, bottom + 12.0, f"{value:,.10g}", 'font-size="11"'))
    return "".join(drawn)


def draw_line(x: Axis, y: Axis, points: Iterable[Point], colour: str, attributes: str = "") -> str:
    """Return the SVG of a line through points, which are given in the units of the axes."""
    places = " ".join(f"{x.place(at):.1f},{y.place(value):.1f}" for at, value in points)
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5" {attributes}/>'


def draw_points(x: Axis, y: Axis, points: Sequence[Point], colour: str) -> str:
    """Return the SVG of points, which are given in the units of the axes, as small discs."""
    return "".join(
        f'<circle cx="{x.place(at):.1f}" cy="{y.place(value):.1f}" r="3" fill="{colour}"/>' for at, value in points
    )


def _draw_rule(path: str) -> str:
    return f'<path d="{path}" stroke="currentColor" stroke-opacity=".2" fill="none"/>'
