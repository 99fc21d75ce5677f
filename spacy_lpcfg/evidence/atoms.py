"""Atoms of sparse features: hashes of words, tags and parts of spelling around words and fence posts.

An atom is a number that stands for one property of a word or of a position; templates combine atoms into features. A
fence post is a position between two words, or at an end of the sentence.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.evidence.templates import LENGTHS, MAX_TAGS, N_SUFFIXES, POST_ATOMS, REACH, WORD_REACH
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.words.remembered import LONGEST, remembered
from spacy_lpcfg.words.signatures import suffix_signatures

_OUTSIDE = 1  # the atom of a place beyond the sentence
_FIRST_TAG = 2  # the atom of the first tag
_LEAST_HASH = 2**20  # of texts, so that they are no tags
_SUFFIX = 3  # letters of the suffix in a signature
_REMEMBERED = 2**14
_BASE = 0x9E3779B97F4A7C15  # of polynomial hashes of tag sequences


class Spelling(NamedTuple):
    """The hashes of the spelling of a word.

    signature (int): Hash of the word's signature: its pattern of capitals and its suffix.
    prefix (int): Hash of the first three letters.
    suffixes (tuple[int, ...]): Hashes of the last 1, 2, 3 and 4 letters.
    """

    signature: int
    prefix: int
    suffixes: tuple[int, ...]


def text_hash(text: str) -> int:
    """Return a machine-independent hash of a text, from 2 ** 20 to 2 ** 31 - 1."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) >> 1 | _LEAST_HASH


@remembered(_REMEMBERED)
def spelling_of(word: str) -> Spelling:
    """Return the hashes of the spelling of a word that is not the first word of its sentence."""
    return _spelling(word, False)


def _spelling(word: str, is_first: bool) -> Spelling:
    plain = unescape_token(word if len(word) <= LONGEST else word[: LONGEST // 2] + word[-LONGEST // 2 :]).lower()
    suffixes = tuple(text_hash(f"-{plain[-n:]}") for n in range(1, N_SUFFIXES + 1))
    signature = suffix_signatures(word, is_first)[: _SUFFIX + 2][-1]
    return Spelling(text_hash(signature), text_hash(f"{plain[:3]}-"), suffixes)


@dataclass(frozen=True, eq=False)
class FeatureVocabulary:
    """Vocabulary of frequent words: each has an atom (hash) of its own; other words share the atom of their signature.

    words (tuple[str, ...]): The frequent words.
    likely_tags (int32, (n_words,)): The index of the most frequent tag of each word.
    """

    words: tuple[str, ...]
    likely_tags: np.ndarray

    @cached_property
    def _atoms(self) -> dict[str, tuple[int, int]]:
        """Mapping from each frequent word to its atom and the atom of its most frequent tag."""
        tags = (self.likely_tags + _FIRST_TAG).tolist()
        return {word: (text_hash(word), tag) for word, tag in zip(self.words, tags, strict=True)}

    def word_atoms(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the atoms (hashed properties) of each word of a sentence in its context, and of each word alone.

        words (sequence of str, (n,)): The words in treebank spelling.
        RETURNS (int32 (n, n_atoms), int32 (n,)): The atoms of each word in its context, in the order of `WORD_ATOMS`,
            and the atom of the word alone.
        """
        n = len(words)
        spellings = [_spelling(word, True) for word in words[:1]] + spelling_of.map(words[1:])
        names = np.full((n + 2 * WORD_REACH, 2), _OUTSIDE, np.int32)
        parts = np.full((n + 2, 2 + N_SUFFIXES), _OUTSIDE, np.int32)
        if n:
            pairs = zip(words, spellings, strict=True)
            names[WORD_REACH:-WORD_REACH] = [self._atoms.get(w, (s.signature, s.signature)) for w, s in pairs]
            parts[1:-1] = [(s.signature, s.prefix, *s.suffixes) for s in spellings]
        window = [names[k : n + k, kind] for kind in range(2) for k in range(2 * WORD_REACH + 1)]
        atoms = np.stack([*window, *parts[1 : n + 1].T, parts[:n, -2], parts[2:, -2]], 1)
        return np.ascontiguousarray(atoms), names[WORD_REACH : n + WORD_REACH, 0]


def post_atoms(words: np.ndarray, tags: np.ndarray) -> np.ndarray:
    """Return the atoms (hashed properties) of each fence post (position between words), int32 (n + 1, n_atoms).

    The columns are in the order of `POST_ATOMS`.

    words (int32, (n,)): The atom of each word, from `FeatureVocabulary.word_atoms`.
    tags (int, (n,)): The index of each word's tag.
    """
    n = len(words)
    padded = np.full((2, n + 2 * REACH), _OUTSIDE, np.int32)
    padded[0, REACH : n + REACH] = words
    padded[1, REACH : n + REACH] = tags + _FIRST_TAG
    return np.stack([padded[kind, k : k + n + 1] for kind in range(2) for k in range(2 * REACH)], 1)


def span_atoms(posts: np.ndarray, starts: np.ndarray, ends: np.ndarray, tags: np.ndarray) -> np.ndarray:
    """Return the atoms (hashed properties) of spans, int32 (n_spans, n_atoms), in the order of `SPAN_ATOMS`.

    posts (int32, (n + 1, n_post_atoms)): The atoms of the fence posts (positions between words), from `post_atoms`.
    starts, ends (int64, (n_spans,)): The fence posts at which each span begins and ends.
    tags (int, (n,)): The index of each word's tag.
    """
    n = len(POST_ATOMS)
    atoms = np.empty((len(starts), 2 * n + 2), np.int32)
    atoms[:, :n], atoms[:, n : 2 * n] = posts[starts], posts[ends]
    atoms[:, 2 * n] = np.searchsorted(LENGTHS, ends - starts, side="right") + 1
    atoms[:, 2 * n + 1] = _sequences(tags, starts, ends)
    return atoms


def _sequences(tags: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return a hash above 0 of the tags of each span of at most `MAX_TAGS` words; 0 for longer spans; int32 (n_spans,).

    The hash is a polynomial modulo 2 ** 64 (Rabin and Karp), so that the hash of a span follows from the hashes of two
    prefixes of the sentence.
    """
    beginnings = [0]
    for tag in tags.tolist():
        beginnings.append((beginnings[-1] * _BASE + tag + 1) % 2**64)
    powers = np.array([pow(_BASE, k, 2**64) for k in range(MAX_TAGS + 1)], np.uint64)
    hashes, lengths = np.array(beginnings, np.uint64), ends - starts
    hashes = hashes[ends] - hashes[starts] * powers[np.minimum(lengths, MAX_TAGS)]
    return np.where(lengths <= MAX_TAGS, (hashes >> np.uint64(33)).astype(np.int32) | 1, 0)
