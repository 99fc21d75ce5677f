"""Raw text to learn from, as an object of a config."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import spacy

from spacy_lpcfg.trees.brackets import read_lines


@dataclass(frozen=True)
class RawText:
    """The sentences of a text file as words, in a config `spacy-lpcfg.RawText.v1`.

    path (Path): A file in UTF-8 with a sentence a line, .gz or not.
    lang (str or None): Language of the tokenizer; None for text that is tokenized, with blanks between the tokens.
    """

    path: Path
    lang: str | None = "en"

    def __iter__(self) -> Iterator[list[str]]:
        tokenizer = None if self.lang is None else spacy.blank(self.lang).tokenizer
        for line in read_lines(self.path):
            words = line.split() if tokenizer is None else [token.text for token in tokenizer(line)]
            yield [word for word in words if not word.isspace()]
