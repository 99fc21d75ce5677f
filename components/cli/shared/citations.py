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
    """Source location of a Doc: its file, document, line and character, and the original words if it has them.

    file (str): The name of the file.
    document (int): The number of the Doc in a .spacy file, from 1; 1 for any other file.
    line (int or None): The number of the line that holds the text, or on which the tree begins, from 1; None for Docs
        of .spacy files and some trees.
    first_char (int): The offset in the document at which the Doc's text begins.
    words (list of str or None): The words of a sentence that was read as words or as a tree; None if it was text.
    text (str): The text of `words`; "" if there are none.
    offsets (sequence of (int, int)): The start and end offset of each of `words` in `text`.
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
        """Return a copy for a sentence given as words.

        source (SentenceSource or None): The text, ID and line of the sentence in its treebank; without a text, words
            are joined by blanks.
        """
        from spacy_lpcfg.trees.source import SourceText

        text = (source and source.text) or SourceText(tuple(words), (True,) * len(words))
        found = self._replace(words=words, text=text.text, offsets=text.offsets)
        return found._replace(sent_id=source.sent_id, line=source.line) if source else found


class CitedSentence(NamedTuple):
    """Source location of a sentence and of its words.

    origin (Origin): The source location of the text that contains the sentence.
    sent_id (str): The ID of the sentence; "" if it has none.
    text (str): The text that contains the sentence: a line, a Doc, or the sentence of a tree.
    offsets (sequence of (int, int)): The start and end offset of each word of the sentence in `text`.
    """

    origin: Origin
    sent_id: str
    text: str
    offsets: Sequence[tuple[int, int]]

    @classmethod
    def of_words(cls, origin: Origin) -> CitedSentence:
        """Return the citation of a sentence given as words, from the words and text of its origin."""
        return cls(origin, origin.sent_id, origin.text, origin.offsets)

    def place(self, number: int) -> dict[str, Any]:
        """Return a dict of the fields `PLACE`; `number` is that of the sentence in its file."""
        origin = self.origin
        return dict(zip(PLACE, (origin.file, origin.document, origin.line, number, self.sent_id or None), strict=True))

    def characters(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the start and end offset, in the document, of the words [start, end) of the sentence.

        end (int or None): None for the end of the sentence.
        RETURNS (int, int): `origin.first_char` twice if the range has no words.
        """
        inside, shift = self.offsets[start:end], self.origin.first_char
        return (inside[0][0] + shift, inside[-1][1] + shift) if inside else (shift, shift)

    def extent(self, start: int = 0, end: int | None = None) -> dict[str, Any]:
        """Return a dict of the fields `EXTENT` of the words [start, end): start and end offset, and their text."""
        first, last = self.characters(start, end)
        shift = self.origin.first_char
        return dict(zip(EXTENT, (first, last, self.text[first - shift : last - shift]), strict=True))

    def row(self, number: int, *values: Any, start: int = 0, end: int | None = None) -> tuple[str, ...]:
        """Return the cells of a table row: the fields `PLACE`, the values, and the fields `EXTENT` of [start, end)."""
        return cells(*self.place(number).values(), *values, *self.extent(start, end).values())

    def word_characters(self) -> dict[str, list[int]]:
        """Return the offsets in the document of all words, as the lists "start_chars" and "end_chars"."""
        places = [self.characters(i, i + 1) for i in range(len(self.offsets))]
        return {"start_chars": [start for start, _ in places], "end_chars": [end for _, end in places]}


def cited_sentences(doc: Doc, origin: Origin) -> list[CitedSentence]:
    """Return the citation of each sentence of a Doc, including sentences without words."""
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
    """Add the fields `EXTENT` to each span, a dict with "start" and "end" as word positions in the sentence."""
    return [{**span, **sentence.extent(span["start"], span["end"])} for span in spans]
