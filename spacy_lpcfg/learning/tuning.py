"""Smoothing of moments, and the choice of its constants on held-out trees (section 3.2 of Cohen et al. 2013)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from spacy_lpcfg.checks import SHARE, at_least
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.em import held_out_f1
from spacy_lpcfg.trees.transforms import clean
from spacy_lpcfg.trees.tree import Tree

GRID: dict[str, tuple[float, ...]] = {
    "c": (5.0, 10.0, 15.0, 25.0, 40.0),
    "nu": (0.25, 0.5, 0.75, 1.0),
    "max_lexical": (5.0, 20.0, 100.0),
}


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of the moments (section 3.2 of Cohen et al. 2013).

    c (float): C in the weight sqrt(n) / (C + sqrt(n)) of a binary rule seen n times; 0 for no smoothing.
    nu (float): Weight of a rare lexical rule's own mean; the remaining weight goes to the mean of its symbol.
    max_lexical (float): Lexical rules seen more often than this are not smoothed.
    RAISES (ValueError): If c or max_lexical is below 0, or nu is not from 0 to 1.
    """

    c: float = 15.0
    nu: float = 0.25
    max_lexical: float = 20.0

    def __post_init__(self) -> None:
        at_least(0)(c=self.c, max_lexical=self.max_lexical)
        SHARE(nu=self.nu)


NO_SMOOTHING = Smoothing(c=0.0, nu=1.0)


class SmoothingTrial(NamedTuple):
    """Report of one smoothing that was tried.

    smoothing (Smoothing): The smoothing.
    f1 (float): F1 on the held-out trees, in percent.
    """

    smoothing: Smoothing
    f1: float


def tune(
    make_grammar: Callable[[Smoothing], Grammar],
    held_out: Iterable[Tree],
    *,
    start: Smoothing = Smoothing(),
    on_step: OnStep | None = None,
) -> tuple[Smoothing, Grammar]:
    """Find the smoothing with the best F1 on held-out trees, by coordinate search over `GRID` (one constant at a time).

    make_grammar (callable): Returns the grammar with a smoothing, such as `SpectralEstimate.grammar`.
    held_out (Iterable[Tree]): Trees that were not learned from; they are parsed from raw words.
    start (Smoothing): The first smoothing that is tried.
    on_step (callable or None): Called with the `SmoothingTrial` of every smoothing that is tried.
    RETURNS (tuple[Smoothing, Grammar]): The best smoothing, and its grammar.
    RAISES (ValueError): If there are no held-out trees.
    """
    golds = list(filter(None, map(clean, held_out)))
    if not golds:
        raise ValueError("Expected held-out trees to tune on, got none.")

    def trial(smoothing: Smoothing) -> tuple[float, Smoothing, Grammar]:
        grammar = make_grammar(smoothing)
        f1 = held_out_f1(grammar, golds)
        if on_step is not None:
            on_step(SmoothingTrial(smoothing, f1))
        return f1, smoothing, grammar

    best = trial(start)
    for name, values in GRID.items():
        for value in values:
            if value != getattr(best[1], name):
                best = max(best, trial(replace(best[1], **{name: value})), key=lambda scored: scored[0])
    return best[1], best[2]
