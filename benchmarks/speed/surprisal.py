"""Measure what prefix probabilities of a proper grammar cost, and what leaving out unlikely constituents changes.

    python -m benchmarks.speed.surprisal GRAMMAR TREES [--words N] [--sentences N] [--json FILE]

Of the first sentences of N words (25) in TREES, at every threshold (`ChartSettings.prefix_threshold`): CPU seconds a
sentence, bits a word, and how far surprisals of words, and the sum of a sentence, are from the exact ones (0). The
first call makes the tables, once a grammar.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.grammar import Grammar

THRESHOLDS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("grammar", type=Path, metavar="GRAMMAR")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--words", type=int, default=25, metavar="N")
    arguments.add_argument("--sentences", type=int, default=10, metavar="N")
    args = arguments.parse_args()
    grammar = Grammar.from_disk(args.grammar)
    sentences = [tree.words for tree in measure.read_gold(args.trees) if len(tree) == args.words][: args.sentences]
    start = time.process_time()
    Parser(grammar).surprisal(sentences[0][:1])
    rows: list[measure.Row] = []
    tables, exact = time.process_time() - start, []
    for threshold in THRESHOLDS:
        parser = Parser(grammar, settings=replace(ChartSettings(), prefix_threshold=threshold))
        parser.surprisal(sentences[0][:1])
        start = time.process_time()
        surprisals = [parser.surprisal(words) for words in sentences]
        seconds = (time.process_time() - start) / len(sentences)
        exact = exact or surprisals
        pairs = [(one, other) for one, other in zip(surprisals, exact, strict=True) if np.isfinite(other).all()]
        rows.append(
            {
                "threshold": threshold,
                "seconds": seconds,
                "bits": float(np.mean([one.mean() for one, _ in pairs])),
                "largest_of_words": float(max(np.abs(one - other).max() for one, other in pairs)),
                "largest_of_sentences": float(max(abs((one - other).sum()) for one, other in pairs)),
            }
        )
    sizes = {"symbols": grammar.n_symbols, "rules": grammar.n_rules, "states": int(grammar.n_states.sum())}
    measure.report({"grammar": [{**sizes, "table_seconds": tables}], "surprisal": rows}, args.json)


if __name__ == "__main__":
    main()
