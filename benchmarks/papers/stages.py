"""CPU seconds of the stages of spectral learning, and of an iteration of EM: table 3 of Cohen et al. (2013) again.

    python -m benchmarks.papers.stages TREEBANK_DIR [--states M...] [--seed S] [--json FILE]

A TREEBANK_DIR holds train.mrg. Learners are the variants "paper". Stages are seconds within the functions of `STAGES`,
under Python's profiler, which slows a total down a little; the rest is to read the trees and to store the grammar. An
iteration of EM is the median of three.
"""

from __future__ import annotations

import cProfile
import importlib
import pstats
import statistics
import time
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.learning import EM, Spectral
from spacy_lpcfg.trees import Tree, read_trees

STAGES = {
    "features, and their products": ("_cooccurrence",),
    "scaling": ("_scaled_block",),
    "SVD": ("singular_vectors",),
    "projection": ("project",),
    "a -> b c": ("rule_moments", "smoothed"),
    "a -> x": ("_emissions",),
}
"""Functions of spacy_lpcfg.learning by stage."""


def row(trees: list[Tree], m: int, seed: int) -> measure.Row:
    profile = cProfile.Profile(time.process_time)
    profile.runcall(Spectral.variant("paper", n_states=m, seed=seed).fit, trees)
    stats = pstats.Stats(profile)
    functions = stats.stats.items()  # type: ignore[attr-defined]
    seconds = {name: cumulative for (path, _, name), (*_, cumulative, _) in functions if "learning" in path}
    fit = EM.variant("paper", n_states=m, seed=seed).start(trees)
    steps = []
    for _ in range(3):
        begun = time.process_time()
        fit.step()
        steps.append(time.process_time() - begun)
    stages = {stage: sum(seconds[name] for name in names) for stage, names in STAGES.items()}
    total = stats.total_tt  # type: ignore[attr-defined]
    return {"m": m, "EM, an iteration": statistics.median(steps), "spectral, total": total, **stages}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, nargs="+", default=[8, 16, 24, 32], metavar="M")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    trees = list(read_trees(args.treebank / "train.mrg"))
    importlib.import_module("sklearn.utils.extmath")  # slow, and else a part of the first decomposition
    measure.report({"CPU seconds": [row(trees, m, args.seed) for m in args.states]}, args.json)


if __name__ == "__main__":
    main()
