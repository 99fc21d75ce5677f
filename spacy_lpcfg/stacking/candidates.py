"""Candidate brackets of a sentence, from a model's posteriors, with their features."""

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
"""Number of dense inputs of a candidate: log-odds, log-probability and crossing mass."""
LENGTHS = np.array([2, 3, 4, 5, 6, 8, 11, 16, 21, 31])
"""Lower limits of the bins of span length."""
_LEAST = 1e-4  # probabilities are clipped to [_LEAST, 1 - _LEAST], where their log-odds are finite
_SUFFIX = 3  # letters of the suffix of an unknown word
_REMEMBERED = 2**14


class Candidates(NamedTuple):
    """Candidate brackets of a sentence with their inputs.

    keys (int32, (n_candidates, n_templates)): Hashed features, not negative; -1 for none.
    dense (float32, (n_candidates, `N_DENSE`)): Log-odds and log-probability of each candidate, and the sum of the
        probabilities of candidates that cross it.
    bounds (int32, (n_candidates, 2)): Start and end of each candidate, half-open.
    """

    keys: np.ndarray
    dense: np.ndarray
    bounds: np.ndarray


def candidates_of(
    words: Sequence[str], posteriors: Posteriors, known: Collection[str], table: np.ndarray
) -> Candidates:
    """Compute the candidates of a sentence, in the order of the posteriors' brackets.

    words (sequence of str): The words in treebank spelling.
    posteriors (Posteriors): The brackets with their posteriors.
    known (collection of str): Words that are features themselves; other words are represented by their signature.
    table (int32, (n_templates, n)): The templates, from `template_table`.
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
    """Return bounds, int32 (n, 2), and hashed labels, int32 (n,)."""
    if not brackets:
        return np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int32)
    starts, ends, labels = zip(*brackets, strict=True)
    return np.array([starts, ends], dtype=np.int32).T.copy(), np.array(text_hash.map(labels), dtype=np.int32)


def word_atoms(words: Sequence[str], known: Collection[str]) -> list[int]:
    """Return the hash of each known word, and of the signature of other words."""
    first, *others = [text_hash(word) if word in known else 0 for word in words]
    return [
        first or text_hash(signature(words[0], True)),
        *(atom or signature_hash(word) for atom, word in zip(others, words[1:], strict=True)),
    ]


def tag_atoms(tags: Sequence[dict[str, float]]) -> list[int]:
    """Return the hash of each word's most probable tag."""
    return text_hash.map([max(of_word, key=of_word.__getitem__) if of_word else "" for of_word in tags])


@remembered(_REMEMBERED)
def text_hash(text: str) -> int:
    """Return a machine-independent hash of a text, 31 bits, not 0."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) >> 1 or 1


@remembered(_REMEMBERED)
def signature_hash(word: str) -> int:
    """Return the hash of the signature of a word that is not sentence-initial."""
    return text_hash(signature(word, False))


def signature(word: str, is_first: bool) -> str:
    """Return case, shape and suffix of a word as a text that is no word, since it contains a blank."""
    return suffix_signatures(word, is_first)[: _SUFFIX + 2][-1]
