"""Score the bracketer of Parikh, Cohen and Xing (2014), its variants, and systems that learn nothing.

    python -m benchmarks.papers.bracketing TEXT... --trees TREES... [--only NAME...] [--models MODEL...]
        [--max-words N...] [--vectors FILE] [--json FILE]

TEXT are files to learn from: bracketed trees, of which words and tags are read, or lines of word/tag, plain or gzip.
TREES are files of trees to score on. F1 is that of all brackets of the sentences of up to N (10, 20 and 40) words
without punctuation, with the bracket of the whole sentence, as in table 2 of Parikh, Cohen and Xing (2014). The first
rows are systems that learn nothing, and the only ones after `--only` without a name; `oracle top` rows have the top
brackets of the trees. A MODEL is a pipeline with a spectral_bracketer. FILE has a word and its vector a line, separated
by blanks, for the setting with given vectors.
The second table has the differences to right-branching trees inside the paper's top bracket, with 95% intervals by a
paired bootstrap over sentences.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import spacy

from benchmarks import measure
from benchmarks.papers.baselines import INSIDE_TOP, GoldSentence, baselines, gold_sentences, oracle_split
from benchmarks.significance import difference_interval, unlabelled_counts
from spacy_lpcfg.bracketing import CCA, Brown, GivenVectors, SpectralBracketer
from spacy_lpcfg.bracketing.bracketer import Bracketer
from spacy_lpcfg.bracketing.sentences import plain
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.evaluation.unlabelled import UnlabelledScore, counted_brackets, unlabelled_totals
from spacy_lpcfg.trees import read_trees

PAPER = SpectralBracketer.variant("paper")
GIVEN = "paper, given vectors"

Spans = Callable[[GoldSentence], Iterable[tuple[int, int]]]
"""Brackets of the words of a sentence that count."""

SETTINGS = {
    "paper": PAPER,
    "paper, square roots of counts": replace(PAPER, embedding=CCA()),
    "paper, Brown clusters": replace(PAPER, embedding=Brown()),
}


def bracketed(bracketer: Bracketer) -> Spans:
    return lambda gold: counted_brackets(bracketer.bracket(*gold.tagged).spans, gold.keep)


def with_oracle(bracketer: Bracketer) -> Spans:
    """Brackets below the top brackets of the trees."""

    def spans(gold: GoldSentence) -> list[tuple[int, int]]:
        sentence = plain(*gold.tagged)
        tags, segments = np.array(sentence.universal, np.int32), np.array(sentence.segments, np.int32)
        tree_spans, _ = bracketer.metric.tree(tags, segments, oracle_split(gold.n_words, gold.gold))
        return [(0, gold.n_words), *((start, end) for start, end in tree_spans.tolist())]

    return spans


def given_vectors(path: Path) -> GivenVectors:
    """Vectors of a file with a word and its numbers a line."""
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return GivenVectors.of({word: list(map(float, numbers)) for word, *numbers in lines if len(numbers) > 1})


def main() -> None:
    arguments = measure.arguments(__doc__, max_words=[10, 20, 40])
    arguments.add_argument("text", type=Path, nargs="+", metavar="TEXT")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True)
    arguments.add_argument("--only", nargs="*", choices=[*SETTINGS, GIVEN], default=list(SETTINGS), metavar="NAME")
    arguments.add_argument("--models", nargs="+", default=[], metavar="MODEL")
    arguments.add_argument("--vectors", type=Path, metavar="FILE")
    args = arguments.parse_args()
    treebanks = {path: list(gold_sentences(read_trees(path))) for path in args.trees}
    columns = {f"{path} <= {limit}": (path, limit) for path in treebanks for limit in args.max_words}
    rows: list[measure.Row] = []
    scores: dict[str, dict[Path, list[UnlabelledScore]]] = {}
    for name, spans, seconds in systems(args):
        scores[name] = {path: [gold.score(spans(gold)) for gold in golds] for path, golds in treebanks.items()}
        f1s = {
            column: unlabelled_totals(scores[name][path], n).f_with_sentence for column, (path, n) in columns.items()
        }
        rows.append({"setting": name, **f1s, "learning, CPU s": seconds})
    base = scores.pop(INSIDE_TOP)
    differences = [
        {"setting": name, **{column: difference(base[path], other[path], n) for column, (path, n) in columns.items()}}
        for name, other in scores.items()
    ]
    tables = {"F1 with the bracket of the whole sentence": rows, f"F1 less that of {INSIDE_TOP}": differences}
    measure.report(tables, args.json)


def systems(args: argparse.Namespace) -> Iterator[tuple[str, Spans, float | None]]:
    """Yield the systems by their names, with the CPU seconds of learning."""
    for name, spans in baselines().items():
        yield name, spans, None
    for model in args.models:
        yield Path(model).name, bracketed(spacy.load(model).get_pipe("spectral_bracketer")), None
    settings = SETTINGS | ({GIVEN: replace(PAPER, embedding=given_vectors(args.vectors))} if args.vectors else {})
    text = list(read_tagged(args.text))  # read once: it is not the reading that is measured
    for name in args.only:
        measure.progress(name)
        bracketer, seconds = measure.timed(settings[name].fit, lambda: text)
        yield name, bracketed(bracketer), seconds
        yield f"{name}, oracle top", with_oracle(bracketer), None


def difference(base: Sequence[UnlabelledScore], other: Sequence[UnlabelledScore], max_words: int) -> str:
    """Return the difference of F1 to a base on short sentences, with a 95% interval by a paired bootstrap over them."""
    short = ([score for score in scores if score.length <= max_words] for scores in (base, other))
    return str(difference_interval(*map(unlabelled_counts, short)))


if __name__ == "__main__":
    main()
