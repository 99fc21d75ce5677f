"""Measure how costs grow: power laws through measured points, and pictures of both. Not a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import measure


@dataclass(frozen=True)
class PowerLaw:
    """y = factor * x ** exponent."""

    factor: float
    exponent: float

    @classmethod
    def fit(cls, x: Sequence[float], y: Sequence[float]) -> PowerLaw:
        """By least squares on both logarithms; proportional through a single point."""
        exponent = measure.slope(x, y) if len(x) > 1 else 1.0
        return cls(float(np.exp(np.mean(np.log(y)) - exponent * np.mean(np.log(x)))), exponent)

    def __call__(self, x: float) -> float:
        return self.factor * x**self.exponent


@dataclass(frozen=True)
class Series:
    """A curve.

    points (list of (float, float)): Measured.
    beyond (list of (float, float)): Extrapolated.
    theory (float): The exponent with which it should grow.
    """

    points: list[tuple[float, float]]
    beyond: list[tuple[float, float]]
    theory: float


@dataclass(frozen=True)
class Plot:
    """Curves over one quantity, on logarithmic axes."""

    x_label: str
    y_label: str
    series: dict[str, Series]

    def draw(self, path: Path) -> None:
        """Measured points are full, extrapolated ones hollow, and theory is dotted through the last full one."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots()
        for number, (name, curve) in enumerate(self.series.items()):
            if not curve.points:
                continue
            color, marker = f"C{number % 10}", "os^v"[number // 10 % 4]
            axes.loglog(*zip(*curve.points, strict=True), f"{marker}-", color=color, label=name)
            if curve.beyond:
                axes.loglog(
                    *zip(curve.points[-1], *curve.beyond, strict=True),
                    f"{marker}--",
                    color=color,
                    markerfacecolor="none",
                )
            axes.loglog(*zip(*_theory(curve), strict=True), ":", color=color, alpha=0.7)
        axes.set(xlabel=self.x_label, ylabel=self.y_label)
        axes.legend(fontsize="small", title="dotted: theory; hollow: extrapolated", title_fontsize="small")
        figure.savefig(path)


def _theory(series: Series) -> list[tuple[float, float]]:
    """Return the points of the power law of theory through the last measured point."""
    last_x, last_y = series.points[-1]
    return [(x, last_y * (x / last_x) ** series.theory) for x, _ in series.points + series.beyond]


@dataclass(frozen=True)
class Result:
    """The tables of a measurement by their titles, and its plots by the names of their files."""

    tables: dict[str, list[measure.Row]]
    plots: dict[str, Plot]
