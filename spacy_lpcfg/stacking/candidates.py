"""The candidates of a sentence: the brackets of a model's posteriors, as numbers that the kernels read."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.stacking._spans import crossing_masses, span_features
from spacy_lpcfg.trees.tree import Span
from spacy_lpcfg.words.remembered import remembered
from spacy_lpcfg.words.signatures import suffix_signatures

N_DENSE = 3
"""Inputs of a candidate that are no features: log-odds, log-probability and crossing mass."""
LENGTHS = np.array([2, 3, 4, 5, 6, 8, 11, 16, 21, 31])
"""Where the next bin of lengths begins."""
_LEAST = 1e-4  # of a probability and its complement, whose log-odds would be infinite
_SUFFIX = 3  # letters of an unknown word that count
_REMEMBERED = 2**14


class Candidates(NamedTuple):
    """The candidates of a sentence.

    keys (int32, (n_candidates, n_templates)): hashed features, not negative; -1 for none.
    dense (float32, (n_candidates, `N_DENSE`)): the log-odds of each candidate, its log-probability, and the sum of the
        probabilities of candidates that cross it.
    bounds (int32, (n_candidates, 2)): start and end of each, half-open.
    """

    keys: np.ndarray
    dense: np.ndarray
    bounds: np.ndarray


def candidates_of(
    words: Sequence[str], posteriors: Posteriors, known: Collection[str], table: np.ndarray
) -> Candidates:
    """The candidates of a sentence, in the order of the posteriors' brackets.

    words (sequence of str): of the sentence, in the treebank's spelling.
    known (collection of str): words that are features themselves; of others the signature is one.
    table (int32, (n_templates, n)): see `template_table`.
    """
    likely = np.fromiter(posteriors.brackets.values(), dtype=np.float64, count=len(posteriors.brackets))
    bounds, labels = _brackets(posteriors.brackets)
    p = np.clip(likely, _LEAST, 1 - _LEAST)
    odds = np.log(p / (1 - p))
    masses = crossing_masses(bounds, likely)
    keys = span_features(
        np.array(word_atoms(words, known), dtype=np.int32),
        np.array(tag_atoms(posteriors.tags), dtype=np.int32),
        bounds,
        labels,
        np.floor(odds).astype(np.int32),
        np.searchsorted(LENGTHS, bounds[:, 1] - bounds[:, 0], side="right").astype(np.int32),
        table,
    )
    return Candidates(keys, np.stack([odds, np.log(p), masses], axis=1).astype(np.float32), bounds)


def _brackets(brackets: Collection[Span]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds, int32 (n, 2), and hashed labels, int32 (n,)."""
    if not brackets:
        return np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int32)
    starts, ends, labels = zip(*brackets, strict=True)
    return np.array([starts, ends], dtype=np.int32).T.copy(), np.array(text_hash.map(labels), dtype=np.int32)


def word_atoms(words: Sequence[str], known: Collection[str]) -> list[int]:
    """The hash of each known word, and of the letter case, shape and last letters of others."""
    first, *rest = [text_hash(word) if word in known else 0 for word in words]
    return [
        first or text_hash(signature(words[0], True)),
        *(atom or signature_hash(word) for atom, word in zip(rest, words[1:], strict=True)),
    ]


def tag_atoms(tags: Sequence[dict[str, float]]) -> list[int]:
    """The hash of each word's likeliest tag."""
    return text_hash.map([max(of_word, key=of_word.__getitem__) if of_word else "" for of_word in tags])


@remembered(_REMEMBERED)
def text_hash(text: str) -> int:
    """31 bits of a text, not 0, the same on every machine."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) >> 1 or 1


@remembered(_REMEMBERED)
def signature_hash(word: str) -> int:
    """The hash of the signature of a word within a sentence."""
    return text_hash(signature(word, False))


def signature(word: str, is_first: bool) -> str:
    """Letter case, shape and the last letters of a word; no word is spelled so, since it has a blank."""
    return suffix_signatures(word, is_first)[: _SUFFIX + 2][-1]
