"""Plain text, a sentence a line with blanks between the tokens, as numbered words and as n-grams."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_lpcfg.trees.brackets import PathLike, TreebankError, read_lines

UNKNOWN = "<unk>"
EDGE = "<s>"
UNKNOWN_ID, EDGE_ID = 0, 1

_TOKEN = re.compile(r"[^ \t\n\r\f\v]+")


class TextError(ValueError):
    """A text that cannot be read; the message begins with file and line."""


def read_sentences(paths: PathLike | Iterable[PathLike]) -> Iterator[list[str]]:
    """The tokens of every line of texts that has any, one line at a time.

    paths (path or iterable of paths): UTF-8 files, plain or compressed with gzip (told by the content).
    RAISES (TextError): With file and line, for what is not UTF-8, a damaged gzip file, or a line without an end.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        for line in _read_lines(path):
            tokens = _TOKEN.findall(line)
            if tokens:
                yield tokens


def _read_lines(path: PathLike) -> Iterator[str]:
    try:
        yield from read_lines(path)
    except TreebankError as error:
        raise TextError(str(error)) from error


@dataclass(frozen=True)
class TextVocabulary:
    """The words of a language model; all others are one, `<unk>`.

    words (tuple[str, ...]): (n_words,); `<unk>`, the edge of sentences, then the known words, sorted.
    """

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: i for i, word in enumerate(self.words)})

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, rare: int = 1) -> TextVocabulary:
        """The words that are seen more than `rare` times."""
        counts = Counter(word for sentence in sentences for word in sentence)
        known = (word for word, count in counts.items() if count > rare and word not in (UNKNOWN, EDGE))
        return cls((UNKNOWN, EDGE, *sorted(known)))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def ids(self, sentence: Sequence[str]) -> list[int]:
        """Numbers of the words; a token that reads `<s>` is unknown."""
        return [UNKNOWN_ID if word == EDGE else self._ids.get(word, UNKNOWN_ID) for word in sentence]

    def trigrams(self, sentences: Iterable[Sequence[str]]) -> np.ndarray:
        """Each token, and each end of a sentence, after the two tokens before it: `ngrams` of three words."""
        return self.ngrams(sentences, 3)

    def ngrams(self, sentences: Iterable[Sequence[str]], order: int) -> np.ndarray:
        """Each token, and each end of a sentence, after those before it.

        order (int): words of a row, at least 2.
        RETURNS (int32, (n_tokens + n_sentences, order)): rows w1 w2 ... Before a sentence stand order - 1 edges, after
            it one.
        """
        edges = [EDGE_ID] * (order - 1)
        ids = [*edges]
        is_token = [False] * len(edges)
        for sentence in sentences:
            ids += self.ids(sentence)
            ids += edges
            is_token += [True] * (len(sentence) + 1)  # the first edge ends the sentence, and others begin the next
            is_token += [False] * (len(edges) - 1)
        flat, places = np.array(ids, dtype=np.int32), np.flatnonzero(is_token)
        return flat[places[:, None] + np.arange(1 - order, 1)]
