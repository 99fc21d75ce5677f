"""Which settings of the parser cross-validation on training trees chooses, one lever changed at a time.

    python benchmarks/cross_validation.py TRAIN [--folds K] [--sentences N] [--grammars G] [--levers NAME...]
        [--json FILE]

TRAIN is a file of trees. For each of K folds, which are of trees next to each other, learns a pivot grammar from the
other ones, or for `--levers cascade` an ensemble of G, and parses N sentences of the fold, evenly spread, from raw
words under each value of a lever, as `levers.py` has them. Measures F1 (EVALB, COLLINS.prm, all lengths), its change
from the default settings with the standard error of that over the folds, and sentences per CPU second; all are means
over folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure
import numpy as np
from levers import LEVERS, parsed, variants

from spacy_lpcfg.learning import Ensembles, Pivot
from spacy_lpcfg.trees import Tree, clean, read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("train", type=Path, metavar="TRAIN")
    arguments.add_argument("--folds", type=int, default=3, metavar="K")
    arguments.add_argument("--sentences", type=int, default=500, metavar="N", help="the most of a fold")
    arguments.add_argument("--grammars", type=int, default=2, metavar="G", help="of an ensemble; even")
    arguments.add_argument("--levers", nargs="+", choices=LEVERS, metavar="NAME", help="default: all but cascade")
    args = arguments.parse_args()
    levers = args.levers or [name for name in LEVERS if name != "cascade"]
    learner = Ensembles.diverse(args.grammars) if "cascade" in levers else Pivot()
    trees = list(read_trees(args.train))
    found: dict[str, list[measure.Row]] = {name: [] for name, _ in variants(levers)}
    for fold in range(args.folds):
        measure.progress(f"fold {fold + 1} of {args.folds}")
        rest, golds = split(trees, fold, args.folds, args.sentences)
        model: Any = learner.fit(rest)
        for name, settings in variants(levers):
            found[name].append(parsed(model, settings, golds, "model"))
    rows = [row(name, rows, found["default"]) for name, rows in found.items()]
    measure.report({f"{args.folds} folds of {args.train}": rows}, args.json)


def split(trees: Sequence[Tree], fold: int, n_folds: int, most: int) -> tuple[list[Tree], list[Tree]]:
    """The trees outside a fold, and at most so many of those in it as scoring sees them."""
    start, end = (len(trees) * place // n_folds for place in (fold, fold + 1))
    places = np.unique(np.linspace(start, end - 1, min(most, end - start)).astype(int))
    golds = [tree for tree in (clean(trees[place]) for place in places) if tree is not None]
    return [*trees[:start], *trees[end:]], golds


def row(name: str, rows: Sequence[measure.Row], defaults: Sequence[measure.Row]) -> measure.Row:
    """The means of the folds' rows under some settings, beside those of the default ones."""
    changes = [one["F1"] - default["F1"] for one, default in zip(rows, defaults)]
    return {
        "settings": name,
        "F1": float(np.mean([one["F1"] for one in rows])),
        "change": float(np.mean(changes)),
        "standard error": float(np.std(changes, ddof=1) / np.sqrt(len(changes))) if len(changes) > 1 else None,
        "sentences / CPU s": float(np.mean([one["sentences / CPU s"] for one in rows])),
    }


if __name__ == "__main__":
    main()
