"""What the order of `spacy-lpcfg doubt` is worth: how wrong the trees are that it puts first, beside trees at random.

    python -m benchmarks.accuracy.doubt en GUM/dev.mrg WSJ/dev.mrg MCTB/law.mrg

For the 50 sentences with the largest entropy per word, the 50 with the largest entropy, and all sentences, it prints
the share of wrong trees, words per sentence, and wrong or missing brackets per 100 words. On average, a choice at
random has the figures of all sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.parsing_pipe import ParsingPipe
from spacy_lpcfg.evaluation.doubt import most_in_doubt
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree

N_CHOSEN = 50


class Doubted(NamedTuple):
    """A parsed sentence: its words, the entropy of its trees in bits, and the wrong or missing brackets of one."""

    words: Sequence[str]
    entropy: float
    n_errors: int


def main() -> None:
    args = measure.model_and_trees(__doc__).parse_args()
    pipe = find_parser(load_pipeline(args.model))
    measure.report({str(path): rows_of(pipe, measure.read_gold(path)) for path in args.trees}, args.json)


def rows_of(pipe: ParsingPipe, golds: Sequence[Tree]) -> list[measure.Row]:
    """Return the row of each order of the sentences of a domain."""
    sentences = doubted(pipe, golds)
    words = [sentence.words for sentence in sentences]
    per_word = most_in_doubt(words, [sentence.entropy for sentence in sentences], N_CHOSEN)
    whole = most_in_doubt(words, [sentence.entropy * len(sentence.words) for sentence in sentences], N_CHOSEN)
    orders = {"entropy per word": per_word, "entropy": whole, "all sentences": range(len(sentences))}
    return [{"order": order, **row_of([sentences[i] for i in chosen])} for order, chosen in orders.items()]


def doubted(pipe: ParsingPipe, golds: Sequence[Tree]) -> list[Doubted]:
    """Parse the words of gold trees."""
    parser = pipe.ready_parser()
    sentences = []
    for query, gold in zip(parser.prepare([Query(gold.words) for gold in golds]), golds, strict=True):
        errors = {*parser.parse(query).spans} ^ {*gold.spans()}
        sentences.append(Doubted(gold.words, parser.distribution(query).entropy(), len(errors)))
    return sentences


def row_of(sentences: Sequence[Doubted]) -> measure.Row:
    n_words = sum(len(sentence.words) for sentence in sentences)
    return {
        "wrong trees, %": 100 * sum(sentence.n_errors > 0 for sentence in sentences) / len(sentences),
        "words": n_words / len(sentences),
        "errors per 100 words": 100 * sum(sentence.n_errors for sentence in sentences) / n_words,
    }


if __name__ == "__main__":
    main()
