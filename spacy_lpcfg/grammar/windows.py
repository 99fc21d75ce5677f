"""Features of the words in a window around a word, as keys for a log-linear model.

A template names parts of the words around; its feature at a word is one key, mixed of the template and of what those
parts are there. Strings are looked at once a distinct word; the rest is arithmetic on 64-bit keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from spacy_lpcfg.grammar._windows import window_keys
from spacy_lpcfg.words.remembered import remembered

Template = tuple[tuple[int, int], ...]
"""Pairs of a word's place, relative to the one at hand, and a part of it; none for a feature that always holds."""

WORD, LOWER, SUFFIX_2, SUFFIX_3, PREFIX_3, SHAPE, TAG = range(7)
"""Parts of a word; TAG is a given tag, or else the likeliest one of the word alone."""

TEMPLATES: tuple[Template, ...] = (
    (),
    *(((0, part),) for part in (WORD, SUFFIX_2, SUFFIX_3, PREFIX_3, SHAPE)),
    *(((place, part),) for place in (-1, 1) for part in (LOWER, SUFFIX_3, TAG)),
    *(((start, TAG), (start + 1, TAG)) for start in (-2, -1, 0, 1)),
    *(((start, TAG), (start + 1, TAG), (start + 2, TAG)) for start in (-2, -1, 0)),
    *(((place, LOWER), (0, TAG)) for place in (-1, 1)),
    *(((place, TAG), (0, LOWER)) for place in (-1, 1)),
)
REACH = max(abs(place) for template in TEMPLATES for place, _ in template)


class Windows:
    """Extracts the features of sentences.

    tags (sequence of str): the tags that words may be given.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = np.array([_key(f"{TAG} {tag}") for tag in tags], dtype=np.uint64)

    def keys(self, words: Sequence[str], tags: np.ndarray) -> np.ndarray:
        """The features of a sentence's words, int32 (n_words, n_templates), none of them negative.

        words (sequence of str): any text.
        tags (int32, (n_words,)): a tag of each, as ids.
        """
        parts = np.zeros((len(words) + 2 * REACH, TAG + 1), dtype=np.uint64)
        inner = parts[REACH:-REACH]
        inner[:, :TAG] = np.frombuffer(b"".join(_parts.each(words)), dtype=np.uint64).reshape(-1, TAG)
        inner[:, TAG] = self._tags[tags]
        return window_keys(parts, _TEMPLATE_TABLE, REACH)


@remembered(100_000)
def _parts(word: str) -> bytes:
    """Keys of the parts of a word, but its tag, uint64 (6,); for all grammars."""
    return np.array([_key(f"{i} {part}") for i, part in enumerate(_texts(word))], dtype=np.uint64).tobytes()


def _texts(word: str) -> tuple[str, ...]:
    """The parts of a word, but its tag."""
    lower = word.lower()
    return word, lower, lower[-2:], lower[-3:], lower[:3], shape(word)


def shape(word: str) -> str:
    """A word with its letters and digits replaced by X, x and d, of which at most two stand side by side."""
    runs = [(kind, min(len(list(run)), 2)) for kind, run in groupby(map(_kind, word[:_LONGEST]))]
    return "".join(kind * n for kind, n in runs)


_LONGEST = 20  # characters of a word that its shape tells of


def _kind(char: str) -> str:
    if char.isalpha():
        return "X" if char.isupper() else "x"
    return "d" if char.isdigit() else char


def _key(text: str) -> int:
    """The same for a text on every machine, and never 0, which is the key of all parts beyond a sentence's edge."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1


def _template_table(templates: Sequence[Template]) -> np.ndarray:
    """Places, counted from `REACH` words before, and parts, int32 (n_templates, most pairs, 2); -1 for no pair."""
    table = np.full((len(templates), max(map(len, templates)), 2), -1, dtype=np.int32)
    for i, template in enumerate(templates):
        for j, (place, part) in enumerate(template):
            table[i, j] = REACH + place, part
    return table


_TEMPLATE_TABLE = _template_table(TEMPLATES)
