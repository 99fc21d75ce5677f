"""Measure what each part of the pivot learner is worth.

    python -m benchmarks.accuracy.pivot_parts TREEBANK_DIR... [--seed S] [--only NAME...] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Measures F1 (EVALB, COLLINS.prm, all lengths) from raw words and with the
treebank's tags, and the share of tags that are right, of the default grammar and of those without one part of it: with
other numbers of states, without EM after the pivots, with other smoothing of states and words, and without what the
classifier of words in their context closes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.trees import Tree, read_trees

CLOSED_BY_NONE = ChartSettings(tag_threshold=0.0, boundary_threshold=0.0)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="of the rows")
    args = arguments.parse_args()
    rows = []
    for folder in args.treebanks:
        trees, golds = list(read_trees(folder / "train.mrg")), measure.read_gold(folder / "dev.mrg")
        for name, (learner, settings) in parts_of(Pivot(seed=args.seed)).items():
            if args.only is None or name in args.only:
                measure.progress(f"{folder.name}: {name}")
                scores = row(Parser(learner.fit(trees), settings=settings), golds)
                rows.append({"treebank": folder.name, "learner": name, **scores})
    measure.report({"Parts of the pivot learner": rows}, args.json)


def parts_of(default: Pivot) -> dict[str, tuple[Pivot, ChartSettings]]:
    """The learner with one thing changed, and how its grammar's chart is pruned."""
    smoothing = default.smoothing
    changed = {
        "default": default,
        **{f"m = {m}": replace(default, n_states=m) for m in (1, 4, 8, 24, 32)},
        "no EM": replace(default, n_iterations=0),
        "as many states for rare symbols": replace(default, tokens_per_state=1.0),
        "rare words say all of their states": replace(default, smoothing=replace(smoothing, rare_words=0.0)),
        "rare words by their signatures alone": replace(default, lexical=LexicalSettings(signature_weight=0.0)),
    }
    rows = {name: (learner, ChartSettings()) for name, learner in changed.items()}
    return {**rows, "the classifier closes nothing": (default, CLOSED_BY_NONE)}


def row(parser: Parser, golds: list[Tree]) -> measure.Row:
    """F1 of both kinds of words, and how many tags of raw words are right."""
    raw, given = (measure.parse_all(parser, golds, tags)[0] for tags in ("model", "given"))
    scores, of_given = (evaluate(golds, [parse.tree for parse in parses]).scores() for parses in (raw, given))
    return {"F1": scores["evalb_f"], "with given tags": of_given["evalb_f"], "tags right, %": scores["tag_acc"]}


if __name__ == "__main__":
    main()
