"""F1 after iterations of EM, as tables and as curves: what `pivot` and `em` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from spacy_lpcfg.learning.base import Step
from spacy_lpcfg.learning.em import EMFit, best_grammar
from spacy_lpcfg.pictures import learning_figure
from spacy_lpcfg.pictures.figures import figure_svg
from spacy_lpcfg.storage.files import write_atomically
from spacy_lpcfg.trees import Tree


def arguments(doc: str | None, n_iterations: int) -> argparse.ArgumentParser:
    """The arguments that both benchmarks take; n_iterations: the default."""
    parser = measure.arguments(doc)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument("--states", type=int, nargs="+", default=[8, 16, 24, 32], metavar="M")
    parser.add_argument("--iterations", type=int, default=n_iterations, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw the curves to this SVG file")
    return parser


def steps_of(start: Callable[[], EMFit], n_iterations: int, dev: Sequence[Tree], **settings: Any) -> list[Step]:
    """The steps of EM from a start, with F1 on dev; settings: of `best_grammar`."""
    steps: list[Step] = []
    best_grammar(start, n_iterations, dev, on_step=steps.append, **settings)
    return steps


def row(name: str, m: int, steps: Sequence[Step]) -> measure.Row:
    """F1 after each iteration that was looked at, and CPU seconds of the start and of an iteration after it."""
    looked_at = [step for step in steps if not np.isnan(step.f1)]
    seconds = [step.seconds for step in steps]
    return {
        "learner": name,
        "m": m,
        **{str(step.iteration): step.f1 for step in looked_at},
        "best": max(looked_at, key=lambda step: step.f1).iteration,
        "CPU s of the start": seconds[0],
        "CPU s an iteration": float(np.mean(seconds[1:])),
    }


def draw(path: Path | None, fits: dict[str, list[Step]]) -> None:
    """F1 over iterations as SVG, a curve a fit; nothing without a path."""
    if path is None:
        return
    only_f1 = {name: [step._replace(log_likelihood=float("nan")) for step in steps] for name, steps in fits.items()}
    write_atomically(path, f"{figure_svg(learning_figure(only_f1))}\n".encode())
