"""Measure how many iterations of EM each start needs: table 1 of Cohen and Collins (2014) again, beside its numbers.

    python -m benchmarks.accuracy.iterations TREEBANK_DIR [--states M...] [--seed S] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Measures F1 on dev (EVALB, COLLINS.prm, all lengths, raw words) of the
start and after every iteration, for EM from a random start (every fifth iteration), from pivots, and from clusters of
spectral projections, which is spectral + EM (see `learning/clusters.py`). Seconds are CPU seconds of an iteration, and
of all until the best one, the start included. The paper's figures are on section 22 after learning on sections 2-21, 11
times the trees; it gives its parser the tags of a tagger.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from spacy_lpcfg.learning import EM, Clusters, Pivot, Spectral
from spacy_lpcfg.learning.base import Step
from spacy_lpcfg.learning.em import held_out_f1
from spacy_lpcfg.trees import Tree, clean, read_trees

# F1 by m, with the best number of iterations in brackets: table 1 of Cohen and Collins (2014).
PAPER: dict[str, dict[int, str]] = {
    "EM": {8: "86.69 (40)", 16: "88.32 (30)", 24: "88.35 (30)", 32: "88.56 (20)"},
    "spectral": {8: "85.60", 16: "87.77", 24: "88.53", 32: "88.82"},
    "pivot": {8: "83.56", 16: "86.00", 24: "86.87", 32: "86.40"},
    "pivot + EM": {8: "86.83 (2)", 16: "88.14 (6)", 24: "88.64 (2)", 32: "88.55 (2)"},
}


def learners(m: int, seed: int) -> dict[str, Any]:
    return {
        "EM": EM(n_states=m, n_iterations=40, seed=seed),
        "pivot + EM": Pivot(n_states=m, n_iterations=8, seed=seed),
        "clusters + EM": Clusters(n_states=m, n_iterations=8, seed=seed),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, nargs="+", default=[8, 16, 24, 32], metavar="M")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    train, dev = (list(read_trees(args.treebank / f"{part}.mrg")) for part in ("train", "dev"))
    best, curves = [], []
    for m in args.states:
        for name, learner in learners(m, args.seed).items():
            measure.progress(f"m = {m}: {name}")
            steps: list[Step] = []
            learner.fit(train, held_out=dev, on_step=steps.append)
            best.append(best_row(name, m, steps))
            curves.append({"learner": name, "m": m, "F1 after iterations": curve(steps)})
        best.append(spectral_row(m, args.seed, train, dev))
    measure.report({"Best iterations": best, "F1 by iteration": curves}, args.json)


def curve(steps: Sequence[Step]) -> str:
    """F1 by iteration, where it was looked at."""
    return ", ".join(f"{step.iteration}: {step.f1:.2f}" for step in steps if not np.isnan(step.f1))


def best_row(name: str, m: int, steps: Sequence[Step]) -> measure.Row:
    """The iteration with the best F1, and what it cost."""
    best = max((step for step in steps if not np.isnan(step.f1)), key=lambda step: step.f1)
    start = steps[0] if steps[0].iteration == 0 and steps[1:] else None
    return {
        "learner": name,
        "m": m,
        "F1": best.f1,
        "iterations": best.iteration,
        "F1 of the start": start.f1 if start else None,
        "CPU s": sum(step.seconds for step in steps[: steps.index(best) + 1]),
        "CPU s an iteration": float(np.mean([step.seconds for step in steps[1:]])) if steps[1:] else None,
        "paper's F1 (iterations)": PAPER.get(name, {}).get(m),
        "paper's start": PAPER.get(name.removesuffix(" + EM"), {}).get(m) if start else None,
    }


def spectral_row(m: int, seed: int, train: Sequence[Tree], dev: Sequence[Tree]) -> measure.Row:
    """The spectral grammar, which takes no iterations."""
    begun = time.process_time()
    grammar = Spectral(n_states=m, seed=seed).fit(train)
    seconds = time.process_time() - begun
    golds = [tree for tree in map(clean, dev) if tree is not None]
    return best_row("spectral", m, [Step(0, float("nan"), held_out_f1(grammar, golds), seconds)])


if __name__ == "__main__":
    main()
