"""Where sentences and their parts stand in files: the fields that all commands write about them, in JSON and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.trees.source import SentenceSource

PLACE = ("file", "document", "line", "sentence", "sent_id")
"""Where a sentence stands: the fields of `CitedSentence.place`."""
CHARACTERS = ("start_char", "end_char")
EXTENT = (*CHARACTERS, "text")
"""Where words of a sentence stand: the fields of `CitedSentence.extent`."""


class Origin(NamedTuple):
    """Where a Doc or a tree comes from.

    file (str): The name of its file.
    document (int): The number of the document in the file: of a Doc in a .spacy file; 1 in any other file.
    line (int or None): The line that it is made of, or on which the tree begins; None for Docs and some trees.
    first_char (int): The character of the document at which its text begins.
    words (list of str or None): The words as they came, of a sentence that is made of words.
    text (str): The text of these words.
    offsets (sequence of (int, int)): The characters of `text` at which each of the words begins and ends.
    sent_id (str): The ID of the sentence, if there are words.
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
        """Return the origin of a sentence that is made of words, with blanks between them or as its source has them."""
        from spacy_lpcfg.trees.source import SourceText

        text = (source and source.text) or SourceText(tuple(words), (True,) * len(words))
        found = self._replace(words=words, text=text.text, offsets=text.offsets)
        return found._replace(sent_id=source.sent_id, line=source.line) if source else found


class CitedSentence(NamedTuple):
    """A sentence with its place.

    origin (Origin): Where its text comes from.
    sent_id (str): Its ID; "" if it has none.
    text (str): The text in which it stands: a line, a Doc or the sentence of a tree.
    offsets (sequence of (int, int)): The characters of `text` at which each word begins and ends.
    """

    origin: Origin
    sent_id: str
    text: str
    offsets: Sequence[tuple[int, int]]

    @classmethod
    def of_words(cls, origin: Origin) -> CitedSentence:
        """Return the sentence that is made of the words of an origin."""
        return cls(origin, origin.sent_id, origin.text, origin.offsets)

    def place(self, number: int) -> dict[str, Any]:
        """Return the fields `PLACE` of the sentence with this number in its file."""
        origin = self.origin
        return dict(zip(PLACE, (origin.file, origin.document, origin.line, number, self.sent_id or None), strict=True))

    def characters(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the characters of the document at which the words [start, end) begin and end."""
        inside, shift = self.offsets[start:end], self.origin.first_char
        return (inside[0][0] + shift, inside[-1][1] + shift) if inside else (shift, shift)

    def extent(self, start: int = 0, end: int | None = None) -> dict[str, Any]:
        """Return the fields `EXTENT` of the words [start, end): their characters, and the text there."""
        first, last = self.characters(start, end)
        shift = self.origin.first_char
        return dict(zip(EXTENT, (first, last, self.text[first - shift : last - shift]), strict=True))

    def row(self, number: int, *values: Any, start: int = 0, end: int | None = None) -> tuple[str, ...]:
        """Return a row of a table: the place, values, and the extent of the words [start, end)."""
        return cells(*self.place(number).values(), *values, *self.extent(start, end).values())

    def word_characters(self) -> dict[str, list[int]]:
        """Return the characters of the document at which the words begin and end, as two lists."""
        places = [self.characters(i, i + 1) for i in range(len(self.offsets))]
        return {"start_chars": [start for start, _ in places], "end_chars": [end for _, end in places]}


def cited_sentences(doc: Doc, origin: Origin) -> list[CitedSentence]:
    """Return the sentences of a Doc with their places, those without words included."""
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
    """Return values as cells of a table: numbers that are not whole with six digits, nothing for None."""
    return tuple(
        "" if value is None else str(value) if isinstance(value, (str, int)) else f"{value:.6g}" for value in values
    )


def located(spans: Iterable[Mapping[str, Any]], sentence: CitedSentence) -> list[dict[str, Any]]:
    """Return spans over the words of a sentence, with their fields "start" and "end", and those of `EXTENT`."""
    return [{**span, **sentence.extent(span["start"], span["end"])} for span in spans]
