"""Tokenizers of pretrained encoders: WordPiece (Wu et al. 2016) and Unigram (Kudo 2018)."""

from __future__ import annotations

import json
import math
import string
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.storage.container import read_meta
from spacy_lpcfg.storage.validation import is_array
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.words.remembered import Remembered

MOST_PIECES = 8
"""The number of first pieces of a word that the encoder sees."""
MARK = "\u2581"
"""Begins unigram pieces that stand at the beginning of a word."""
_LONGEST = 1_000  # characters of a word that are divided
_LONGEST_PART = 100  # characters of a word between blanks and punctuation; longer ones are unknown
_N_CACHED = 50_000  # words
_UNKNOWN_COST = 10.0  # of an unknown character, below the log-probability of the rarest piece
_SIGNS = frozenset(string.punctuation)  # of ASCII; `$` and `^` are among them
_IDEOGRAPHS = (  # ranges of characters that stand alone
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
    *((0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


class Pieces(ABC):
    """Subword tokenizer: divides words into the pieces of a vocabulary.

    vocabulary (sequence of str): The pieces; the id of a piece is its index.
    RAISES (ValueError): If a special piece is missing from the vocabulary.
    """

    special: ClassVar[tuple[str, str, str]]
    """The pieces before and after a sentence, and the piece for what cannot be divided."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self.ids = {piece: i for i, piece in enumerate(self.vocabulary)}
        missing = [piece for piece in self.special if piece not in self.ids]
        if missing:
            raise ValueError(
                f"Expected the vocabulary of an encoder with the pieces {', '.join(self.special)}; it lacks "
                f"{', '.join(missing)}: take tokenizer.json or vocab.txt from the encoder's folder."
            )
        self.first, self.last, self.unknown = (self.ids[piece] for piece in self.special)
        self.of_word = Remembered(self._of_word, _N_CACHED)

    def divide(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Divide the words of a sentence into pieces.

        Only the first `MOST_PIECES` (8) pieces of a word are returned.

        words (sequence of str, (n_words,)): The words in treebank spelling.
        RETURNS (int64 (n_pieces,), int64 (n_words,)): The ids of the pieces, and the index of each word's last piece.
        """
        pieces = self.of_word.map(words)
        ids = np.fromiter((i for word in pieces for i in word), np.int64)
        return ids, np.cumsum([len(word) for word in pieces], dtype=np.int64) - 1

    def _of_word(self, word: str) -> tuple[int, ...]:
        """Return the ids of the first pieces of a word in treebank spelling, from 1 to `MOST_PIECES`."""
        ids: list[int] = []
        for part in self._parts(unescape_token(word)[:_LONGEST]):
            ids += self._of_part(part)
            if len(ids) >= MOST_PIECES:
                break
        return tuple(ids[:MOST_PIECES]) or (self.unknown,)

    @abstractmethod
    def _parts(self, word: str) -> Iterator[str]:
        """Yield the normalized parts of a word (pre-tokens), each of which is divided into pieces separately."""

    @abstractmethod
    def _of_part(self, part: str) -> list[int]:
        """Return the ids of the pieces of a part."""

    @abstractmethod
    def letters_of(self, piece: str) -> str:
        """Return the characters of a piece without the mark of its position in a word, such as "##"."""

    @abstractmethod
    def restricted(self, ids: Sequence[int]) -> Pieces:
        """Return a tokenizer whose vocabulary is only the pieces `ids`, renumbered: the piece `ids[i]` gets id i."""

    @abstractmethod
    def to_values(self) -> dict[str, Any]:
        """Return the values to store in addition to the vocabulary, by name."""


class WordPieces(Pieces):
    """WordPiece tokenizer, which repeatedly takes the longest piece from the left, as BERT does (Devlin et al. 2019).

    vocabulary (sequence of str): The pieces in the order of their ids; pieces that continue a word begin with "##".
    lower (bool): Whether words are lower-cased.
    strip_accents (bool): Whether letters lose their accents.
    RAISES (ValueError): If [CLS], [SEP] or [UNK] is missing.
    """

    special = "[CLS]", "[SEP]", "[UNK]"

    def __init__(self, vocabulary: Sequence[str], *, lower: bool = True, strip_accents: bool = True) -> None:
        super().__init__(vocabulary)
        self.lower, self.strip_accents = lower, strip_accents

    def _parts(self, word: str) -> Iterator[str]:
        """Yield the parts of a word between blanks; each punctuation mark and each ideograph is a part of its own."""
        if word.isascii() and word.isalpha():
            yield word.lower() if self.lower else word
            return
        spaced = "".join(f" {char} " if _is_ideograph(char) else char for char in _clean(word))
        if self.strip_accents:
            decomposed = unicodedata.normalize("NFD", spaced)
            spaced = "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
        if self.lower:  # each letter by itself: of a whole word, Python makes the last sigma a final one
            spaced = "".join(map(str.lower, spaced))
        yield from "".join(f" {char} " if _is_punctuation(char) else char for char in spaced).split()

    def _of_part(self, part: str) -> list[int]:
        ids: list[int] = []
        start = 0
        while start < len(part) <= _LONGEST_PART:
            mark = "##" if start else ""
            end = next((end for end in range(len(part), start, -1) if mark + part[start:end] in self.ids), None)
            if end is None:
                break
            ids.append(self.ids[mark + part[start:end]])
            start = end
        return ids if start == len(part) else [self.unknown]

    def letters_of(self, piece: str) -> str:
        return piece.removeprefix("##")

    def restricted(self, ids: Sequence[int]) -> WordPieces:
        vocabulary = [self.vocabulary[i] for i in ids]
        return WordPieces(vocabulary, lower=self.lower, strip_accents=self.strip_accents)

    def to_values(self) -> dict[str, Any]:
        letters = {"lower": self.lower, "strip_accents": self.strip_accents}
        return {} if all(letters.values()) else {"letters": json.dumps(letters)}


class UnigramPieces(Pieces):
    """Unigram tokenizer of SentencePiece, with NFKC: divides words into their most probable pieces, as XLM-R does.

    vocabulary (sequence of str): The pieces in the order of their ids; pieces that begin a word begin with `MARK`.
    scores (float32, (n_pieces,)): The log-probability of each piece.
    RAISES (ValueError): If <s>, </s> or <unk> is missing.
    """

    special = "<s>", "</s>", "<unk>"

    def __init__(self, vocabulary: Sequence[str], scores: np.ndarray) -> None:
        super().__init__(vocabulary)
        self.scores = scores
        self._scores = {
            piece: score
            for piece, score in zip(self.vocabulary, scores.tolist(), strict=True)
            if piece not in self.special
        }
        self._mark = self.ids.get(MARK)
        self._longest = max(map(len, self._scores), default=1)
        self._unknown_score = min(self._scores.values(), default=0.0) - _UNKNOWN_COST

    def _parts(self, word: str) -> Iterator[str]:
        """Yield the parts of a word between blanks, each after `MARK`."""
        cleaned = "".join(map(_as_blank, word)) if not word.isascii() or not word.isprintable() else word
        for part in unicodedata.normalize("NFKC", cleaned).split():
            yield MARK + part

    def _of_part(self, part: str) -> list[int]:
        """Return the pieces with the largest sum of log-probabilities (Viterbi), with adjacent unknown ones joined.

        A `MARK` that is a piece by itself is left out, since encoders see few of them in training: few before full
        stops, and none in Japanese.
        """
        scores, n = self._scores, len(part)
        best, starts = [0.0, *[-math.inf] * n], [0] * (n + 1)
        for start in range(n):
            for end in range(start + 1, min(start + self._longest, n) + 1):
                score = scores.get(part[start:end], self._unknown_score if end == start + 1 else -math.inf)
                if best[start] + score > best[end]:
                    best[end], starts[end] = best[start] + score, start
        ids: list[int] = []
        while n:
            i = self.ids[piece] if (piece := part[starts[n] : n]) in scores else self.unknown
            if i != self.unknown or ids[-1:] != [i]:
                ids.append(i)
            n = starts[n]
        ids.reverse()
        return ids[1:] if len(ids) > 1 and ids[0] == self._mark else ids

    def letters_of(self, piece: str) -> str:
        return piece.removeprefix(MARK)

    def restricted(self, ids: Sequence[int]) -> UnigramPieces:
        return UnigramPieces([self.vocabulary[i] for i in ids], self.scores[np.asarray(ids, np.int64)])

    def to_values(self) -> dict[str, Any]:
        return {"scores": self.scores}


def pieces_from_values(vocabulary: Sequence[str], values: Mapping[str, Any]) -> Pieces:
    """Create a tokenizer from its vocabulary and the values that `Pieces.to_values` returned.

    vocabulary (sequence of str): The pieces in the order of their ids.
    values (mapping of str to value): The stored values; keys other than "scores" and "letters" are ignored.
    RAISES (ValueError): If vocabulary and values do not fit together, or a special piece is missing.
    """
    if "scores" in values:
        if not is_array(values["scores"], "float32", len(vocabulary)):
            raise ValueError(f"Expected the scores of {len(vocabulary):,} pieces: copy or learn this model again.")
        return UnigramPieces(vocabulary, values["scores"])
    letters = read_meta(values.get("letters", "{}"))
    if not {*letters} <= {"lower", "strip_accents"} or not all(isinstance(is_so, bool) for is_so in letters.values()):
        raise ValueError("Expected letters to tell lower and strip_accents: copy or learn this model again.")
    return WordPieces(vocabulary, **letters)


def _clean(word: str) -> Iterator[str]:
    """Yield the characters of a word without control characters; white space of any kind becomes a blank."""
    for char in word:
        if char.isspace() and char not in "\x0b\x0c\x1c\x1d\x1e\x1f\x85":
            yield " "
        elif char != "\ufffd" and unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs"):
            yield char


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char in _SIGNS
    return unicodedata.category(char)[0] == "P"


def _is_ideograph(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _as_blank(char: str) -> str:
    """Return the normalized form of a character for unigram pieces: " " for white space, "" for control characters."""
    if char in _BLANKS:
        return " "
    return "" if char in _DROPPED else char


_BLANKS = frozenset("\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd")
_DROPPED = frozenset(map(chr, (*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)))
