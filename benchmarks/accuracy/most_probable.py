"""Measure how close to the most probable tree the trees of each decoding are, under grammars with latent states.

    python -m benchmarks.accuracy.most_probable MODEL... --trees TREES [--sentences N] [--wide W] [--json FILE]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it, or the file of a saved grammar, and has tree
probabilities; of TREES the words of the first N sentences are parsed, if the grammar has a tree for them. The tree of
the decoding "most-probable", which is that of `n_best(1)`, is compared with the best of `n_best(W)`, which looks at
10 W + 20 candidates instead of 30: how often it is another one, and by how many nats it is then less probable, in the
mean, at most and at least. "proven" are the sentences where the trees that were found leave all others together less
probability than the best one has. The trees of the other decodings are compared with that of `n_best(1)` likewise;
those of probability 0 count as others, and not in the nats. All log-probabilities of trees are exact
(`tree_log_probability`), with their tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy.levers import read_model
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED

OTHERS = ("max-rule", "mbr")


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, required=True, metavar="TREES")
    arguments.add_argument("--sentences", type=int, default=100, metavar="N")
    arguments.add_argument("--wide", type=int, default=100, metavar="W")
    args = arguments.parse_args()
    tables = {}
    for path in args.models:
        parsers = {name: make_parser(read_model(path), decoding=name) for name in ("most-probable", *OTHERS)}
        words = parsed_words(parsers["mbr"], args.trees, args.sentences)
        measure.progress(f"{path}: {len(words)} sentences")
        tables[f"{path}: {len(words)} sentences of {args.trees}"] = rows(parsers, words, args.wide)
    measure.report(tables, args.json)


def parsed_words(parser: Parser, trees: Path, n: int) -> list[Sequence[str]]:
    """The words of the first sentences that the grammar itself has a tree for."""
    first = [gold.words for gold in measure.read_gold(trees)[:n]]
    return [words for words in first if parser.parse(Query(words)).status == PARSED]


def rows(parsers: dict[str, Parser], sentences: list[Sequence[str]], wide: int) -> list[measure.Row]:
    nats: dict[str, list[float]] = {name: [] for name in parsers}
    n_proven = 0
    for words in sentences:
        query = Query(words)
        parser = parsers["most-probable"]
        analyses = parser.n_best(query, wide)
        n_proven += analyses[0].probability >= 1 - sum(analysis.probability for analysis in analyses)
        best = parser.tree_log_probability(analyses[0].tree)
        log_probability = parser.tree_log_probability(parser.parse(query).tree)
        nats["most-probable"].append(best - log_probability)
        for name in OTHERS:
            nats[name].append(log_probability - parser.tree_log_probability(parsers[name].parse(query).tree))
    against = {name: "n_best(1)" for name in OTHERS} | {"most-probable": f"best of n_best({wide}), proven {n_proven}"}
    return [{"decoding": name, "against": against[name], **summary(differences)} for name, differences in nats.items()]


def summary(nats: list[float]) -> measure.Row:
    """Return how many trees differ, and how much less probable they are where they have a probability."""
    others = [difference for difference in nats if abs(difference) > 1e-6]
    finite = [difference for difference in others if isfinite(difference)]
    return {
        "other trees": len(others),
        "of probability 0": len(others) - len(finite),
        "nats, mean": sum(finite) / len(finite) if finite else 0.0,
        "nats, most": max(finite, default=0.0),
        "nats, least": min(finite, default=0.0),
    }


if __name__ == "__main__":
    main()
