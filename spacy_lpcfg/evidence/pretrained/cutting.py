"""Vocabularies cut to the pieces of texts: the embeddings of a multilingual encoder are most of its weights."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.evidence.pieces import Pieces, UnigramPieces


class Cut(NamedTuple):
    """A vocabulary cut to some pieces.

    ids (list of int): The pieces that are kept, in their order.
    n_words (int): The number of running words of the texts.
    n_changed (int): The number of them that fall back to other pieces, or to more of them.
    n_unknown (int): The number of them with an unknown piece that had none before.
    """

    ids: list[int]
    n_words: int
    n_changed: int
    n_unknown: int


def cut_vocabulary(pieces: Pieces, words: Iterable[str], n_pieces: int) -> Cut:
    """Choose the pieces to keep: special ones, single letters of the texts, and those that the texts have most often.

    Characters of ASCII follow. If the texts have fewer pieces than are kept, pieces of the same letters are added, in
    the order of the vocabulary (word pieces) or from the likeliest on (unigram pieces).

    pieces (Pieces): Divides words into the pieces of the whole vocabulary.
    words (iterable of str): The running words of the texts, in treebank spelling.
    n_pieces (int): The number of pieces to keep.
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
    """Yield pieces from the most to the least useful."""
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
    """Yield the pieces that are one of some letters."""
    return (i for i, piece in enumerate(pieces.vocabulary) if piece and pieces.letters_of(piece) in letters)


def _by_likelihood(pieces: Pieces) -> Iterable[int]:
    """Return all pieces from the likeliest on; vocabularies of word pieces are in that order, nearly."""
    if isinstance(pieces, UnigramPieces):
        return np.argsort(-pieces.scores, kind="stable").tolist()
    return range(len(pieces.vocabulary))
