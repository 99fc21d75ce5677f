"""Score a bracketer beside baselines, CCM (Klein and Manning 2002) and the best binary trees: unlabelled F1 on trees.

    python -m benchmarks.papers.brackets MODEL TREES... [--text TEXT...] [--seed N] [--json FILE]

MODEL is a pipeline with a spectral_bracketer. Sentences are those of at most 10, 20 and 40 words without punctuation,
and all. F1 is of the brackets of all sentences together, and the mean over sentences; both without the brackets of
whole sentences, and with them as in Klein and Manning (2002) and Parikh et al. (2014). CCM learns from the tags of
TREES, and of TEXT.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import spacy

from benchmarks import measure
from benchmarks.papers.comparison import Table, compare, gold_sentences
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.trees import read_trees

SCORES = {
    "F1 of all brackets together": "f",
    "F1 of all brackets together, with whole sentences": "f_with_sentence",
    "mean F1 of sentences": "sentence_f",
    "mean F1 of sentences, with whole sentences": "sentence_f_with_sentence",
}


def rows(table: Table, score: str) -> Iterator[measure.Row]:
    """Yield a row for each system, with a column for each limit of length, and the number of sentences."""
    for system, totals in table.items():
        yield {"system": system, **{limit: getattr(totals[limit], score) for limit in totals}}
    yield {"system": "sentences", **{limit: each.n_sentences for limit, each in next(iter(table.values())).items()}}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    arguments.add_argument("--text", type=Path, nargs="+", default=[])
    arguments.add_argument("--seed", type=int, default=0, help="of the random trees")
    args = arguments.parse_args()
    bracketer = spacy.load(args.model).get_pipe("spectral_bracketer")
    golds = list(gold_sentences(chain.from_iterable(map(read_trees, args.trees))))
    table = compare(bracketer.bracket, golds, text=read_tagged(args.text) if args.text else (), seed=args.seed)
    measure.report({title: list(rows(table, score)) for title, score in SCORES.items()}, args.json)


if __name__ == "__main__":
    main()
