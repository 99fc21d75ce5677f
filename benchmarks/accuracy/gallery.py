"""How many of a hundred sentences that a newcomer would try a pipeline parses without any mistake.

    python -m benchmarks.accuracy.gallery MODEL... [--mistakes] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. `tests/data/gallery.tsv` has the
sentences, and `tests/data/gallery.md` says how their trees were made. A tree is right if EVALB by COLLINS.prm finds all
its brackets and no others: punctuation does not count. Half of the sentences are set aside: nobody looks at what a
model makes of them, so that nothing can be tuned to them, and --mistakes shows only those of the other half.
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
from spacy_lpcfg.components.cli.pipelines import load_pipeline
from spacy_lpcfg.components.constituents import trees
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.trees import Tree, parse_trees

GALLERY = Path(__file__).parents[2] / "tests" / "data" / "gallery.tsv"
SEEN, SET_ASIDE = "seen", "set aside"


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
    """What a pipeline makes of a sentence that it need not find in a text."""
    tokens = nlp.make_doc(sentence.text)
    spaces = [bool(token.whitespace_) for token in tokens]
    starts = [i == 0 for i in range(len(tokens))]
    doc = nlp(Doc(nlp.vocab, [token.text for token in tokens], spaces, sent_starts=starts))
    (tree,) = trees(doc)
    return Tree.from_spans(sentence.tree.words, tree.tags, tree.spans())


def is_right(gold: Tree, tree: Tree) -> bool:
    """Whether there is no mistake; trees that EVALB cannot compare are wrong."""
    evaluation = evaluate([gold], [tree])
    return evaluation.total().n_valid == 1 and evaluation.scores()["complete_match"] == 100


def rows_of(name: str, sentences: Sequence[Sentence], right: Sequence[bool]) -> Iterator[measure.Row]:
    """Percentages of each half, and counts of each kind in the half that may be looked at."""
    pairs = list(zip(sentences, right, strict=True))
    for half in (SEEN, SET_ASIDE):
        found = [is_right for sentence, is_right in pairs if sentence.half == half]
        yield {"model": name, "sentences": half, "right, %": 100 * sum(found) / len(found)}
    seen = sorted((sentence.kind, is_right) for sentence, is_right in pairs if sentence.half == SEEN)
    for kind, some in groupby(seen, key=lambda pair: pair[0]):
        found = [is_right for _, is_right in some]
        yield {"model": name, "sentences": f"{SEEN}: {kind}", "right, %": 100 * sum(found) / len(found)}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    arguments.add_argument(
        "--mistakes", action="store_true", help="print the wrong trees of the half that is not set aside"
    )
    args = arguments.parse_args()
    sentences, rows = read_gallery(), []
    for name in args.models:
        nlp = load_pipeline(name)
        found = [parsed(nlp, sentence) for sentence in sentences]
        right = [is_right(sentence.tree, tree) for sentence, tree in zip(sentences, found, strict=True)]
        rows += rows_of(name, sentences, right)
        if args.mistakes:
            for sentence, tree, is_well in zip(sentences, found, right, strict=True):
                if sentence.half == SEEN and not is_well:
                    print(f"{sentence.text}\n  not   {tree}\n  but   {sentence.tree}")
    measure.report({"Sentences that are entirely right": rows}, args.json)


if __name__ == "__main__":
    main()
