"""Sentences as numbers: what the bracketer knows of each token, with punctuation taken out but not forgotten."""

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
    """What a tag says, and for punctuation the word.

    is_word (bool): no punctuation.
    universal (int): place in `UNIVERSAL`.
    kind (int): SEPARATOR, NOUN, VERB (a participle), FINITE_VERB (no participle, as far as the tag tells) or OTHER.
    """

    is_word: bool
    universal: int
    kind: int


@remembered(2**16)
def _token(tag: str, word: str) -> Token:
    """word (str): only of punctuation and of unknown tags."""
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
    """What the tags of a sentence say.

    RAISES (ValueError): If there are not as many tags as words.
    """
    if len(words) != len(tags):
        raise ValueError(f"Expected a tag for each word, got {len(words)} words and {len(tags)} tags.")
    return [_token(tag, word if _reads_word(tag) else "") for word, tag in zip(words, tags, strict=True)]


class Plain(NamedTuple):
    """A sentence without its punctuation.

    places (tuple of int): of its words among the tokens.
    universal (tuple of int): places of the words' tags in `UNIVERSAL`.
    segments (tuple of int): how many stretches of punctuation stand before each word.
    tokens (list of Token): all of them, with punctuation.
    """

    places: tuple[int, ...]
    universal: tuple[int, ...]
    segments: tuple[int, ...]
    tokens: list[Token]


def plain(words: Sequence[str], tags: Sequence[str]) -> Plain:
    """A sentence without its punctuation; same errors as `describe`."""
    tokens = describe(words, tags)
    places = tuple(place for place, token in enumerate(tokens) if token.is_word)
    segments, segment, last = [], 0, -1
    for place in places:
        segment += place > last + 1
        segments.append(segment)
        last = place
    return Plain(places, tuple(tokens[place].universal for place in places), tuple(segments), tokens)


class Chunk(NamedTuple):
    """Many sentences in a row, without punctuation, as a learner reads them.

    words (list of str), universal (int8, (n,)): of all tokens.
    offsets (int64, (n_sentences + 1,)): where the sentences begin.
    """

    words: list[str]
    universal: np.ndarray
    offsets: np.ndarray


def chunks(sentences: Iterable[Sentence], n_tokens: int = 200_000) -> Iterator[Chunk]:
    """Sentences in chunks of some `n_tokens` tokens; those without a word are left out."""
    words: list[str] = []
    tags: list[int] = []
    offsets = [0]
    for sentence in sentences:
        text, given = split_compounds(tuple(sentence[0]), tuple(sentence[1]))
        for word, token in zip(text, describe(text, given), strict=True):
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
