"""Look-up of words in the vocabulary of a network, with a cache."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.isbn.rare_words import RareWords
from spacy_lpcfg.words.remembered import WordCache

_CACHE_SIZE = 10_000
_MAX_CANDIDATES = 8
_MIN_TAG_PROBABILITY = 0.002


class KnownWords:
    """A look-up table of the words of a network's vocabulary.

    outcomes (mapping of str to mapping of int to int): For each known word a mapping from tag id to outcome (id of the
        word with this tag).
    signature_rows (mapping of str to int): The input row of each signature (class of spelling).
    frequent (collection of str): Frequent words: their signatures are not inputs if their tag is one that they are
        known with.
    rare (RareWords): The model of words that are unknown to the network.
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
        self._cache: WordCache[KnownWord] = WordCache(_CACHE_SIZE)

    def of(self, word: str, first: bool) -> KnownWord:
        """Return the entry of a word; unknown words have one too.

        first (bool): Whether the word is the first word of its sentence.
        """
        entry = self._cache.get((word, first))
        return self._cache.add(word, first, KnownWord(self, word, first)) if entry is None else entry

    @cached_property
    def spellings(self) -> frozenset[str]:
        """The words of the treebank, including rare ones."""
        rare = [name[2:] for name in self.rare.names if name.startswith("w ")]
        return frozenset(self.outcomes).union(rare)


class KnownWord:
    """The vocabulary entry of a word; expensive attributes are computed when they are first used.

    outcomes (dict of int to int): A mapping from tag id to outcome (id of the word with this tag), for the tags that
        the word is known with; with any other tag it is an unknown word.
    is_frequent (bool): Whether the word is so frequent that its signatures (classes of spelling) are not inputs if its
        tag is one that it is known with.
    """

    def __init__(self, known: KnownWords, word: str, first: bool) -> None:
        outcomes = known.outcomes.get(word, {})
        self.outcomes = {**known.outcomes.get(word.lower(), {}), **outcomes} if first else outcomes
        self.is_frequent = word in known.frequent
        self._known, self._word, self._first = known, word, first

    @cached_property
    def log_factors(self) -> np.ndarray:
        """ln P(word | unknown word of the tag) for each tag, in nats, float32 (n_tags,)."""
        return self._known.rare.log_factors(self._word, self._first).astype(np.float32)

    @cached_property
    def signature_rows(self) -> list[int]:
        """The input rows of the word's signatures."""
        rows, names = self._known.signature_rows, self._known.rare.known_signatures(self._word, self._first)
        return [rows[name] for name in names if name in rows]

    @cached_property
    def likely_tags(self) -> list[int]:
        """Ids of the tags to consider: the word's known tags, and if it is rare or unknown, likely other tags."""
        rare, tags = self._known.rare, sorted(self.outcomes)
        if not tags or rare.has_word(self._word):
            likely = rare.tags_of(self._word, self._first)
            best = np.argsort(-likely, kind="stable")[:_MAX_CANDIDATES]
            likely_enough = zip(best.tolist(), (likely[best] >= _MIN_TAG_PROBABILITY).tolist(), strict=True)
            tags += [tag for tag, is_likely in likely_enough if tag not in self.outcomes and (is_likely or not tags)]
        return tags
