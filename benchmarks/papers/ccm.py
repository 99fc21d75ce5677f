"""CCM from its authors' start by length of sentences, and from random starts: the rows of Parikh et al. (2014).

    python -m benchmarks.papers.ccm TREES [--text TEXT...] [--symbols NAME...] [--unseen] [--max-words N...]
        [--starts N] [--json FILE]

Learns from the tags of the sentences of TREES and TEXT of at most N words without punctuation, from the start of Klein
and Manning (2002); with --unseen from those of TEXT alone, as other systems learn. Symbols are the treebank's tags
(CCM in the paper), universal tags (CCM-U), or either of them with the word's Brown cluster (CCM-OB, CCM-UB). F1 is on
TREES, with the bracket of the whole sentence. The second table is of figure 4 of Parikh et al.: random starts, on the
sentences of the least number of words, with the F1 of the best one, of the mean, and of the one whose likelihood of all
sentences is highest. No tree is needed to choose by it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import measure
from benchmarks.papers.baselines import GoldSentence, gold_sentences
from benchmarks.papers.ccm_model import CCM
from spacy_lpcfg.bracketing import Brown
from spacy_lpcfg.bracketing.sentences import chunks
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation, universal
from spacy_lpcfg.evaluation.unlabelled import unlabelled_totals
from spacy_lpcfg.trees import read_trees

SYMBOLS = ("tags", "universal", "tags and clusters", "universal tags and clusters")


class Symbols:
    """A function from a sentence to the symbols that CCM learns from: tags, and clusters of words.

    name (str): One of `SYMBOLS`.
    text (sequence of TaggedSentence): The text whose words are clustered.
    """

    def __init__(self, name: str, text: Sequence[TaggedSentence]) -> None:
        self.tag: Callable[[str], str] = universal if name.startswith("universal") else str
        self.embedding = Brown().fit(lambda: chunks(text)) if name.endswith("clusters") else None

    def __call__(self, sentence: TaggedSentence) -> list[str]:
        """Return the symbols of the words that are no punctuation."""
        kept = [pair for pair in zip(*sentence, strict=True) if not is_punctuation(pair[1], pair[0])]
        symbols = [self.tag(tag) for _, tag in kept]
        if self.embedding is None or not kept:
            return symbols
        (chunk,) = chunks([TaggedSentence(*zip(*kept, strict=True))])
        ids = self.embedding.vocabulary.ids(chunk)
        clusters = self.embedding.vectors[ids][:, -Brown.n_clusters :].argmax(axis=1)
        known = ids >= len(self.embedding.vocabulary) - len(self.embedding.vocabulary.words)
        return [f"{symbol} {c}" if k else symbol for symbol, c, k in zip(symbols, clusters, known, strict=True)]


class Sentences(NamedTuple):
    """The sentences of up to a number of words: those to score, and the symbols of all to learn from."""

    golds: Sequence[GoldSentence]
    tags: Sequence[list[str]]
    symbols: Symbols

    @classmethod
    def of(cls, golds: Sequence[GoldSentence], tags: Sequence[list[str]], symbols: Symbols, limit: int) -> Sentences:
        short = [gold for gold in golds if gold.n_words <= limit]
        return cls(short, [sequence for sequence in tags if 1 < len(sequence) <= limit], symbols)

    def learned(self, seed: int | None = None) -> tuple[float, float]:
        """Log-likelihood and F1 of a model; seed (int or None): None for the start of Klein and Manning."""
        model = CCM(seed=seed).fit(self.tags)
        scores = (gold.score(model.bracket(self.symbols(gold.tagged))) for gold in self.golds)
        return model.log_likelihood(self.tags), unlabelled_totals(scores).f_with_sentence


def random_starts(sentences: Sentences, n_starts: int) -> measure.Row:
    """Return statistics of the F1 of random starts."""
    likelihood, _ = sentences.learned()
    likelihoods_and_f1s = [sentences.learned(seed) for seed in range(n_starts)]
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
    arguments = measure.arguments(__doc__, max_words=[10, 20, 40], starts=20, unseen=False)
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--text", type=Path, nargs="+", default=[], metavar="TEXT")
    arguments.add_argument("--symbols", nargs="+", choices=SYMBOLS, default=["tags"], metavar="NAME")
    args = arguments.parse_args()
    golds = list(gold_sentences(read_trees(args.trees)))
    text = list(read_tagged(args.text))
    rows, starts = [], []
    for name in args.symbols:
        symbols = Symbols(name, [*(gold.tagged for gold in golds), *text])
        tags = [symbols(sentence) for sentence in (*(() if args.unseen else (g.tagged for g in golds)), *text)]
        by_limit = {limit: Sentences.of(golds, tags, symbols, limit) for limit in sorted(args.max_words)}
        for limit, sentences in by_limit.items():
            _, f1 = sentences.learned()
            rows.append({"symbols": name, "words": limit, "sentences": len(sentences.tags), "F1": f1})
            measure.progress(str(rows[-1]))
        if args.starts:
            least = by_limit[min(by_limit)]
            starts.append({"symbols": name, **random_starts(least, args.starts)})
    tables = {"Klein and Manning's start: F1 with the bracket of the whole sentence": rows}
    if starts:
        tables[f"Random starts, up to {min(args.max_words)} words"] = starts
    measure.report(tables, args.json)


if __name__ == "__main__":
    main()
