"""Additive tree metrics with settings chosen as by Parikh, Cohen and Xing (2014), and over samples of the text.

    python -m benchmarks.papers.additive_metrics TEXT... --tune TREES --trees TREES... [--samples N] [--json FILE]

TEXT are files to learn from, as in `benchmarks.papers.bracketing`. The variant `paper` learns with vectors of plain
counts and of their square roots. Two tables:

- choice: F1 on the sentences of up to 10 words of the trees to tune on, by the number of singular values m and the
  bandwidth gamma;
- F1 on the other trees, up to 10, 20 and 40 words, with the paper's m = 7 and gamma = 0.4 and with the best of the
  first table: from all of the text, and from N random halves of it (mean and range).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from benchmarks.papers.baselines import GoldSentence, gold_sentences
from benchmarks.papers.bracketing import LIMITS, PAPER, bracketed, scores
from spacy_lpcfg.bracketing import CCA
from spacy_lpcfg.bracketing.bracketer import Bracketer
from spacy_lpcfg.bracketing.paper.covariances import Covariances, covariances
from spacy_lpcfg.bracketing.paper.metric import distance_table
from spacy_lpcfg.bracketing.paper.metric_model import MetricModel
from spacy_lpcfg.bracketing.sentences import chunks
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.trees import read_trees

EMBEDDINGS = {"counts": CCA(roots=False), "square roots": CCA()}
SIZES, BANDWIDTHS = (3, 5, 7, 10, 15), (0.2, 0.4, 0.6, 0.8)
Treebanks = dict[str, list[GoldSentence]]


class Moments(NamedTuple):
    """The anchors of a text, and its covariances, from which every m and gamma have their distances."""

    groups: np.ndarray
    table: Covariances

    @classmethod
    def of(cls, text: Sequence[TaggedSentence], embedding: CCA) -> Moments:
        read = partial(chunks, text)
        groups = PAPER.anchors.fit(read)
        vectors = embedding.fit(read)
        return cls(groups, covariances(read(), vectors, groups, int(1.5 * PAPER.n_distances)))

    def bracketer(self, m: int, gamma: float) -> Bracketer:
        distances = distance_table(self.table, m=m, gamma=gamma, n_distances=PAPER.n_distances, min_pairs=0.0)
        return Bracketer(MetricModel(self.groups, distances, PAPER.apart))


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("text", type=Path, nargs="+", metavar="TEXT")
    arguments.add_argument("--tune", type=Path, required=True, metavar="TREES")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True, metavar="TREES")
    arguments.add_argument("--samples", type=int, default=3, metavar="N")
    args = arguments.parse_args()
    text = list(read_tagged(args.text))
    tuning = [gold for gold in gold_sentences(read_trees(args.tune)) if gold.n_words <= LIMITS[0]]
    treebanks = {f"{path.parent.name}/{path.stem}": list(gold_sentences(read_trees(path))) for path in args.trees}
    tables: dict[str, list[measure.Row]] = {"Choice": [], "F1 with the bracket of the whole sentence": []}
    for name, embedding in EMBEDDINGS.items():
        whole = Moments.of(text, embedding)
        choice = list(tried(name, whole, tuning))
        tables["Choice"] += choice
        best = max(choice, key=lambda row: row["F1"])
        sources = {"all": [whole], f"{args.samples} halves": halves(text, embedding, args.samples)}
        for (m, gamma), (source, moments) in product(
            dict.fromkeys([(PAPER.m, PAPER.gamma), (best["m"], best["gamma"])]), sources.items()
        ):
            f1s = [f1(treebanks, sample.bracketer(m, gamma)) for sample in moments]
            row = {"vectors": name, "m": m, "gamma": gamma, "text": source}
            row |= {limit: measure.mean_and_range([by_limit[limit] for by_limit in f1s]) for limit in f1s[0]}
            tables["F1 with the bracket of the whole sentence"].append(row)
            measure.progress(str(row))
    measure.report(tables, args.json)


def tried(name: str, moments: Moments, golds: list[GoldSentence]) -> Iterator[measure.Row]:
    """Yield a row for each m and gamma."""
    for m, gamma in product(SIZES, BANDWIDTHS):
        f = scores(golds, bracketed(moments.bracketer(m, gamma)))[0]
        measure.progress(f"{name}, m = {m}, gamma = {gamma}: {f:.2f}")
        yield {"vectors": name, "m": m, "gamma": gamma, "F1": f}


def halves(text: Sequence[TaggedSentence], embedding: CCA, n: int) -> list[Moments]:
    """Return the moments of n random halves of the sentences."""
    orders = (np.random.default_rng(seed).permutation(len(text)) for seed in range(n))
    return [Moments.of([text[i] for i in np.sort(order[: len(text) // 2])], embedding) for order in orders]


def f1(treebanks: Treebanks, bracketer: Bracketer) -> dict[str, float]:
    """Return F1 by treebank and limit of length."""
    return {
        f"{name} <= {limit}": value
        for name, golds in treebanks.items()
        for limit, value in zip(LIMITS, scores(golds, bracketed(bracketer)), strict=True)
    }


if __name__ == "__main__":
    main()
