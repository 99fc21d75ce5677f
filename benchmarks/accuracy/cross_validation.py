"""Measure which settings of the parser cross-validation on training trees chooses, one lever changed at a time.

    python -m benchmarks.accuracy.cross_validation TRAIN [--folds K] [--sentences N] [--levers NAME...] [--json FILE]

TRAIN is a file of trees. For each of K folds, which are of trees next to each other, learns a pivot grammar from the
other ones, and parses N sentences of the fold, evenly spread, from raw
words under each value of a lever, as `levers.py` has them. Measures F1 (EVALB, COLLINS.prm, all lengths), the mean over
folds, and its change from the default settings, with the standard error of that over the folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.accuracy.levers import LEVERS, variants
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.trees import Tree, clean, read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("train", type=Path, metavar="TRAIN")
    arguments.add_argument("--folds", type=int, default=3, metavar="K")
    arguments.add_argument("--sentences", type=int, default=500, metavar="N", help="the most of a fold")
    arguments.add_argument("--levers", nargs="+", choices=LEVERS, metavar="NAME", help="default: all")
    args = arguments.parse_args()
    levers = args.levers or LEVERS
    trees = list(read_trees(args.train))
    scores_by_variant: dict[str, list[float]] = {name: [] for name, _ in variants(levers)}
    for fold in range(args.folds):
        measure.progress(f"fold {fold + 1} of {args.folds}")
        others, golds = split(trees, fold, args.folds, args.sentences)
        model: Any = Pivot().fit(others)
        for name, settings in variants(levers):
            scores_by_variant[name].append(f1(model, settings, golds))
    rows = [row(name, of_folds, scores_by_variant["default"]) for name, of_folds in scores_by_variant.items()]
    measure.report({f"{args.folds} folds of {args.train}": rows}, args.json)


def split(trees: Sequence[Tree], fold: int, n_folds: int, most: int) -> tuple[list[Tree], list[Tree]]:
    """The trees outside a fold, and at most so many of those in it as scoring sees them."""
    start, end = (len(trees) * number // n_folds for number in (fold, fold + 1))
    places = np.unique(np.linspace(start, end - 1, min(most, end - start)).astype(int))
    golds = [tree for tree in (clean(trees[number]) for number in places) if tree is not None]
    return [*trees[:start], *trees[end:]], golds


def f1(model: ParsingModel, settings: dict[str, Any], golds: list[Tree]) -> float:
    """Return the F1 of a model's trees for the words of gold trees."""
    parser = make_parser(model, **settings)
    return evaluate(golds, [parser.parse(gold.words).tree for gold in golds]).scores()["evalb_f"]


def row(name: str, of_folds: Sequence[float], defaults: Sequence[float]) -> measure.Row:
    """The mean F1 of the folds under some settings, beside that under the default ones."""
    changes = np.subtract(of_folds, defaults)
    return {
        "settings": name,
        "F1": float(np.mean(of_folds)),
        "change": float(changes.mean()),
        "standard error": float(changes.std(ddof=1) / np.sqrt(len(changes))) if len(changes) > 1 else None,
    }


if __name__ == "__main__":
    main()
