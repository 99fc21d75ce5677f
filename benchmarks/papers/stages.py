"""CPU seconds of the stages of spectral learning, and of an iteration of EM: table 3 of Cohen et al. (2013) again.

    python -m benchmarks.papers.stages TREEBANK_DIR [--states M...] [--json FILE]

A TREEBANK_DIR holds train.mrg. Learners are the variants "paper". Stages are seconds within the functions of `STAGES`;
the rest is to read the trees and to store the grammar. The seed is 0. An iteration of EM is the median of three.
"""

from __future__ import annotations

import importlib
import pkgutil
import statistics
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import measure
from spacy_lpcfg.learning import EM, Spectral
from spacy_lpcfg.trees import Tree, read_trees

PROJECTIONS, SPECTRAL = "spacy_lpcfg.learning.moments.projections", "spacy_lpcfg.learning.spectral"
STAGES = {
    "features, and their products": (f"{PROJECTIONS}._cooccurrence",),
    "scaling": (f"{PROJECTIONS}._Block.omega",),
    "SVD": (f"{PROJECTIONS}.singular_vectors",),
    "projection": (f"{PROJECTIONS}.Bases.project",),
    "a -> b c": (f"{SPECTRAL}.rule_moments", "spacy_lpcfg.learning.moments.estimation.RuleMoments.smoothed"),
    "a -> x": (f"{SPECTRAL}.SpectralEstimate._emissions",),
}
"""The functions of each stage."""


def counted(function: Callable[..., Any], seconds: dict[str, float], stage: str) -> Callable[..., Any]:
    """Wrap a function, so that its CPU seconds are added to those of a stage."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result, of_call = measure.timed(lambda: function(*args, **kwargs))
        seconds[stage] += of_call
        return result

    return wrapper


def row(trees: list[Tree], m: int) -> measure.Row:
    seconds = dict.fromkeys(STAGES, 0.0)
    with ExitStack() as patches:
        for stage, names in STAGES.items():
            for name in names:
                patches.enter_context(patch(name, counted(pkgutil.resolve_name(name), seconds, stage)))
        _, total = measure.timed(Spectral.variant("paper", n_states=m, seed=0).fit, trees)
    fit = EM.variant("paper", n_states=m, seed=0).start(trees)
    iteration = statistics.median(measure.timed(fit.step)[1] for _ in range(3))
    return {"m": m, "EM, an iteration": iteration, "spectral, total": total, **seconds}


def main() -> None:
    arguments = measure.arguments(__doc__, states=[8, 16, 24, 32])
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    args = arguments.parse_args()
    trees = list(read_trees(args.treebank / "train.mrg"))
    importlib.import_module("sklearn.utils.extmath")  # slow, and else a part of the first decomposition
    measure.report({"CPU seconds": [row(trees, m) for m in args.states]}, args.json)


if __name__ == "__main__":
    main()
