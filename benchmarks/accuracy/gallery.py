"""Measure how many sentences that a newcomer would try a pipeline parses without a mistake, or with one.

    python -m benchmarks.accuracy.gallery MODEL... [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. `tests/data/gallery.tsv` has the
sentences, and `tests/data/gallery.md` says how their trees were made. A tree is right if EVALB by COLLINS.prm finds all
its brackets and no others: punctuation does not count. It is nearly right if at most one bracket is missing and at most
one too many, as after one wrong attachment or label. Two thirds of the sentences are set aside: nobody looks at what a
model makes of them, so that nothing can be tuned to them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from benchmarks import measure
from spacy_lpcfg.components.cli.shared.pipelines import load_pipeline
from spacy_lpcfg.components.doc.read import trees as trees_of
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.trees import Tree, parse_trees

GALLERY = Path(__file__).parents[2] / "tests" / "data" / "gallery.tsv"
SEEN, SET_ASIDE = "seen", "set aside"
RIGHT, NEARLY, WRONG = "right", "nearly", "wrong"


class Sentence(NamedTuple):
    """A sentence of the gallery: its half, its kind, its text, and its tree."""

    half: str
    kind: str
    text: str
    tree: Tree


def read_gallery() -> list[Sentence]:
    """All sentences."""
    with GALLERY.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Sentence(row["half"], row["kind"], row["text"], next(iter(parse_trees(row["tree"])))) for row in rows]


def parsed(nlp: Language, sentence: Sentence) -> Tree:
    """Return a pipeline's tree of a text that is one sentence, with gold tags: EVALB refuses trees whose tags tell
    other words to be punctuation, such as HYPH and ":" for a hyphen, and the verdict is about brackets.
    """
    tokens = nlp.make_doc(sentence.text)
    spaces = [bool(token.whitespace_) for token in tokens]
    starts = [i == 0 for i in range(len(tokens))]
    doc = nlp(Doc(nlp.vocab, [token.text for token in tokens], spaces, sent_starts=starts))
    (tree,) = trees_of(doc)
    return Tree.from_spans(sentence.tree.words, sentence.tree.tags, tree.spans())


def verdict(gold: Tree, tree: Tree) -> str:
    """Return whether a tree is right, nearly right or wrong; one that EVALB cannot compare is wrong."""
    total = evaluate([gold], [tree]).total()
    brackets = total.brackets
    n_wrong = max(brackets.n_gold, brackets.n_test) - brackets.matched
    if total.n_valid != 1 or n_wrong > 1:
        return WRONG
    return NEARLY if n_wrong else RIGHT


def rows_of(name: str, sentences: Sequence[Sentence], verdicts: Sequence[str]) -> Iterator[measure.Row]:
    """Yield percentages of the sentences that may be looked at, of those set aside, and of each kind of the first."""
    pairs = list(zip(sentences, verdicts, strict=True))
    for half in (SEEN, SET_ASIDE):
        yield _row(name, half, [outcome for sentence, outcome in pairs if sentence.half == half])
    seen = sorted((sentence.kind, outcome) for sentence, outcome in pairs if sentence.half == SEEN)
    for kind, some in groupby(seen, key=lambda pair: pair[0]):
        yield _row(name, f"{SEEN}: {kind}", [outcome for _, outcome in some])


def _row(name: str, sentences: str, verdicts: Sequence[str]) -> measure.Row:
    shares = {f"{kind}, %": 100 * verdicts.count(kind) / len(verdicts) for kind in (RIGHT, NEARLY, WRONG)}
    return {"model": name, "sentences": sentences, **shares}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    args = arguments.parse_args()
    sentences, rows = read_gallery(), []
    for name in args.models:
        nlp = load_pipeline(name)
        rows += rows_of(name, sentences, [verdict(sentence.tree, parsed(nlp, sentence)) for sentence in sentences])
    measure.report({"Sentences by whether their trees are right": rows}, args.json)


if __name__ == "__main__":
    main()
