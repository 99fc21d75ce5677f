"""CCM from random starts: the F1 of the best one, of the mean, and of the one that the likelihood chooses.

    python -m benchmarks.papers.ccm TREES --text TEXT... [--max-words N...] [--starts N] [--iterations N] [--json FILE]

Learns from the tags of the sentences of TREES and TEXT of at most N words without punctuation, once from the start of
Klein and Manning (2002), and from random starts. F1 is on those of TREES, with the bracket of the whole sentence. The
likelihood is that of all sentences it learned from; no tree is needed to choose by it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.bracketing.baselines.ccm import CCM, ConstituentContext
from spacy_lpcfg.bracketing.baselines.comparison import GoldSentence, gold_sentences
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.evaluation.unlabelled import unlabelled_totals
from spacy_lpcfg.trees import read_trees


def f1(model: ConstituentContext, golds: Sequence[GoldSentence]) -> float:
    return unlabelled_totals(gold.score(model.bracket(gold.tags)) for gold in golds).f_with_sentence


def row(golds: Sequence[GoldSentence], text: Sequence[list[str]], n_starts: int, n_iterations: int) -> measure.Row:
    """Scores of one limit of length."""

    def learned(seed: int | None) -> tuple[float, float]:
        model = CCM(n_iterations, seed=seed).fit(text)
        return model.log_likelihood(text), f1(model, golds)

    likelihood, of_paper = learned(None)
    likelihoods_by_start = [learned(seed) for seed in range(n_starts)]
    likelihoods, f1s = zip(*likelihoods_by_start, strict=True)
    return {
        "sentences": len(text),
        "split uniformly": of_paper,
        "random: best": max(f1s),
        "mean": statistics.mean(f1s),
        "deviation": statistics.stdev(f1s),
        "by likelihood": max(likelihoods_by_start)[1],
        "correlation with likelihood": float(np.corrcoef(likelihoods, f1s)[0, 1]),
        "starts above the paper's likelihood": sum(value > likelihood for value in likelihoods),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--text", type=Path, nargs="+", required=True, metavar="TEXT")
    arguments.add_argument("--max-words", type=int, nargs="+", default=[10], metavar="N")
    arguments.add_argument("--starts", type=int, default=10, metavar="N")
    arguments.add_argument("--iterations", type=int, default=10, metavar="N")
    args = arguments.parse_args()
    golds = list(gold_sentences(read_trees(args.trees)))
    tags = [gold.tags for gold in golds]
    for words, marks in read_tagged(args.text):
        tags.append([tag for word, tag in zip(words, marks, strict=True) if not is_punctuation(tag, word)])
    rows: list[measure.Row] = []
    for limit in args.max_words:
        measure.progress(f"up to {limit} words")
        text = [sequence for sequence in tags if 1 < len(sequence) <= limit]
        scored = [gold for gold in golds if gold.n_words <= limit]
        rows.append({"words": limit, **row(scored, text, args.starts, args.iterations)})
    measure.report({"F1 with the bracket of the whole sentence": rows}, args.json)


if __name__ == "__main__":
    main()
