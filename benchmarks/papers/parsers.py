"""The papers' learners beside ours: the tables of F1 of Cohen et al. (2013) and of Cohen and Collins (2014) again.

    python -m benchmarks.papers.parsers TREEBANK_DIR [--states M...] [--seeds S...] [--only NAME...] [--tags TAGS...]
        [--first N] [--iterations N] [--every K] [--after N] [--json FILE]

A TREEBANK_DIR holds train.mrg, from which all learn, dev.mrg, which chooses the number of iterations of EM, and
test.mrg, whose F1 (EVALB, COLLINS.prm, all lengths) is reported: the mean over the seeds, with a 95% interval by a
bootstrap over sentences and seeds. Dev is parsed from raw words, after every K iterations of EM from a random start,
from the first N to the last (default: every 10 of 40), and before and after each of `--after` iterations from pivots
(5). Test is parsed from raw words (model), and with the treebank's tags (given). The learners are

- EM, spectral, pivot + EM: our defaults; raw words are decoded by `mbr`, given tags by `max-rule`;
- with ", paper": the variants of the papers, which have no smoothing but that of the spectral moments, and the parser
  of the papers, which prunes by marginals of the treebank PCFG and by nothing else, and decodes by `max-rule`;
- with ", our lexicon": the same, with our smoothing of emissions across words and tags. The papers' parsers get the
  tags of a tagger, and need less of it;
- pivot + EM, figure 2: with the other one of the two ways to match states.

Dropped are sentences that EVALB leaves out, failed are those whose tree is a fall-back's, of all seeds. Seconds are of
CPU until the chosen iteration, the median over the seeds. The learners of a seed take turns in one process. The
speed-up is against the papers' EM. Differences are to EM, of our defaults or of the variants, by a paired bootstrap.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import EM, LexicalSettings, Pivot, Spectral
from spacy_lpcfg.learning.pivot import PivotFeatures
from spacy_lpcfg.learning.tuning import NO_SMOOTHING
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, read_trees

TAGS = ("model", "given")
DECODINGS = {"model": "mbr", "given": "max-rule"}
"""Our decoding for each source of tags."""
PAPER_DECODING, PAPER_CHART = "max-rule", ChartSettings.variant("paper")
REFERENCE = "EM, paper"
"""The learner whose seconds are divided by those of the others."""
BASES = ("EM", REFERENCE, "EM, paper, our lexicon")
"""The learners that others of their kind are compared with."""

Learner = EM | Spectral | Pivot


def learners(m: int, seed: int) -> dict[str, Learner]:
    """Return the learners by their names in the tables."""
    common = {"n_states": m, "seed": seed}
    ours = {"lexical": LexicalSettings(), **common}
    return {
        "EM": EM(**common),
        "spectral": Spectral(**common),
        "pivot + EM": Pivot(**common),
        "pivot + EM, figure 2": Pivot(pivots=PivotFeatures(matching="transition"), **common),
        REFERENCE: EM.variant("paper", **common),
        "EM, paper, our lexicon": EM.variant("paper", **ours),
        "spectral, paper": Spectral.variant("paper", **common),
        "spectral, paper, not smoothed": Spectral.variant("paper", smoothing=NO_SMOOTHING, **common),
        "pivot + EM, paper, our lexicon": Pivot.variant("paper", **ours),
    }


@dataclass(frozen=True)
class Candidate:
    """A grammar after some iterations of EM.

    seconds (float): CPU seconds of learning so far
    dev (float): F1 on the development trees; nan of the only candidate
    """

    iteration: int
    grammar: Grammar
    seconds: float
    dev: float


@dataclass(frozen=True)
class Run:
    """A learner with one seed.

    start, best (dict of str to Scored): Test by the source of tags, under the first candidate and the chosen one
    iteration (int): Of the chosen one; seconds (float): CPU seconds until it
    dev (dict of int to float): F1 on the development trees by iteration
    """

    start: dict[str, measure.Scored]
    best: dict[str, measure.Scored]
    iteration: int
    seconds: float
    dev: dict[int, float]


class Comparison:
    """Learns from a treebank, and scores.

    args (argparse.Namespace): The command's arguments
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.train = list(read_trees(args.treebank / "train.mrg"))
        self.dev, self.test = (measure.read_gold(args.treebank / f"{part}.mrg") for part in ("dev", "test"))

    def run(self, name: str, learner: Learner) -> Run:
        candidates = list(self.candidates(name, learner))
        best = max(candidates, key=lambda candidate: candidate.dev)
        start = candidates[0] if isinstance(learner, Pivot) else best
        of_best = self.scores(name, best.grammar)
        return Run(
            of_best if start is best else self.scores(name, start.grammar),
            of_best,
            best.iteration,
            best.seconds,
            {candidate.iteration: candidate.dev for candidate in candidates if len(candidates) > 1},
        )

    def candidates(self, name: str, learner: Learner) -> Iterator[Candidate]:
        """Yield the grammars that the development trees are parsed by."""
        if isinstance(learner, Spectral):
            grammar, seconds = measure.timed(learner.fit, self.train)
            yield Candidate(0, grammar, seconds, nan)
            return
        looked_at = self.iterations(learner)
        fit, seconds = measure.timed(learner.start, self.train)
        for iteration in range(looked_at[-1] + 1):
            if iteration:
                seconds += measure.timed(fit.step)[1]
            if iteration in looked_at:
                grammar, of_grammar = measure.timed(fit.grammar)
                dev = parsed(name, grammar, self.dev, "model").f1 if len(looked_at) > 1 else nan
                yield Candidate(iteration, grammar, seconds + of_grammar, dev)

    def iterations(self, learner: Learner) -> range:
        """The iterations after which the development trees are parsed."""
        if isinstance(learner, EM):
            return range(self.args.first or self.args.every, self.args.iterations + 1, self.args.every)
        return range(self.args.after + 1)

    def scores(self, name: str, grammar: Grammar) -> dict[str, measure.Scored]:
        """Test by the source of tags."""
        return {tags: parsed(name, grammar, self.test, tags) for tags in self.args.tags}


def parsed(name: str, grammar: Grammar, golds: Sequence[Tree], tags: str) -> measure.Scored:
    """Parse trees as the learner of a name does: by the papers' parser or by ours."""
    if "paper" in name:
        parser = make_parser(grammar, decoding=PAPER_DECODING, chart=PAPER_CHART)
    else:
        parser = make_parser(grammar, decoding=DECODINGS[tags])
    return measure.scored(parser, golds, tags)


def main() -> None:
    names = list(learners(1, 0))
    arguments = measure.arguments(__doc__, states=[8, 16], seeds=[0, 1, 2], iterations=40, every=10, after=5)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="of the learners")
    arguments.add_argument("--tags", nargs="+", choices=TAGS, default=["model"], help="default: model")
    arguments.add_argument("--first", type=int, metavar="N", help="iterations until dev is parsed first; default: K")
    args = arguments.parse_args()
    comparison, rows, differences = Comparison(args), [], []
    curves: dict[str, list[measure.Row]] = {}
    for m in args.states:
        runs = runs_of(comparison, m)
        for name in args.only:
            rows += summary(name, m, runs[name], runs.get(REFERENCE))
            start = "pivots" if has_pivots(name) else "a random start"
            if runs[name][0].dev:
                curves.setdefault(f"F1 on dev by iterations of EM from {start}", []).append(curve(name, m, runs[name]))
        differences += [row for base in BASES if base in runs for row in compared(base, m, runs)]
    title = f"{args.treebank.name}: F1 on test, iterations chosen on dev, seeds {args.seeds}"
    tables = {title: rows, **({"Differences of F1": differences} if differences else {}), **curves}
    measure.report(tables, args.json)


def runs_of(comparison: Comparison, m: int) -> dict[str, list[Run]]:
    """The runs of each learner, a seed after the other."""
    runs: dict[str, list[Run]] = {name: [] for name in comparison.args.only}
    for seed in comparison.args.seeds:
        for name, of_learner in runs.items():
            run = comparison.run(name, learners(m, seed)[name])
            of_learner.append(run)
            f1 = {tags: round(scored.f1, 2) for tags, scored in run.best.items()}
            measure.progress(f"m = {m}, seed {seed}, {name}: {f1}, {run.iteration} iterations, {run.dev}")
    return runs


def summary(name: str, m: int, runs: Sequence[Run], reference: Sequence[Run] | None) -> list[measure.Row]:
    """Return the row of a learner, and before it that of the pivots where EM starts."""
    ratios = [slow.seconds / run.seconds for run, slow in zip(runs, reference or (), strict=False)]
    best = {
        "learner": name,
        "m": m,
        **f1_cells([run.best for run in runs]),
        "iterations": ", ".join(str(run.iteration) for run in runs if run.dev),
        "CPU s": statistics.median(run.seconds for run in runs),
        "speed-up": statistics.median(ratios) if ratios else None,
    }
    if not has_pivots(name):
        return [best]
    start = dict.fromkeys(best) | {"learner": name.replace(" + EM", ""), "m": m}
    return [start | f1_cells([run.start for run in runs]), best]


def f1_cells(scores: Sequence[dict[str, measure.Scored]]) -> measure.Row:
    cells: measure.Row = {}
    for tags in scores[0]:
        cells |= measure.f1_cells([by_tags[tags] for by_tags in scores], tags)
    return cells


def compared(base: str, m: int, runs: dict[str, list[Run]]) -> Iterator[measure.Row]:
    """Yield the differences of the learners of a kind to EM, and of pivots before EM."""
    for name, of_learner in runs.items():
        if name == base or kind(name) != kind(base):
            continue
        stages = {name: [run.best for run in of_learner]}
        if has_pivots(name):
            stages = {name.replace(" + EM", ""): [run.start for run in of_learner], **stages}
        for shown, scored in stages.items():
            cells = {
                f"{tags} tags": measure.difference(
                    [run.best[tags] for run in runs[base]], [by_tags[tags] for by_tags in scored]
                )
                for tags in scored[0]
            }
            yield {"learner": shown, "less": base, "m": m, **cells}


def has_pivots(name: str) -> bool:
    return name.startswith("pivot")


def kind(name: str) -> tuple[bool, bool]:
    """Whether a learner is a paper's, and whether its lexicon is ours."""
    return "paper" in name, "our lexicon" in name


def curve(name: str, m: int, runs: Sequence[Run]) -> measure.Row:
    """The mean F1 on dev by iteration."""
    means = {str(i): statistics.mean(run.dev[i] for run in runs) for i in runs[0].dev}
    return {"learner": name, "m": m, **means}


if __name__ == "__main__":
    main()
