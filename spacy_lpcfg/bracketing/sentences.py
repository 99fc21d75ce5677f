"""Sentences in the form that the bracketer uses: words without punctuation, and the kinds of all tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.tags import (
    FINITE,
    SEPARATORS,
    UNIVERSAL,
    is_punctuation,
    penn,
    split_compounds,
    universal,
)
from spacy_lpcfg.words.remembered import remembered

Sentence = tuple[Sequence[str], Sequence[str]]  # words and tags, as in a TaggedSentence
UNIVERSAL_IDS = {tag: number for number, tag in enumerate(UNIVERSAL)}
N_UNIVERSAL = len(UNIVERSAL)

OTHER, SEPARATOR, NOUN, VERB, FINITE_VERB = range(5)


class Token(NamedTuple):
    """Features of a token that follow from its tag (for punctuation and unknown tags, also from the word).

    is_word (bool): Whether the token is not punctuation.
    universal (int): Index of its universal tag in `UNIVERSAL`.
    kind (int): SEPARATOR (comma, semicolon or colon), NOUN, VERB (a participle), FINITE_VERB (any other verb, as far as
        the tag tells) or OTHER.
    """

    is_word: bool
    universal: int
    kind: int


@remembered(2**16)
def _token(tag: str, word: str) -> Token:
    """Return the features of a token; `word` is only needed for punctuation and unknown tags."""
    name = universal(tag)
    if is_punctuation(tag, word):
        return Token(False, UNIVERSAL_IDS["PUNCT"], SEPARATOR if word in SEPARATORS or tag in SEPARATORS else OTHER)
    if name in ("VERB", "AUX"):
        is_finite = penn(tag) in FINITE or tag in ("VERB", "AUX")
        return Token(True, UNIVERSAL_IDS[name], FINITE_VERB if is_finite else VERB)
    return Token(True, UNIVERSAL_IDS[name], NOUN if name in ("NOUN", "PROPN") else OTHER)


@remembered(2**16)
def _reads_word(tag: str) -> bool:
    return universal(tag) in ("PUNCT", "SYM", "X")


def describe(words: Sequence[str], tags: Sequence[str]) -> list[Token]:
    """Return the features of each token of a sentence.

    RAISES (ValueError): If the numbers of words and tags differ.
    """
    if len(words) != len(tags):
        raise ValueError(f"Expected a tag for each word, got {len(words)} words and {len(tags)} tags.")
    return [_token(tag, word if _reads_word(tag) else "") for word, tag in zip(words, tags, strict=True)]


class Plain(NamedTuple):
    """A sentence without its punctuation.

    positions (tuple of int): Index of each word among the tokens.
    universal (tuple of int): Index of each word's tag in `UNIVERSAL`.
    segments (tuple of int): Segment of each word: the number of stretches of punctuation before it in the sentence.
    tokens (list of Token): All tokens, with punctuation.
    """

    positions: tuple[int, ...]
    universal: tuple[int, ...]
    segments: tuple[int, ...]
    tokens: list[Token]


def plain(words: Sequence[str], tags: Sequence[str]) -> Plain:
    """Remove the punctuation of a sentence.

    words, tags (sequence of str, (n_tokens,)): Tokens and their part-of-speech tags.
    RAISES (ValueError): If the numbers of words and tags differ.
    """
    tokens = describe(words, tags)
    positions = tuple(position for position, token in enumerate(tokens) if token.is_word)
    segments, segment, last = [], 0, -1
    for position in positions:
        segment += position > last + 1
        segments.append(segment)
        last = position
    return Plain(positions, tuple(tokens[position].universal for position in positions), tuple(segments), tokens)


class Chunk(NamedTuple):
    """A batch of sentences without punctuation, from which word vectors, anchors and covariances are learned.

    words (list of str, (n,)): Words of all sentences.
    universal (int8, (n,)): Indices of the words' tags in `UNIVERSAL`.
    offsets (int64, (n_sentences + 1,)): Sentence s has the words `offsets[s]:offsets[s + 1]`.
    """

    words: list[str]
    universal: np.ndarray
    offsets: np.ndarray


def chunks(sentences: Iterable[Sentence], n_tokens: int = 200_000) -> Iterator[Chunk]:
    """Yield sentences in chunks of about `n_tokens` words, without punctuation; sentences without words are skipped.

    sentences (iterable of (words, tags)): The sentences; tokens of compound tags are split (`split_compounds`).
    n_tokens (int): A chunk ends with the sentence that brings it to this number of words.
    RAISES (ValueError): If the numbers of words and tags of a sentence differ.
    """
    words: list[str] = []
    tags: list[int] = []
    offsets = [0]
    for sentence in sentences:
        text, simple_tags = split_compounds(tuple(sentence[0]), tuple(sentence[1]))
        for word, token in zip(text, describe(text, simple_tags), strict=True):
            if token.is_word:
                words.append(word)
                tags.append(token.universal)
        if len(words) > offsets[-1]:
            offsets.append(len(words))
        if len(words) >= n_tokens:
            yield Chunk(words, np.array(tags, dtype=np.int8), np.array(offsets))
            words, tags, offsets = [], [], [0]
    if words:
        yield Chunk(words, np.array(tags, dtype=np.int8), np.array(offsets))
