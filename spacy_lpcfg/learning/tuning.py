"""Smoothing chosen on held-out trees (section 3.2 of Cohen et al. 2013)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.em import held_out_f1
from spacy_lpcfg.learning.spectral import Smoothing, SpectralEstimate
from spacy_lpcfg.trees.transforms import clean
from spacy_lpcfg.trees.tree import Tree

GRID: dict[str, tuple[float, ...]] = {
    "c": (5.0, 10.0, 15.0, 25.0, 40.0),
    "nu": (0.25, 0.5, 0.75, 1.0),
    "max_lexical": (5.0, 20.0, 100.0),
}


def tune(
    estimate: SpectralEstimate,
    held_out: Sequence[Tree],
    *,
    start: Smoothing = Smoothing(),
    on_trial: Callable[[Smoothing, float], None] | None = None,
) -> tuple[Smoothing, Grammar]:
    """Return the smoothing with the best F1 on held-out trees, by a search over `GRID`, one parameter after the other.

    estimate (SpectralEstimate): The moments of the training trees.
    held_out (Sequence[Tree]): Trees that are not among these; they are parsed from raw words.
    start (Smoothing): The first smoothing that is tried.
    on_trial (callable or None): Called with every smoothing tried and its F1 in percent.
    RETURNS (tuple[Smoothing, Grammar]): The best smoothing, and its grammar.
    RAISES (ValueError): If there are no held-out trees.
    """
    golds = [tree for tree in map(clean, held_out) if tree is not None]
    if not golds:
        raise ValueError("Expected held-out trees to tune on, got none.")

    def trial(smoothing: Smoothing) -> tuple[float, Smoothing, Grammar]:
        grammar = estimate.grammar(smoothing)
        f1 = held_out_f1(grammar, golds)
        if on_trial is not None:
            on_trial(smoothing, f1)
        return f1, smoothing, grammar

    best = trial(start)
    for name, values in GRID.items():
        for value in values:
            if value != getattr(best[1], name):
                best = max(best, trial(replace(best[1], **{name: value})), key=lambda scored: scored[0])
    return best[1], best[2]
