"""Model of rare and unknown words, from their signatures: case and shape, then suffixes of growing length.

The signatures of a word (`words/signatures.py`) form a path in a tree, from the most general one to the longest suffix
that other rare words share. The tag distribution of a signature is smoothed towards that of the next shorter one
(Samuelsson 1993, Brants 2000).

A network emits such words as the unknown word of their tag. `RareWords` gives the probability of the actual word,
P(word | tag) = P(tag | word) P(word) / P(tag), over the rare words of the treebank and the signatures of all words that
it lacks. A word that is not in the treebank has the probability of its longest signature.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.words.signatures import shorter_signature, suffix_signatures

_MAX_RARE = 10  # words that occur at most so often are rare
_SIGNATURE_WEIGHT = 2.0
_MIN_COUNT = 0.5  # pseudo-count of words and signatures that do not occur as unknown words
Seen = Mapping[tuple[str, bool, int], int]
"""Counts of (word, whether it is sentence-initial, tag)."""


@dataclass(frozen=True, eq=False)
class RareWords:
    """Distributions of tags given rare words, and given signatures.

    A network emits a rare word as one outcome for each tag, the unknown word of the tag.

    names (tuple[str, ...], (n_names,)): Rare words, prefixed by "w ", and signatures, prefixed by "s "; sorted.
    offsets (int32, (n_names + 1,)): The entries of name i in `tags` and `counts` are `offsets[i]:offsets[i + 1]`.
    tags (int32, (n_entries,)): Ids of the tags that a name was seen with.
    counts (float32, (n_entries,)): For a word, how often the network sees it with the tag as the unknown word; for
        a signature, how often rare words with this signature have the tag.
    weights (float32, (n_names,)): Share of each name among unknown words; the shares sum to 1.
    tag_weights (float32, (n_tags,)): P(tag) of unknown words: the sum over names of `weights` * P(tag | name).
    signature_weight (float): Pseudo-count of the tag distribution of the next shorter signature, for smoothing.
    """

    names: tuple[str, ...]
    offsets: np.ndarray
    tags: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    tag_weights: np.ndarray
    signature_weight: float
    _of_signature: dict[str, np.ndarray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of_signature", {})

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @property
    def n_tags(self) -> int:
        return len(self.tag_weights)

    def has_word(self, word: str) -> bool:
        """Return whether the word is rare, or occurs with a tag that the network does not know it with."""
        return f"w {word}" in self._index

    def frequent_signatures(self, min_count: float) -> tuple[str, ...]:
        """Return the signatures that were seen at least `min_count` times with rare words."""
        counts = np.add.reduceat(np.append(self.counts, 0), self.offsets[:-1]) * (np.diff(self.offsets) > 0)
        return tuple(
            name[2:]
            for name, count in zip(self.names, counts, strict=True)
            if name.startswith("s ") and count >= min_count
        )

    def known_signatures(self, word: str, sentence_initial: bool) -> list[str]:
        """Return the signatures of a word that occur with rare words, shortest first; at least the most general one."""
        return self._look_up(word, sentence_initial)[0]

    def tags_of(self, word: str, sentence_initial: bool) -> np.ndarray:
        """Return P(tag | word), given that the word is emitted as an unknown word, float64 (n_tags,)."""
        return self._look_up(word, sentence_initial)[1]

    def log_factors(self, word: str, sentence_initial: bool) -> np.ndarray:
        """Return ln P(word | unknown word of the tag) for each tag, in nats, float64 (n_tags,)."""
        known, tags = self._look_up(word, sentence_initial)
        index = self._index.get(f"w {word}", self._index[f"s {known[-1]}"])
        return np.log(tags * self.weights[index] / self.tag_weights)

    def _look_up(self, word: str, sentence_initial: bool) -> tuple[list[str], np.ndarray]:
        """Return the known signatures and the tag distribution of a word."""
        known = [name for name in suffix_signatures(word, sentence_initial) if f"s {name}" in self._index]
        return known, self._smoothed(f"w {word}", self._tags_of_signature(known[-1]))

    def of_names(self) -> Iterator[np.ndarray]:
        """Yield P(tag | name) for each name, float64 (n_tags,); words count as not sentence-initial."""
        for name in self.names:
            yield self.tags_of(name[2:], False) if name.startswith("w ") else self._tags_of_signature(name[2:])

    def _tags_of_signature(self, signature: str) -> np.ndarray:
        tags = self._of_signature.get(signature)
        if tags is None:
            shorter = shorter_signature(signature)
            below = self._tags_of_signature(shorter) if signature else np.full(self.n_tags, 1.0 / self.n_tags)
            self._of_signature[signature] = tags = self._smoothed(f"s {signature}", below)
        return tags

    def _smoothed(self, name: str, shorter: np.ndarray) -> np.ndarray:
        """Return the tag distribution of a name, smoothed towards the distribution of its next shorter signature."""
        index = self._index.get(name)
        if index is None:
            return shorter
        entries = slice(self.offsets[index], self.offsets[index + 1])
        tags = self.signature_weight * shorter
        tags[self.tags[entries]] += self.counts[entries]
        return read_only(tags / tags.sum())


def count_rare_words(seen: Seen, is_known: Iterable[bool], n_tags: int) -> RareWords:
    """Count the rare words and signatures of a treebank.

    Words that occur at most 10 times are counted, and so are their signatures. More frequent words are counted only
    with tags that the network does not know them with, and without signatures.

    seen (mapping): The count of each (word, whether it is sentence-initial, tag id).
    is_known (iterable of bool): Whether the network knows the word with this tag, for each key of `seen` in order.
    n_tags (int): Number of tags.
    """
    total: Counter[str] = Counter()
    for (word, _, _), count in seen.items():
        total[word] += count
    table: defaultdict[str, Counter[int]] = defaultdict(Counter)
    types: defaultdict[str, set[str]] = defaultdict(set)
    for ((word, sentence_initial, tag), count), known in zip(seen.items(), is_known, strict=True):
        if total[word] <= _MAX_RARE:
            table[f"w {word}"][tag] += 0 if known else count
            for name in suffix_signatures(word, sentence_initial):
                table[f"s {name}"][tag] += count
                types[f"s {name}"].add(word)
        elif not known:
            table[f"w {word}"][tag] += count
    table["s "][0] += 0
    for name in [name for name, words in types.items() if len(words) == 1 and name != "s "]:
        del table[name]
    once = Counter(
        next(f"s {name}" for name in reversed(suffix_signatures(word, initial)) if f"s {name}" in table)
        for word, initial, _ in seen
        if total[word] == 1
    )
    return _rare_words(table, once, n_tags)


def _rare_words(table: Mapping[str, Counter[int]], once: Counter[str], n_tags: int) -> RareWords:
    names = tuple(sorted(table))
    entries = [sorted(item for item in table[name].items() if item[1]) for name in names]
    offsets = np.cumsum([0, *map(len, entries)]).astype(np.int32)
    flat = np.array([item for items in entries for item in items], dtype=np.int64).reshape(-1, 2)
    weights = np.array(
        [max(once[name] if name.startswith("s ") else sum(table[name].values()), _MIN_COUNT) for name in names]
    )
    unweighted = RareWords(
        names=names,
        offsets=offsets,
        tags=flat[:, 0].astype(np.int32),
        counts=flat[:, 1].astype(np.float32),
        weights=(weights / weights.sum()).astype(np.float32),
        tag_weights=np.ones(n_tags, dtype=np.float32),
        signature_weight=_SIGNATURE_WEIGHT,
    )
    sums = sum(weight * tags for weight, tags in zip(weights / weights.sum(), unweighted.of_names(), strict=True))
    return replace(unweighted, tag_weights=np.asarray(sums, dtype=np.float32))
