"""The papers' EM, which is not smoothed, beside ours: table 1 of Cohen et al. (2013) again.

    python -m benchmarks.papers.em TREEBANK_DIR [--states M...] [--iterations N] [--every K] [--seed S] [--plot FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Measures F1 on dev (EVALB, COLLINS.prm, all lengths, raw words) after every
K of N iterations of EM from a random start (default: every 5 of 40), of

- ours: `EM()`, smoothed;
- paper: `EM.variant("paper")`, without smoothing;
- paper, our lexicon: the same, with our smoothing of emissions across words and tags. The papers' parser gets the tags
  of a tagger, and needs less of it.

Seconds are of CPU.
"""

from __future__ import annotations

from functools import partial

from benchmarks import measure
from benchmarks.papers.by_iteration import arguments, draw, row, steps_of
from spacy_lpcfg.learning import EM, LexicalSettings
from spacy_lpcfg.trees import read_trees

# F1 on section 22 after 10, 20, ... 100 iterations, by m: table 1 of Cohen et al. (2013).
PAPER = {
    8: (83.51, 86.45, 86.68, 86.69, 86.63, 86.67, 86.70, 86.82, 86.87, 86.83),
    16: (85.18, 87.94, 88.32, 88.21, 88.10, 87.86, 87.70, 87.46, 87.34, 87.24),
    24: (83.62, 88.19, 88.35, 88.25, 87.73, 87.41, 87.35, 87.26, 87.02, 86.80),
    32: (83.23, 88.56, 88.52, 87.82, 87.06, 86.47, 86.38, 85.85, 85.75, 85.57),
}


def main() -> None:
    parser = arguments(__doc__, n_iterations=40)
    parser.add_argument("--every", type=int, default=5, metavar="K")
    args = parser.parse_args()
    train, dev = (list(read_trees(args.treebank / f"{part}.mrg")) for part in ("train", "dev"))
    rows, fits = [], {}
    for m in args.states:
        for name, learner in learners(m, args.seed).items():
            measure.progress(f"m = {m}: {name}")
            start = partial(learner.start, train)
            steps = fits[f"{name}, m = {m}"] = steps_of(start, args.iterations, dev, first=1, check_every=args.every)
            rows.append(row(name, m, steps))
            measure.progress(str(rows[-1]))
    draw(args.plot, fits)
    paper = [{"m": m, **{str(10 * (i + 1)): f1 for i, f1 in enumerate(PAPER[m])}} for m in args.states if m in PAPER]
    tables = {f"F1 on {args.treebank.name} by iterations of EM": rows}
    measure.report(tables | ({"The paper, section 22": paper} if paper else {}), args.json)


def learners(m: int, seed: int) -> dict[str, EM]:
    """EM as it is compared."""
    return {
        "ours": EM(n_states=m, seed=seed),
        "paper": EM.variant("paper", n_states=m, seed=seed),
        "paper, our lexicon": EM.variant("paper", lexical=LexicalSettings(), n_states=m, seed=seed),
    }


if __name__ == "__main__":
    main()
