"""Pivots as in their paper, beside ours, and EM after them: table 1 of Cohen and Collins (2014) again.

    python -m benchmarks.papers.pivot TREEBANK_DIR [--states M...] [--iterations N] [--seed S] [--plot FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Measures F1 on dev (EVALB, COLLINS.prm, all lengths, raw words) of the
pivots and after each of N iterations of EM (default: 10), of

- ours: `Pivot()`;
- paper: `Pivot.variant("paper")`, with exact convex EM and without smoothing;
- paper, our lexicon: the same states, with our smoothing of emissions across words and tags. The paper's parser gets
  the tags of a tagger, and needs less of it;
- the same, matched directly: by the remark below theorem 2 instead of step 3 of figure 2.

Seconds are of CPU; those of the paper's start are counted once, in the first of its rows. What the paper says stands
in `benchmarks.accuracy.iterations.PAPER`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from benchmarks import measure
from benchmarks.papers.by_iteration import arguments, draw, row, steps_of
from spacy_lpcfg.learning import LexicalSettings, Pivot
from spacy_lpcfg.learning.em import EMFit
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters
from spacy_lpcfg.trees import Tree, read_trees

DIRECT = "paper, our lexicon, matched directly"


def main() -> None:
    parser = arguments(__doc__, n_iterations=10)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of the learners")
    args = parser.parse_args()
    train, dev = (list(read_trees(args.treebank / f"{part}.mrg")) for part in ("train", "dev"))
    rows, fits = [], {}
    for m in args.states:
        for name, start in starts(m, args.seed, train):
            if args.only is None or name in args.only:
                measure.progress(f"m = {m}: {name}")
                steps = fits[f"{name}, m = {m}"] = steps_of(start, args.iterations, dev)
                rows.append(row(name, m, steps))
                measure.progress(str(rows[-1]))
    draw(args.plot, fits)
    measure.report({f"F1 on {args.treebank.name} by iterations of EM after pivots": rows}, args.json)


def starts(m: int, seed: int, train: Sequence[Tree]) -> Iterator[tuple[str, Callable[[], EMFit]]]:
    """EM at the pivots of each learner."""
    yield "ours", lambda: Pivot(n_states=m, seed=seed).start(train)
    paper = Pivot.variant("paper", n_states=m, seed=seed)
    treebank = IndexedTreebank.read(train, paper)
    smoothed = replace(treebank, lexical=LexicalSettings())  # which has the same terminals

    @cache
    def found() -> Parameters:
        return paper.parameters(treebank)

    yield "paper", lambda: paper.start_at(treebank, found())
    yield "paper, our lexicon", lambda: paper.start_at(smoothed, found())
    direct = replace(paper, pivots=replace(paper.pivots, matching="direct"))
    yield DIRECT, lambda: direct.start_at(smoothed, direct.parameters(smoothed))


if __name__ == "__main__":
    main()
