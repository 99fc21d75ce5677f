"""Spectral learning, pivots and EM side by side: tables 2 and 3 of Cohen et al. (2013) again.

    python -m benchmarks.papers.spectral TREEBANK_DIR [--part PART] [--states M...] [--seeds S...] [--only NAME...]
        [--tags given|model...] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Learns by the variants of 2013, which have the same
lexicon, by spectral learning of that variant without smoothing, and by our defaults. EM makes 20 iterations. Measures
F1 (EVALB, COLLINS.prm, all lengths) of max-rule trees with the treebank's tags (given), as the paper decodes, and of
mbr trees of raw words (model): the mean over the seeds, with the range. The learners of a seed take turns in one
process; the speed-up is CPU seconds of EM, 2013, over those of the learner, the median over the seeds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import EM, Pivot, Spectral
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.spectral import NO_SMOOTHING
from spacy_lpcfg.trees import Tree, read_trees

DECODINGS = {"given": "max-rule", "model": "mbr"}
"""The decoding for each source of tags."""


def learners(m: int, seed: int) -> dict[str, Learner]:
    """Return the learners by their names in the table."""
    return {
        "EM, 2013": EM.variant("2013", n_states=m, seed=seed),
        "spectral, 2013": Spectral.variant("2013", n_states=m, seed=seed),
        "spectral, 2013, not smoothed": Spectral.variant("2013", n_states=m, seed=seed, smoothing=NO_SMOOTHING),
        "EM": EM(n_states=m, seed=seed),
        "spectral": Spectral(n_states=m, seed=seed),
        "pivot": Pivot(n_states=m, seed=seed, n_iterations=0),
        "pivot + EM": Pivot(n_states=m, seed=seed),
    }


def main() -> None:
    names = list(learners(1, 0))
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--part", choices=("dev", "test"), default="dev", help="the trees to parse; default: dev")
    arguments.add_argument("--states", type=int, nargs="+", default=[8, 16, 24, 32], metavar="M")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="S")
    arguments.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="of the learners")
    arguments.add_argument("--tags", nargs="+", choices=DECODINGS, default=list(DECODINGS), help="default: both")
    args = arguments.parse_args()
    train, golds = list(read_trees(args.treebank / "train.mrg")), measure.read_gold(args.treebank / f"{args.part}.mrg")
    rows = []
    for m in args.states:
        runs: dict[str, list[measure.Row]] = {name: [] for name in args.only}
        for seed in args.seeds:
            for name in args.only:
                runs[name].append(run(learners(m, seed)[name], train, golds, args.tags))
                measure.progress(f"m = {m}, seed {seed}, {name}: {runs[name][-1]}")
        rows += [summary(name, m, runs[name], runs.get("EM, 2013")) for name in args.only]
    measure.report({f"{args.treebank.name}, {args.part}, {len(args.seeds)} seeds": rows}, args.json)


def run(learner: Learner, train: Sequence[Tree], golds: Sequence[Tree], sources: Sequence[str]) -> measure.Row:
    """Return CPU seconds of learning, and F1 for each source of tags."""
    start = time.process_time()
    grammar = learner.fit(train)
    seconds = time.process_time() - start
    assert isinstance(grammar, Grammar)
    return {"seconds": seconds, **{tags: f1(grammar, golds, tags) for tags in sources}}


def f1(grammar: Grammar, golds: Sequence[Tree], tags: str) -> float:
    parses, _ = measure.parse_all(grammar.parser(decoding=DECODINGS[tags]), golds, tags)
    return evaluate(golds, [parse.tree for parse in parses]).scores()["evalb_f"]


def summary(name: str, m: int, runs: Sequence[measure.Row], em: Sequence[measure.Row] | None) -> measure.Row:
    """Return the row of a learner; em: the runs with the same seeds that its seconds are compared with."""
    ratios = [of_em["seconds"] / run["seconds"] for run, of_em in zip(runs, em or (), strict=False)]
    return {
        "learner": name,
        "m": m,
        **{
            f"F1, {tags} tags, {decoding}": mean_and_range([run[tags] for run in runs])
            for tags, decoding in DECODINGS.items()
            if tags in runs[0]
        },
        "CPU s": statistics.median(run["seconds"] for run in runs),
        "speed-up": statistics.median(ratios) if ratios else None,
    }


def mean_and_range(values: Sequence[float]) -> str:
    """Return a mean and, of several values, the least and the largest."""
    spread = f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


if __name__ == "__main__":
    main()
