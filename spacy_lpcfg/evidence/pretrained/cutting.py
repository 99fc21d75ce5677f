"""Reduction of an encoder's vocabulary, since embeddings of rare pieces are most weights of a multilingual encoder."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.evidence.pieces import Pieces, UnigramPieces


class Cut(NamedTuple):
    """A reduced vocabulary, with its effect on the texts that it was chosen for.

    ids (list of int): The ids of the pieces that are kept, ascending.
    n_words (int): Number of running words (tokens) of the texts.
    n_changed (int): Number of tokens that the reduced vocabulary divides into other pieces than the whole one.
    n_unknown (int): Number of tokens with an unknown piece in the reduced vocabulary and none in the whole one.
    """

    ids: list[int]
    n_words: int
    n_changed: int
    n_unknown: int


def cut_vocabulary(pieces: Pieces, words: Iterable[str], n_pieces: int) -> Cut:
    """Reduce a vocabulary to the pieces that some texts need most.

    Kept are, while there is room:

    - the special pieces;
    - single letters of the texts;
    - pieces of the texts, the most frequent first;
    - printable characters of ASCII;
    - other pieces of the same letters, in the order of the vocabulary (word pieces) or by descending probability
      (unigram pieces).

    pieces (Pieces): The tokenizer with the whole vocabulary.
    words (iterable of str): The running words of the texts, in treebank spelling.
    n_pieces (int): The maximum number of pieces to keep; the three special pieces are always kept.
    """
    counts = Counter(words)
    of_words = {word: pieces.of_word(word) for word in counts}
    kept = dict.fromkeys(pieces.ids[piece] for piece in pieces.special)
    for i in _ranked(pieces, counts, of_words):
        if len(kept) >= n_pieces:
            break
        kept[i] = None
    ids = sorted(kept)
    cut = pieces.restricted(ids)
    changed, unknown = [], []
    for word, before in of_words.items():
        after = tuple(ids[i] for i in cut.of_word(word))
        changed += [counts[word]] if after != before else []
        unknown += [counts[word]] if pieces.unknown in after and pieces.unknown not in before else []
    return Cut(ids, sum(counts.values()), sum(changed), sum(unknown))


def _ranked(pieces: Pieces, counts: Mapping[str, int], of_words: Mapping[str, tuple[int, ...]]) -> Iterator[int]:
    """Yield the ids of the pieces to keep, the most needed first; an id may be yielded more than once."""
    frequencies: Counter[int] = Counter()
    for word, ids in of_words.items():
        for i in ids:
            frequencies[i] += counts[word]
    for special in (pieces.first, pieces.last, pieces.unknown):
        del frequencies[special]
    letters = {letter for i in frequencies for letter in pieces.letters_of(pieces.vocabulary[i])}
    yield from _single(pieces, {*letters, ""})
    yield from (i for i, _ in frequencies.most_common())
    yield from _single(pieces, {*string.printable})
    for i in _by_likelihood(pieces):
        if letters.issuperset(pieces.letters_of(pieces.vocabulary[i])):
            yield i


def _single(pieces: Pieces, letters: Set[str]) -> Iterator[int]:
    """Return the ids of the pieces that consist of one of the given letters."""
    return (i for i, piece in enumerate(pieces.vocabulary) if piece and pieces.letters_of(piece) in letters)


def _by_likelihood(pieces: Pieces) -> Iterable[int]:
    """Return the ids of all pieces, the most probable first; word pieces are taken to be in that order already."""
    if isinstance(pieces, UnigramPieces):
        return np.argsort(-pieces.scores, kind="stable").tolist()
    return range(len(pieces.vocabulary))
