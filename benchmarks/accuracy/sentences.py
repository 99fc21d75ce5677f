"""Measure how well text is split into sentences: the package's rule, beside spaCy's sentencizer and two libraries.

    pip install pysbd sentencex
    python -m benchmarks.accuracy.sentences FILE... [--json FILE]

A FILE is a treebank of Universal Dependencies (.conllu), whose raw text is put together again, paragraphs apart by
blank lines; or bracketed trees such as GUM's, which have lost their white space, so that the words of 40 sentences at a
time are joined as one would write them. A sentence is right if both its ends are. Rows of libraries that are not
installed are left out. Speed is in millions of characters per CPU second, with spaCy's tokenizer where a rule needs
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import spacy

from benchmarks import measure
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import unescape_token

TREES_A_DOCUMENT = 40
ATTACHED = re.compile(r"[.,;:!?%…)\]}]+|n['’]t|['’](?:s|m|re|ve|d|ll)", re.IGNORECASE)  # to the word before
Splitter = Callable[[str], Sequence[str]]


class Document(NamedTuple):
    """A text and its sentences."""

    text: str
    sentences: list[str]


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("files", type=Path, nargs="+", metavar="FILE")
    args = arguments.parse_args()
    measure.report({str(Path(*path.parts[-2:])): list(rows(documents(path))) for path in args.files}, args.json)


def rows(documents: Sequence[Document]) -> Iterator[measure.Row]:
    """A row for each splitter."""
    for name, split in splitters().items():
        measure.progress(name)
        yield {"splitter": name, **row(documents, split)}


def row(documents: Sequence[Document], split: Splitter) -> measure.Row:
    """Return the accuracy and the speed of a splitter."""
    answers, seconds = measure.timed(lambda: [split(document.text) for document in documents])
    golds, tests = [spans(document.sentences) for document in documents], list(map(spans, answers))
    right = sum(len(gold & test) for gold, test in zip(golds, tests, strict=True))
    n_gold, n_test = sum(map(len, golds)), sum(map(len, tests))
    return {
        "precision": 100 * right / n_test,
        "recall": 100 * right / n_gold,
        "F1": 200 * right / (n_gold + n_test),
        "characters per second, millions": sum(len(document.text) for document in documents) / seconds / 1e6,
    }


def spans(sentences: Sequence[str]) -> set[tuple[int, int]]:
    """Start and end of each sentence, counted in characters that are no white space."""
    ends = [0, *accumulate(len("".join(sentence.split())) for sentence in sentences)]
    return {(start, end) for start, end in pairwise(ends) if start < end}


def splitters() -> dict[str, Splitter]:
    """The splitters that are installed, by name."""
    installed = {name: in_spacy(name) for name in ("lpcfg_sentencizer", "sentencizer")}
    if find_spec("pysbd"):
        installed["pysbd"] = import_module("pysbd").Segmenter(language="en", clean=False).segment
    if find_spec("sentencex"):
        segment = import_module("sentencex").segment
        installed["sentencex"] = lambda text: list(segment("en", text))
    return installed


def in_spacy(factory: str) -> Splitter:
    nlp = spacy.blank("en")
    nlp.add_pipe(factory)
    return lambda text: [sentence.text for sentence in nlp(text).sents]


# Treebanks ---------------------------------------------------------------------------------------


def documents(path: Path) -> list[Document]:
    """The documents of a treebank."""
    if path.suffix == ".conllu":
        parts = re.split(r"(?m)^(?=# newdoc)", path.read_text("utf-8"))
        return [universal_dependencies(part) for part in parts if part]
    sentences = [written(tree) for tree in measure.read_gold(path)]
    groups = [sentences[start : start + TREES_A_DOCUMENT] for start in range(0, len(sentences), TREES_A_DOCUMENT)]
    return [Document(" ".join(group), group) for group in groups]


def universal_dependencies(lines: str) -> Document:
    """A document of a treebank of Universal Dependencies."""
    text, sentences, gap = "", [], ""
    for sentence in filter(str.strip, lines.split("\n\n")):
        match = re.search(r"(?m)^# text = (.*)$", sentence)
        assert match, sentence
        sentences.append(match[1])
        gap = "\n\n" if "\n# newpar" in f"\n{sentence}" else gap
        text += (gap if text else "") + match[1]
        gap = "" if "SpaceAfter=No" in sentence.rstrip().rpartition("\n")[2] else " "
    return Document(text, sentences)


def written(tree: Tree) -> str:
    """The words of a tree as one would write them: with no white space before a comma, for instance."""
    text, is_attached = "", True
    for word, tag in zip(tree.words, tree.tags, strict=True):
        plain = '"' if word in ("``", "''") else unescape_token(word)
        is_left = tag in ("HYPH", "''", "POS") or ATTACHED.fullmatch(plain)
        text += plain if is_attached or is_left else f" {plain}"
        is_attached = tag in ("HYPH", "``") or plain in "([{$"
    return text


if __name__ == "__main__":
    main()
