"""Word pieces of BERT's uncased encoders (Devlin et al. 2019; Wu et al. 2016)."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Sequence

from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.words.remembered import Remembered

CLASSIFY, SEPARATE, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
"""The pieces before and after a sentence, and the piece for words that cannot be divided."""
MOST_PIECES = 8
"""The number of first pieces of a word that the encoder sees."""
_LONGEST = 1_000  # characters of a word that are divided
_LONGEST_PART = 100  # characters of a word between blanks and punctuation; longer ones are unknown
_N_CACHED = 50_000  # words
_SIGNS = frozenset(string.punctuation)  # of ASCII; `$` and `^` are among them
_IDEOGRAPHS = (  # ranges of characters that stand alone
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
    *((0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


class WordPieces:
    """Divides words into the pieces of a vocabulary, by lower-case letters without accents.

    vocabulary (sequence of str): The pieces by their ids; those that continue a word begin with "##".
    RAISES (ValueError): If [CLS], [SEP] or [UNK] is missing.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        missing = [piece for piece in (CLASSIFY, SEPARATE, UNKNOWN) if piece not in self.ids]
        if missing:
            raise ValueError(
                f"Expected the vocabulary of an uncased BERT encoder; it lacks {', '.join(missing)}: "
                "take vocab.txt from the encoder's folder."
            )
        self.of_word = Remembered(self._of_word, _N_CACHED)

    def _of_word(self, word: str) -> tuple[int, ...]:
        """Return the ids of the first pieces of a word in treebank spelling, from 1 to `MOST_PIECES`."""
        ids: list[int] = []
        for part in _parts(unescape_token(word)[:_LONGEST]):
            ids += self._of_part(part)
            if len(ids) >= MOST_PIECES:
                break
        return tuple(ids[:MOST_PIECES]) or (self.ids[UNKNOWN],)

    def _of_part(self, part: str) -> list[int]:
        """Divide a part of a word, longest first piece first."""
        ids: list[int] = []
        start = 0
        while start < len(part) <= _LONGEST_PART:
            mark = "##" if start else ""
            end = next((end for end in range(len(part), start, -1) if mark + part[start:end] in self.ids), None)
            if end is None:
                break
            ids.append(self.ids[mark + part[start:end]])
            start = end
        return ids if start == len(part) else [self.ids[UNKNOWN]]


def _parts(word: str) -> Iterator[str]:
    """Yield what stands between blanks, and each punctuation mark and ideograph, in lower case without accents."""
    if word.isascii() and word.isalpha():
        yield word.lower()
        return
    spaced = "".join(f" {char} " if _is_ideograph(char) else char for char in _clean(word))
    bare = "".join(char for char in unicodedata.normalize("NFD", spaced) if unicodedata.category(char) != "Mn")
    # each letter by itself: of a whole word, Python makes the last sigma a final one
    yield from "".join(f" {char} " if _is_punctuation(char) else char.lower() for char in bare).split()


def _clean(word: str) -> Iterator[str]:
    """Yield the characters of a word without control characters, and blanks of any kind as a blank."""
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
