"""Locations of sentences and words in files, as the fields that all commands write in JSON and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.trees.source import SentenceSource

PLACE = ("file", "document", "line", "sentence", "sent_id")
"""The fields that locate a sentence, see `CitedSentence.place`."""
CHARACTERS = ("start_char", "end_char")
EXTENT = (*CHARACTERS, "text")
"""The fields that locate words of a sentence, see `CitedSentence.extent`."""


class Origin(NamedTuple):
    """Location of a Doc in its file, with the original words if it was read as words.

    file (str): The name of the file.
    document (int): The number of the Doc in a .spacy file, from 1; 1 for any other file.
    line (int or None): The number of the line that holds the text, or on which the tree begins, from 1; None for Docs
        of .spacy files and for trees whose line is unknown.
    first_char (int): The character offset in the document at which the Doc's text begins; a line break of any form
        counts as one character.
    words (list of str or None): The words of a sentence that was read as words or as a tree; None if it was text or a
        Doc.
    text (str): The text of `words`; "" if there are none.
    offsets (sequence of (int, int)): The start and end character of each of `words` in `text`.
    sent_id (str): The ID of a sentence with `words`; "" if it has none.
    """

    file: str
    document: int = 1
    line: int | None = None
    first_char: int = 0
    words: list[str] | None = None
    text: str = ""
    offsets: Sequence[tuple[int, int]] = ()
    sent_id: str = ""

    def of_words(self, words: list[str], source: SentenceSource | None = None) -> Origin:
        """Return a copy of the location for a sentence that was read as words.

        words (list of str): The words.
        source (SentenceSource or None): The text, ID and line of the sentence in its treebank; without a text, words
            are joined by blanks.
        """
        from spacy_lpcfg.trees.source import SourceText

        text = (source and source.text) or SourceText(tuple(words), (True,) * len(words))
        found = self._replace(words=words, text=text.text, offsets=text.offsets)
        return found._replace(sent_id=source.sent_id, line=source.line) if source else found


class CitedSentence(NamedTuple):
    """Location of a sentence and of its words in a file.

    origin (Origin): The location of the text that contains the sentence.
    sent_id (str): The ID of the sentence; "" if it has none.
    text (str): The text that contains the sentence: a line, a Doc, or the sentence of a tree.
    offsets (sequence of (int, int)): The start and end character of each word of the sentence in `text`.
    """

    origin: Origin
    sent_id: str
    text: str
    offsets: Sequence[tuple[int, int]]

    @classmethod
    def of_words(cls, origin: Origin) -> CitedSentence:
        """Return the location of a sentence that was read as words, from the words and text of its origin."""
        return cls(origin, origin.sent_id, origin.text, origin.offsets)

    def place(self, number: int) -> dict[str, Any]:
        """Return the location of the sentence as a dict with the keys `PLACE`; None for an unknown line or no ID.

        number (int): The number of the sentence in its file, from 1.
        """
        origin = self.origin
        return dict(zip(PLACE, (origin.file, origin.document, origin.line, number, self.sent_id or None), strict=True))

    def characters(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the character offsets in the document of the start and end of the words [start, end) of the sentence.

        end (int or None): None for the end of the sentence.
        RETURNS (int, int): The offsets; `origin.first_char` twice if the range has no words.
        """
        inside, shift = self.offsets[start:end], self.origin.first_char
        return (inside[0][0] + shift, inside[-1][1] + shift) if inside else (shift, shift)

    def extent(self, start: int = 0, end: int | None = None) -> dict[str, Any]:
        """Return start and end character of words [start, end), and their text, as a dict with the keys `EXTENT`."""
        first, last = self.characters(start, end)
        shift = self.origin.first_char
        return dict(zip(EXTENT, (first, last, self.text[first - shift : last - shift]), strict=True))

    def row(self, number: int, *values: Any, start: int = 0, end: int | None = None) -> tuple[str, ...]:
        """Return the cells of a table row: location of the sentence, values, and location of the words [start, end).

        number (int): The number of the sentence in its file, from 1.
        values (any): The values between the columns `PLACE` and `EXTENT`.
        """
        return cells(*self.place(number).values(), *values, *self.extent(start, end).values())

    def word_characters(self) -> dict[str, list[int]]:
        """Return the character offsets in the document of all words, as {"start_chars": [...], "end_chars": [...]}."""
        places = [self.characters(i, i + 1) for i in range(len(self.offsets))]
        return {"start_chars": [start for start, _ in places], "end_chars": [end for _, end in places]}


def cited_sentences(doc: Doc, origin: Origin) -> list[CitedSentence]:
    """Return the location of each sentence of a Doc, including sentences without words."""
    from spacy_lpcfg.components.doc.sentences import sent_ids_of, sentence_bounds, source_text, words_of

    if origin.words is not None:
        return [CitedSentence.of_words(origin)]
    bounds, text = sentence_bounds(doc), source_text(doc)
    sent_ids, offsets = sent_ids_of(doc) or [""] * len(bounds), text.offsets
    return [
        CitedSentence(origin, sent_id, text.text, [offsets[i] for i in words_of(doc, start, end)])
        for sent_id, (start, end) in zip(sent_ids, bounds, strict=True)
    ]


def cells(*values: Any) -> tuple[str, ...]:
    """Format values as table cells: floats with six significant digits, None as ""."""
    return tuple(
        "" if value is None else str(value) if isinstance(value, (str, int)) else f"{value:.6g}" for value in values
    )


def located(spans: Iterable[Mapping[str, Any]], sentence: CitedSentence) -> list[dict[str, Any]]:
    """Return a copy of each span (a dict with the word positions "start" and "end") with the fields `EXTENT` added."""
    return [{**span, **sentence.extent(span["start"], span["end"])} for span in spans]
