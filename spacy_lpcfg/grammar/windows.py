"""Features of the words in a window around each word, hashed to integer keys for the log-linear classifier.

A template lists attributes of words at relative positions. Its feature at a word is a hash of the template and of the
values of these attributes. The strings of each distinct word are hashed once; everything else is arithmetic on 64-bit
keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from spacy_lpcfg.grammar._classifier import window_keys
from spacy_lpcfg.words.remembered import remembered

Template = tuple[tuple[int, int], ...]
"""Pairs of a relative position and an attribute of the word there; the empty template is the bias."""

WORD, LOWER, SUFFIX_2, SUFFIX_3, PREFIX_3, SHAPE, TAG = range(7)
"""Attributes of a word; TAG is the given tag, or else the most probable tag of the word without context."""

TEMPLATES: tuple[Template, ...] = (
    (),
    *(((0, attribute),) for attribute in (WORD, SUFFIX_2, SUFFIX_3, PREFIX_3, SHAPE)),
    *(((offset, attribute),) for offset in (-1, 1) for attribute in (LOWER, SUFFIX_3, TAG)),
    *(((start, TAG), (start + 1, TAG)) for start in (-2, -1, 0, 1)),
    *(((start, TAG), (start + 1, TAG), (start + 2, TAG)) for start in (-2, -1, 0)),
    *(((offset, LOWER), (0, TAG)) for offset in (-1, 1)),
    *(((offset, TAG), (0, LOWER)) for offset in (-1, 1)),
)
REACH = max(abs(offset) for template in TEMPLATES for offset, _ in template)


class Windows:
    """Extractor of the window features of sentences.

    tags (sequence of str): The tag set; tag ids are positions in it.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = np.array([_key(f"{TAG} {tag}") for tag in tags], dtype=np.uint64)

    def keys(self, words: Sequence[str], tags: np.ndarray) -> np.ndarray:
        """Return the feature keys of a sentence's words, int32 (n_words, n_templates), all of them 0 or more.

        words (sequence of str, (n_words,)): The words.
        tags (int32, (n_words,)): Ids of their tags.
        """
        attributes = np.zeros((len(words) + 2 * REACH, TAG + 1), dtype=np.uint64)
        inner = attributes[REACH:-REACH]
        inner[:, :TAG] = np.frombuffer(b"".join(_attribute_keys.map(words)), dtype=np.uint64).reshape(-1, TAG)
        inner[:, TAG] = self._tags[tags]
        return window_keys(attributes, _TEMPLATE_TABLE, REACH)


@remembered(100_000)
def _attribute_keys(word: str) -> bytes:
    """Return the hashes of a word's attributes except for its tag, uint64 (6,) as bytes; cached across grammars."""
    return np.array([_key(f"{i} {text}") for i, text in enumerate(_texts(word))], dtype=np.uint64).tobytes()


def _texts(word: str) -> tuple[str, ...]:
    """Return the attributes of a word, in the order of their ids, except for its tag."""
    lower = word.lower()
    return word, lower, lower[-2:], lower[-3:], lower[:3], shape(word)


def shape(word: str) -> str:
    """Return the shape of a word: letters and digits become X, x and d, and runs of a kind are cut to two characters.

    Only the first 20 characters count: "Anglo-1990s" becomes "Xxx-ddx".
    """
    runs = [(kind, min(len(list(run)), 2)) for kind, run in groupby(map(_kind, word[:_LONGEST]))]
    return "".join(kind * n for kind, n in runs)


_LONGEST = 20  # leading characters of a word that its shape describes


def _kind(char: str) -> str:
    if char.isalpha():
        return "X" if char.isupper() else "x"
    return "d" if char.isdigit() else char


def _key(text: str) -> int:
    """Return a machine-independent hash of a text, never 0, since 0 stands for attributes outside a sentence."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1


def _template_table(templates: Sequence[Template]) -> np.ndarray:
    """Return the (position + REACH, attribute) pairs of each template, padded with -1.

    RETURNS (int32, (n_templates, largest number of pairs, 2)): The pairs.
    """
    table = np.full((len(templates), max(map(len, templates)), 2), -1, dtype=np.int32)
    for i, template in enumerate(templates):
        for j, (offset, attribute) in enumerate(template):
            table[i, j] = REACH + offset, attribute
    return table


_TEMPLATE_TABLE = _template_table(TEMPLATES)
