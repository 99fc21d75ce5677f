"""Measure what the two ways to match states are worth to the pivot learner, `matching="direct"` and "transition".

    python -m benchmarks.accuracy.pivot_matching TREEBANK_DIR... [--states M] [--seeds S...] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. "transition" is step 3 of figure 2 of Cohen and Collins (2014), "direct" the
convex alternative of the remark below their theorem 2. Measures F1 (EVALB, COLLINS.prm, all lengths, raw words) of the
pivots' grammar, before any EM, and after the default iterations of EM, of every seed and their mean; and CPU seconds of
learning, the iterations included.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.learning.base import Step
from spacy_lpcfg.learning.pivot import MATCHINGS, PivotFeatures
from spacy_lpcfg.trees import Tree, read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, default=Pivot.n_states, metavar="M")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="S")
    args = arguments.parse_args()
    rows = []
    for folder in args.treebanks:
        train, dev = (list(read_trees(folder / f"{part}.mrg")) for part in ("train", "dev"))
        for matching in MATCHINGS:
            measure.progress(f"{folder.name}: {matching}")
            learners = [
                Pivot(n_states=args.states, seed=seed, pivots=PivotFeatures(matching=matching)) for seed in args.seeds
            ]
            rows.append({"treebank": folder.name, "matching": matching, **row(learners, train, dev)})
    measure.report({f"Pivots of {args.states} states, seeds {args.seeds}": rows}, args.json)


def row(learners: Sequence[Pivot], train: Sequence[Tree], dev: Sequence[Tree]) -> measure.Row:
    """Learners that differ in their seeds."""
    runs = [steps(learner, train, dev) for learner in learners]
    before, after = ([run[index].f1 for run in runs] for index in (0, -1))
    return {
        "F1 before EM": float(np.mean(before)),
        "of each seed, before": ", ".join(f"{f1:.2f}" for f1 in before),
        "F1 after EM": float(np.mean(after)),
        "of each seed": ", ".join(f"{f1:.2f}" for f1 in after),
        "CPU s": float(np.mean([sum(step.seconds for step in run) for run in runs])),
    }


def steps(learner: Pivot, train: Sequence[Tree], dev: Sequence[Tree]) -> list[Step]:
    """The start of EM and its iterations, with their F1 on the development trees."""
    run_steps: list[Step] = []
    learner.fit(train, held_out=dev, on_step=run_steps.append)
    return run_steps


if __name__ == "__main__":
    main()
