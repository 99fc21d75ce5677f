"""Plain text with one sentence per line and blanks between tokens: reading, vocabulary and n-grams."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.lines import read_lines

UNKNOWN = "<unk>"
EDGE = "<s>"
UNKNOWN_ID, EDGE_ID = 0, 1

_TOKEN = re.compile(r"[^ \t\n\r\f\v]+")


def read_sentences(paths: PathLike | Iterable[PathLike]) -> Iterator[list[str]]:
    """Yield the tokens of each line, except for blank lines.

    paths (path or iterable of paths): UTF-8 files, plain or compressed with gzip (recognized by content).
    RAISES (TreebankError): If a file is not UTF-8, is damaged gzip data, or has an endless line; the error has file and
        line. (OSError): If a file cannot be opened.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        for line in read_lines(path):
            tokens = _TOKEN.findall(line)
            if tokens:
                yield tokens


@dataclass(frozen=True)
class TextVocabulary:
    """The known words of a language model; all other words are `<unk>`.

    words (tuple[str, ...], (n_words,)): `<unk>`, the sentence boundary `<s>`, then the known words, sorted.
    """

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: i for i, word in enumerate(self.words)})

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, rare: int = 1) -> TextVocabulary:
        """Collect the words of a text that occur more than `rare` times."""
        counts = Counter(word for sentence in sentences for word in sentence)
        known = (word for word, count in counts.items() if count > rare and word not in (UNKNOWN, EDGE))
        return cls((UNKNOWN, EDGE, *sorted(known)))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def ids(self, sentence: Sequence[str]) -> list[int]:
        """Return the ids of words; `UNKNOWN_ID` for words that are not known, and for a token that reads `<s>`."""
        return [UNKNOWN_ID if word == EDGE else self._ids.get(word, UNKNOWN_ID) for word in sentence]

    def trigrams(self, sentences: Iterable[Sequence[str]]) -> np.ndarray:
        """Return the trigrams of a text, int32 (n_tokens + n_sentences, 3), as `ngrams` does for order 3."""
        return self.ngrams(sentences, 3)

    def ngrams(self, sentences: Iterable[Sequence[str]], order: int) -> np.ndarray:
        """Return the n-grams of a text: each token, and each end of a sentence, after the `order - 1` tokens before it.

        sentences (iterable of sentences): The text; a sentence is a sequence of words.
        order (int): Length of the n-grams, at least 2.
        RETURNS (int32, (n_tokens + n_sentences, order)): Word ids, one n-gram a row. Each sentence is padded with
            `order - 1` boundaries before it, and one after it.
        """
        edges = [EDGE_ID] * (order - 1)
        ids = [*edges]
        is_token = [False] * len(edges)
        for sentence in sentences:
            ids += self.ids(sentence)
            ids += edges
            is_token += [True] * (len(sentence) + 1)  # the first boundary ends this sentence, the others begin the next
            is_token += [False] * (len(edges) - 1)
        flat, positions = np.array(ids, dtype=np.int32), np.flatnonzero(is_token)
        return flat[positions[:, None] + np.arange(1 - order, 1)]
