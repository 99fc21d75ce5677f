"""What a network knows of single words: found once, for all networks that know the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.isbn.rare_words import RareWords
from spacy_lpcfg.words.remembered import is_remembered

_CACHE_SIZE = 10_000
_MAX_CANDIDATES = 8
_MIN_TAG_PROBABILITY = 0.002


class KnownWords:
    """Looks words up.

    outcomes (mapping of str to mapping of int to int): of each word that the network knows, by tag.
    signature_rows (mapping of str to int): rows of the signatures that are inputs.
    frequent (collection of str): words whose signatures are no inputs with the tags that they are known with.
    rare (RareWords): what is known of words that are unknown to the network.
    """

    def __init__(
        self,
        outcomes: Mapping[str, Mapping[int, int]],
        signature_rows: Mapping[str, int],
        frequent: Collection[str],
        rare: RareWords,
    ) -> None:
        self.outcomes = outcomes
        self.signature_rows = signature_rows
        self.frequent = frozenset(frequent)
        self.rare = rare
        self._cache: dict[tuple[str, bool], KnownWord] = {}

    def of(self, word: str, first: bool) -> KnownWord:
        """What is known of a word; first (bool): whether it is the first word of its sentence."""
        found = self._cache.get((word, first))
        if found is None:
            found = KnownWord(self, word, first)
            if is_remembered(word):
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[word, first] = found
        return found

    def are_like(self, other: KnownWords) -> bool:
        """Whether others know the same of every word."""
        own = self.outcomes, self.signature_rows, self.frequent
        return own == (other.outcomes, other.signature_rows, other.frequent) and _is_same(self.rare, other.rare)


class KnownWord:
    """A word as a network knows it; what takes time is found when it is first asked for.

    outcomes (dict of int to int): its outcome under each tag that it is known with; under any other it is unknown.
    is_frequent (bool): whether its signatures are no inputs with the tags that it is known with.
    """

    def __init__(self, known: KnownWords, word: str, first: bool) -> None:
        own = known.outcomes.get(word, {})
        self.outcomes = {**known.outcomes.get(word.lower(), {}), **own} if first else own
        self.is_frequent = word in known.frequent
        self._known, self._word, self._first = known, word, first

    @cached_property
    def log_factors(self) -> np.ndarray:
        """log P(word | the unknown word of the tag), float32 (n_tags,)."""
        return self._known.rare.log_factors(self._word, self._first).astype(np.float32)

    @cached_property
    def signature_rows(self) -> list[int]:
        """Rows of its signatures."""
        rows, names = self._known.signature_rows, self._known.rare.known_signatures(self._word, self._first)
        return [rows[name] for name in names if name in rows]

    @cached_property
    def likely_tags(self) -> list[int]:
        """The tags that it is known with, and those that a rare or unknown word may have by its signatures."""
        rare, tags = self._known.rare, sorted(self.outcomes)
        if not tags or rare.has_word(self._word):
            likely = rare.tags_of(self._word, self._first)
            best = np.argsort(-likely, kind="stable")[:_MAX_CANDIDATES]
            likely_enough = zip(best.tolist(), (likely[best] >= _MIN_TAG_PROBABILITY).tolist(), strict=True)
            tags += [tag for tag, is_likely in likely_enough if tag not in self.outcomes and (is_likely or not tags)]
        return tags


def _is_same(x: Any, y: Any) -> bool:
    """Whether two values are equal: arrays and data classes by what they hold."""
    if isinstance(x, np.ndarray):
        return np.array_equal(x, y)
    if is_dataclass(x):
        return all(_is_same(getattr(x, each.name), getattr(y, each.name)) for each in fields(x) if each.init)
    return bool(x == y)
