"""Measure what a model gains by going on with trees of a domain, and what it forgets.

    python -m benchmarks.accuracy.adaptation MODEL TRAIN TEST --old OLD [--sizes N ...] [--seeds N ...] [--fixed]
        [--most N] [--doubtful] [--json FILE]

Draws N trees of TRAIN with each seed, goes on from MODEL with them as `spacy-lpcfg adapt` does, and parses the words of
TEST, and those of OLD, which has trees like those that MODEL has learned from; of each at most --most trees. With
--fixed there is no cross-validation: the classifier goes half of its way, the grammar stands for ten trees for each new
one, and the powers of evidence stay. With --doubtful the trees are those of the sentences that MODEL doubts most, as
`spacy-lpcfg doubt` orders them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks import measure
from spacy_lpcfg.evaluation.bootstrap import f1_of
from spacy_lpcfg.evaluation.doubt import most_in_doubt
from spacy_lpcfg.evidence.adaptation import adapt
from spacy_lpcfg.evidence.folds import Adaptable, Adaptation, AdaptationSettings, bracket_counts, parser_of, weights_of
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.models.loading import load
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree


def main() -> None:
    arguments = measure.arguments(__doc__, sizes=[25, 100, 400], seeds=[0, 1, 2], most=300, fixed=False, doubtful=False)
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("train", type=Path, metavar="TRAIN")
    arguments.add_argument("test", type=Path, metavar="TEST")
    arguments.add_argument("--old", type=Path, required=True, metavar="OLD")
    args = arguments.parse_args()
    model: Any = load(args.model)
    tests = {"test": measure.read_gold(args.test)[: args.most], "old": measure.read_gold(args.old)[: args.most]}
    train = measure.read_gold(args.train)
    rows = [{"trees": 0, "seed": "", **scores(model, tests), "CPU s": 0, "": ""}]
    measure.progress(str(rows[0]))
    for size in args.sizes:
        for seed in args.seeds:
            drawn = doubtful(model, train, size) if args.doubtful else random.Random(seed).sample(train, size)
            adapted, seconds = measure.timed(fixed if args.fixed else cross_validated, model, drawn, seed)
            kept = "kept" if adapted is model else ""
            rows.append({"trees": size, "seed": seed, **scores(adapted, tests), "CPU s": round(seconds), "": kept})
            measure.progress(str(rows[-1]))
    measure.report({f"{args.test}, by trees of {args.train}": rows}, args.json)


def cross_validated(model: Adaptable, trees: list[Tree], seed: int) -> Adaptable:
    return adapt(model, trees, seed=seed).model


def fixed(model: Adaptable, trees: list[Tree], seed: int) -> Adaptable:
    """Go on by settings that are chosen beforehand."""
    grammar: Any = model.without_evidence
    settings = AdaptationSettings(10.0 * len(trees), 0.5, weights_of(model))
    return Adaptation(model, Prior.of(grammar), trees, seed).model(settings)


def doubtful(model: Adaptable, trees: list[Tree], n: int) -> list[Tree]:
    """Return the trees of the sentences that a model doubts most."""
    parser, words = parser_of(model), [tree.words for tree in trees]
    queries = parser.prepare([Query(each) for each in words])
    return [trees[i] for i in most_in_doubt(words, [parser.distribution(query).entropy() for query in queries], n)]


def scores(model: Adaptable, tests: dict[str, list[Tree]]) -> dict[str, float]:
    """Return F1 and the share of whole trees that are right on each test set, in percent."""
    parser = parser_of(model)
    row: dict[str, float] = {}
    for name, golds in tests.items():
        counts = bracket_counts(golds, [parse.tree for parse in measure.parsed(parser, golds)])
        is_exact = (counts == counts[:, :1]).all(axis=1)
        row[f"F1 {name}"] = round(float(f1_of(counts.sum(axis=0))), 2)
        row[f"exact {name}"] = round(100 * float(is_exact.mean()), 1)
    return row


if __name__ == "__main__":
    main()
