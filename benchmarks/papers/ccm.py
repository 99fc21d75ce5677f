"""CCM from its authors' start by length of sentences, and from random starts: the rows of Parikh et al. (2014).

    python -m benchmarks.papers.ccm TREES --text TEXT... [--max-words N...] [--starts N] [--iterations N] [--json FILE]

Learns from the tags of the sentences of TREES and TEXT of at most N words without punctuation, from the start of Klein
and Manning (2002). F1 is on those of TREES, with the bracket of the whole sentence. The second table is of figure 4 of
Parikh et al.: random starts, on the sentences of the least number of words, with the F1 of the best one, of the mean,
and of the one whose likelihood of all sentences is highest. No tree is needed to choose by it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import measure
from benchmarks.papers.comparison import GoldSentence, gold_sentences
from spacy_lpcfg.bracketing.paper.ccm import CCM, ConstituentContext
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.evaluation.unlabelled import unlabelled_totals
from spacy_lpcfg.trees import read_trees


def f1(model: ConstituentContext, golds: Sequence[GoldSentence]) -> float:
    return unlabelled_totals(gold.score(model.bracket(gold.tags)) for gold in golds).f_with_sentence


class Sentences(NamedTuple):
    """The sentences of up to a number of words: those to score, and the tags of all to learn from."""

    golds: Sequence[GoldSentence]
    tags: Sequence[list[str]]

    def learned(self, n_iterations: int, seed: int | None = None) -> tuple[float, float]:
        """Log-likelihood and F1 of a model; seed (int or None): None for the start of Klein and Manning."""
        model = CCM(n_iterations, seed=seed).fit(self.tags)
        return model.log_likelihood(self.tags), f1(model, self.golds)


def random_starts(sentences: Sentences, n_starts: int, n_iterations: int) -> measure.Row:
    """Return statistics of the F1 of random starts."""
    likelihood, _ = sentences.learned(n_iterations)
    likelihoods_and_f1s = [sentences.learned(n_iterations, seed) for seed in range(n_starts)]
    likelihoods, f1s = zip(*likelihoods_and_f1s, strict=True)
    return {
        "starts": n_starts,
        "best": max(f1s),
        "mean": statistics.mean(f1s),
        "worst": min(f1s),
        "deviation": statistics.pstdev(f1s),
        "by likelihood": max(likelihoods_and_f1s)[1],
        "correlation with likelihood": float(np.corrcoef(likelihoods, f1s)[0, 1]),
        "starts above Klein and Manning's likelihood": sum(value > likelihood for value in likelihoods),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--text", type=Path, nargs="+", required=True, metavar="TEXT")
    arguments.add_argument("--max-words", type=int, nargs="+", default=[10, 20, 40], metavar="N")
    arguments.add_argument("--starts", type=int, default=20, metavar="N", help="random ones; default: 20")
    arguments.add_argument("--iterations", type=int, default=10, metavar="N")
    args = arguments.parse_args()
    golds = list(gold_sentences(read_trees(args.trees)))
    tags = [gold.tags for gold in golds]
    for words, marks in read_tagged(args.text):
        tags.append([tag for word, tag in zip(words, marks, strict=True) if not is_punctuation(tag, word)])
    by_limit = {
        limit: Sentences(
            [gold for gold in golds if gold.n_words <= limit],
            [sequence for sequence in tags if 1 < len(sequence) <= limit],
        )
        for limit in sorted(args.max_words)
    }
    rows: list[measure.Row] = []
    for limit, sentences in by_limit.items():
        measure.progress(f"up to {limit} words")
        f = sentences.learned(args.iterations)[1]
        rows.append({"words": limit, "sentences": len(sentences.tags), "F1": f})
    tables = {"Klein and Manning's start: F1 with the bracket of the whole sentence": rows}
    if args.starts:
        least = min(args.max_words)
        tables[f"Random starts, up to {least} words"] = [random_starts(by_limit[least], args.starts, args.iterations)]
    measure.report(tables, args.json)


if __name__ == "__main__":
    main()
