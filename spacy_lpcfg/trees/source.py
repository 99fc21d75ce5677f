"""Metadata of a treebank sentence: its ID, and the text with its white space and multiword tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

CONTINUED = "+"
"""In place of a multiword token, at its words after the first."""


class SurfaceToken(NamedTuple):
    """A token as it stands in the text: its form, and the range [start, end) of its words.

    A multiword token, such as French "du" for "de" and "le", has more than one word.
    """

    start: int
    end: int
    form: str


class SourceText(NamedTuple):
    """The words of a text, with the white space and the multiword tokens from which the text can be restored.

    words (tuple of str, (n_words,)): The words as in the text, without treebank escapes.
    spaces (tuple of bool, (n_words,)): Whether white space follows each word.
    multiwords (tuple of str, (n_words,)): At the first word of each multiword token its form, such as "du" at "de" for
        "de" and "le"; `CONTINUED` at its further words, "" at all other words. () for a text without multiword tokens.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    multiwords: tuple[str, ...] = ()

    def tokens(self) -> Iterator[SurfaceToken]:
        """Yield the surface tokens from left to right."""
        forms = self.multiwords or ("",) * len(self.words)
        start = 0
        while start < len(self.words):
            end, is_multiword = start + 1, forms[start] not in ("", CONTINUED)
            while is_multiword and end < len(forms) and forms[end] == CONTINUED:
                end += 1
            yield SurfaceToken(start, end, forms[start] if is_multiword else self.words[start])
            start = end

    @property
    def text(self) -> str:
        """The text, with one blank for any white space between words and none at the end."""
        return "".join(f"{token.form}{' ' * self.spaces[token.end - 1]}" for token in self.tokens()).rstrip()

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The character offsets (start, end) of each word in `text`; words of a multiword token share its offsets."""
        offsets: list[tuple[int, int]] = []
        position = 0
        for start, end, form in self.tokens():
            offsets += [(position, position + len(form))] * (end - start)
            position += len(form) + self.spaces[end - 1]
        return offsets


class SentenceSource(NamedTuple):
    """Metadata of a sentence in a treebank file: its ID, text and line.

    sent_id (str): The ID of the sentence; "" if it has none.
    text (SourceText or None): The text of the sentence; None if the file has only words.
    line (int or None): The line on which its tree begins, from 1; None if the reader of the format does not tell it.
    """

    sent_id: str = ""
    text: SourceText | None = None
    line: int | None = None
