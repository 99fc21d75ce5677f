"""Measure the parts of the spectral learner: section 4.3 of Cohen et al. (2013) again.

    python -m benchmarks.papers.ablations TREEBANK_DIR [--part PART] [--states M...] [--seeds S...] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Measures F1 (EVALB, COLLINS.prm, all lengths) of the paper's
system for m = 8, 16, 24, 32, and without: smoothing, scaling of the features, absolute marginals, features but the
rules below and above a node; the mean over the seeds, with a 95% interval by a bootstrap over sentences and seeds. The
paper gives its parser the tags of a tagger, here they are those of the treebank. Changes of F1 are towards the first
row of the same m, by a paired bootstrap. Dropped are sentences that EVALB leaves out, failed those whose tree is a
fall-back's, of all seeds.

The paper's marginals are not divided by the sentence's total weight, which is negative for many sentences; our parser
divides by the signed total. Without absolute values this makes a difference, so that both are measured; absolute
marginals choose the same tree either way.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from spacy_lpcfg.chart.parser import ChartSettings, Forest, Marginals, Parser
from spacy_lpcfg.learning import Smoothing, Spectral
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.treebank.features import (
    PAPER_INSIDE,
    PAPER_LEAF,
    PAPER_OUTSIDE,
    SIMPLE_INSIDE,
    SIMPLE_OUTSIDE,
)
from spacy_lpcfg.parsing.decodings import MaxRule
from spacy_lpcfg.trees import Tree, read_trees

DIVIDED, UNDIVIDED = "signed, divided by the signed total", "signed, not divided"
RULES = MaxRule()  # as the papers decode
SIGNED = ChartSettings(absolute=False)
Variants = dict[str, measure.Scored]


@dataclass(frozen=True)
class Undivided:
    """Marginals of a sentence with the sign that they have before they are divided by its total weight."""

    marginals: Marginals

    def __getattr__(self, name: str) -> Any:
        return getattr(self.marginals, name)

    def edges(self) -> np.ndarray:
        return np.sign(self.total) * self.marginals.edges()

    def items(self) -> np.ndarray:
        return np.sign(self.total) * self.marginals.items()


class UndividedParser(Parser):
    """Decodes marginals that are not divided by the total weight; a positive factor would change no tree.

    n_negative (int): Sentences so far whose total weight is negative.
    """

    n_negative = 0

    def marginals(self, forest: Forest) -> Undivided:
        marginals = Undivided(super().marginals(forest))
        self.n_negative += marginals.total < 0
        return marginals


def run(train: list[Tree], golds: list[Tree], m: int, seed: int) -> tuple[Variants, dict[str, float]]:
    """Return the scores of every variant with m states; and how many total weights are negative, and for how many
    sentences signed marginals choose another tree than absolute ones, in percent.
    """
    paper = Spectral(n_states=m, seed=seed, features=Features(PAPER_INSIDE, PAPER_OUTSIDE, PAPER_LEAF))
    simple = replace(paper, features=Features(SIMPLE_INSIDE, SIMPLE_OUTSIDE))
    unscaled = replace(paper, features=replace(paper.features, kappa=None))
    estimate = paper.estimate(train)
    full = estimate.grammar(paper.smoothing)
    undivided = UndividedParser(full, settings=SIGNED, decoding=RULES)
    variants: dict[str, Callable[[], Parser]] = {
        "full": lambda: Parser(full, decoding=RULES),
        "no smoothing": lambda: Parser(estimate.grammar(Smoothing(c=0.0, nu=1.0)), decoding=RULES),
        "no scaling": lambda: Parser(unscaled.fit(train), decoding=RULES),
        DIVIDED: lambda: Parser(full, settings=SIGNED, decoding=RULES),
        UNDIVIDED: lambda: undivided,
        "simple features": lambda: Parser(simple.fit(train), decoding=RULES),
    }
    scored: Variants = {}
    for name, parser in variants.items():
        scored[name] = measure.scored(parser(), golds, "given")
        measure.progress(f"m = {m}, seed {seed}: {name}: {scored[name].f1:.2f}")
    signs = {"total weight < 0, %": 100 * undivided.n_negative / len(golds)}
    for name in (DIVIDED, UNDIVIDED):
        pairs = zip(scored["full"].trees, scored[name].trees, strict=True)
        signs[f"other tree if {name}, %"] = 100 * sum(tree != other for tree, other in pairs) / len(golds)
    return scored, signs


def main() -> None:
    arguments = measure.arguments(__doc__, states=[8, 16, 24, 32], seeds=[0, 1, 2])
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    args = arguments.parse_args()
    train, golds = list(read_trees(args.treebank / "train.mrg")), measure.read_gold(args.treebank / f"{args.part}.mrg")
    runs = {m: [run(train, golds, m, seed) for seed in args.seeds] for m in args.states}
    rows = f1_rows({m: [scored for scored, _ in by_seed] for m, by_seed in runs.items()})
    signs = [{"m": m, **means([row for _, row in by_seed])} for m, by_seed in runs.items()]
    title = f"F1 on {args.treebank.name}, {args.part}, seeds {args.seeds}"
    measure.report({title: rows, "Negative values": signs}, args.json)


def means(rows: Sequence[dict[str, float]]) -> measure.Row:
    """The mean of each column."""
    return {name: statistics.mean(row[name] for row in rows) for name in rows[0]}


def f1_rows(runs: dict[int, list[Variants]]) -> list[measure.Row]:
    """A row for every variant and m: F1 over the seeds, and the change from the full system."""
    rows = []
    for name in next(iter(runs.values()))[0]:
        for m, by_seed in runs.items():
            full, variant = ([scored[system] for scored in by_seed] for system in ("full", name))
            change = measure.difference(full, variant)
            rows.append({"variant": name, "m": m, **measure.f1_cells(variant), "change": change})
    return rows


if __name__ == "__main__":
    main()
