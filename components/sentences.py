"""The sentences of a Doc and their words, as a parser reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc

_SPACE = re.compile(r"\s+", re.ASCII)


class DocSentences(NamedTuple):
    """The sentences of a Doc, which are read once.

    starts (list of bool, or None): for each token whether it begins a sentence, if the Doc had no sentence boundaries
    bounds (list of (int, int)): start and end of each sentence
    words (list of list of int): positions of the words of each, see `words_of`
    texts (list of list of str): the words, see `texts_of`
    """

    starts: list[bool] | None
    bounds: list[tuple[int, int]]
    words: list[list[int]]
    texts: list[list[str]]


def find_sentences(doc: Doc) -> DocSentences:
    """The sentences of a Doc; where it has no sentence boundaries, as the `sentencizer` would split it."""
    starts = None if doc.has_annotation("SENT_START") else Sentencizer().predict([doc])[0]
    bounds = sentence_bounds(doc) if starts is None else _bounds(starts)
    words = [words_of(doc, start, end) for start, end in bounds]
    return DocSentences(starts, bounds, words, [texts_of(doc, positions) for positions in words])


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """Start and end of each sentence; without sentence boundaries the Doc is one sentence."""
    if doc.has_annotation("SENT_START"):
        return [(sent.start, sent.end) for sent in doc.sents]
    return [(0, len(doc))]


def _bounds(starts: Sequence[bool]) -> list[tuple[int, int]]:
    firsts = [i for i, is_start in enumerate(starts) if is_start]
    return list(zip(firsts, [*firsts[1:], len(starts)], strict=True))


def words_of(doc: Doc, start: int, end: int) -> list[int]:
    """Positions in the Doc of the words, that is tokens other than whitespace, of [start, end)."""
    texts = [token.text for token in doc[start:end]]
    return [start + i for i, text in enumerate(texts) if text and not text.isspace()]


def texts_of(doc: Doc, words: Sequence[int]) -> list[str]:
    """Texts of the words, with an underscore for white space inside a word, as in treebanks."""
    return [_SPACE.sub("_", doc[i].text) for i in words]
