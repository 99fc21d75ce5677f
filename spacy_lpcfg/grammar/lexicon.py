"""Terminals: known words, and the signatures that stand for all others.

A grammar emits *terminals*. A word seen often enough in training is a terminal of its own. Any other word is emitted
through the first of its signatures that the grammar knows (`words/signatures.py`). Every grammar knows the last one,
`<form>`. A rare word shares the latent states of its signature, but keeps the tags that it was seen with. A word that
was never seen has those of its signature, and of its class, if classes of words were learned from raw text.

So a sentence is a sequence of words that the grammar knows and of signatures, each of which stands for all words of its
signature that the grammar does not know. The probabilities of these add up to 1 at every place. The first word of a
sentence is read by its lower case if the grammar knows that better: a word that it does not know at all counts as the
lower case, and a rare one shares the probability of the lower case evenly with it. What the signature keeps for the
rare word counts there for the unknown words of this signature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.words.classes import NO_CLASSES, WordClasses
from spacy_lpcfg.words.remembered import is_remembered
from spacy_lpcfg.words.signatures import UNKNOWN, backoff_of, is_signature

NO_TAG = -1
_NOT_RARE = -1
_SEEN = -1
_CACHE_SIZE = 100_000


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The emissions of every terminal, as one ragged table of rows (preterminal symbol, weight, latent weights).

    terminals (tuple[str, ...]): names, (n_terminals,); words, signatures and `<form>`, then one `<tag TAG>` a tag:
        the rows of words that were never seen with a tag that is given.
    tags (tuple[str, ...]): the part-of-speech tags, (n_tags,).
    offsets (int32, (n_terminals + 1,)): rows of terminal x are `offsets[x]:offsets[x + 1]`.
    symbols (int32, (n_rows,)): the preterminal symbol of each row.
    weights (float64, (n_rows,)): q(x | a) of the treebank PCFG.
    vector_offsets (int64, (n_rows + 1,)): where each row's latent weights lie in `vectors`.
    vectors (float32, (sum of states,)): q(x | a, h), or its spectral counterpart.
    rare_words (tuple[str, ...]): (n_rare,), sorted: words that a signature emits, though they were seen, and the
        signatures themselves, which stand for words that were not.
    rare_terminals (int32, (n_rare,)): the signature that emits each.
    rare_offsets (int32, (n_rare + 1,)): the entries of each in the next two.
    rare_tags (int32, (n_entries,)): tags that it was seen with, or that words seen once of its signature had.
    rare_factors (float32, (n_entries,)): by which the weights of the signature's rows with that tag are multiplied to
        give the word's; those of other tags are the word's as they are.
    classes (WordClasses): of words that were not seen.
    class_shares (float32, (n_classes, n_tags)): P(class | tag) of these; without rows if there are none.
    """

    terminals: tuple[str, ...]
    tags: tuple[str, ...]
    offsets: np.ndarray
    symbols: np.ndarray
    weights: np.ndarray
    vector_offsets: np.ndarray
    vectors: np.ndarray
    rare_words: tuple[str, ...] = ()
    rare_terminals: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    rare_offsets: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int32))
    rare_tags: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    rare_factors: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    classes: WordClasses = NO_CLASSES
    class_shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    _index: dict[str, int] = field(init=False, repr=False)
    _rare_index: dict[str, int] = field(init=False, repr=False)
    _tag_index: dict[str, int] = field(init=False, repr=False)
    _backoff: Callable[[str, bool], list[str]] = field(init=False, repr=False, compare=False)
    _cache: dict[tuple[str, bool], tuple[int, int, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.terminals)})
        object.__setattr__(self, "_rare_index", {name: i for i, name in enumerate(self.rare_words)})
        object.__setattr__(self, "_tag_index", {tag: i for i, tag in enumerate(self.tags)})
        object.__setattr__(self, "_backoff", backoff_of(self.terminals))
        object.__setattr__(self, "_cache", {})

    @cached_property
    def words(self) -> frozenset[str]:
        """All names under which words are emitted: frequent and rare words, and signatures."""
        return frozenset(self.terminals + self.rare_words)

    @cached_property
    def row_terminals(self) -> np.ndarray:
        """The terminal of each row, int64 (n_rows,)."""
        return read_only(np.repeat(np.arange(len(self.terminals)), np.diff(self.offsets)))

    def terminal(self, word: str, sentence_initial: bool) -> int:
        """The id of the terminal that emits a word; never fails.

        word (str): the token.
        sentence_initial (bool): whether it opens its sentence.
        """
        return self._emitter(word, sentence_initial)[0]

    def terminals_of(self, words: Sequence[str]) -> np.ndarray:
        """Ids of the terminals of a sentence, int32 (n_words,)."""
        return self.look_up(words)[0]

    def tag_factors(self, words: Sequence[str]) -> np.ndarray:
        """By which to multiply the emissions of a sentence's terminals under each tag, float64 (n_words, n_tags)."""
        return self.look_up(words)[1]

    def terminals_by_name(self, words: Sequence[str]) -> list[int]:
        """Ids of the terminals that are called as words are, and that of `<form>` for all others: a look-up only."""
        unknown = self._index[UNKNOWN]
        return [self._index.get(word, unknown) for word in words]

    def look_up(self, words: Sequence[str], *, capitals_tell: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The `terminals_of` a sentence and their `tag_factors`.

        words (sequence of str): the words of a sentence.
        capitals_tell (bool): whether a capital tells something of a word that is not the first. If not, all words are
            read as the first one is, and the probabilities of words add up to 1 at no place but that.
        """
        tell_little = [i == 0 or not capitals_tell for i in range(len(words))]
        found = [self._emitter(word, tells_little) for word, tells_little in zip(words, tell_little, strict=True)]
        factors = np.ones((len(words), len(self.tags)))
        for i, (terminal, rare, class_of_unknown) in enumerate(found):
            is_unknown = class_of_unknown != _SEEN
            if tell_little[i] or rare != _NOT_RARE:
                self._scale(factors[i], terminal, rare, is_unknown=is_unknown, sentence_initial=tell_little[i])
            if is_unknown and len(self.class_shares):
                factors[i] *= self.class_shares[class_of_unknown]
        return np.array([terminal for terminal, _, _ in found], dtype=np.int32), factors

    def names_of(self, terminal: int, sentence_initial: bool) -> tuple[list[str], np.ndarray]:
        """The known words and signatures that a terminal emits, each signature for all unknown words of its form.

        terminal (int): but that of a given tag; sentence_initial (bool): whether it opens its sentence.
        RETURNS (list[str], float64 (n_names, n_tags)): the names, and by which to multiply the terminal's emissions.
        """
        names = self._names[sentence_initial].get(terminal, [])
        factors = np.ones((len(names), len(self.tags)))
        for row, name in zip(factors, names, strict=True):
            self._scale(
                row,
                *self._emitter(name, sentence_initial)[:2],
                is_unknown=is_signature(name),
                sentence_initial=sentence_initial,
            )
        return names, factors

    @cached_property
    def _names(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The names that each terminal emits within a sentence, and at its beginning."""
        names = sorted(self.words.difference(map(tag_terminal, self.tags)))
        found: tuple[dict[int, list[str]], dict[int, list[str]]] = ({}, {})
        for first in (False, True):
            for name in names:
                found[first].setdefault(self.terminal(name, first), []).append(name)
        return found

    def _scale(
        self, factors: np.ndarray, terminal: int, rare: int, *, is_unknown: bool, sentence_initial: bool
    ) -> None:
        """Multiply factors of 1, (n_tags,), by a word's share of what its terminal emits under each tag."""
        if rare != _NOT_RARE:
            entries = slice(self.rare_offsets[rare], self.rare_offsets[rare + 1])
            factors[self.rare_tags[entries]] = self.rare_factors[entries]
        if sentence_initial:
            n_capitals, kept = self._capitals
            factors /= 1 + n_capitals[terminal]
            if is_unknown:
                factors += kept.get(terminal, 0.0)

    @cached_property
    def _capitals(self) -> tuple[Counter[int], dict[int, np.ndarray]]:
        """How many rare words each terminal emits as their lower case, and the factors that their forms keep for them.

        Where they open a sentence. Factors are by tag, float64 (n_tags,).
        """
        n_capitals: Counter[int] = Counter()
        kept: dict[int, np.ndarray] = {}
        for rare, (name, form) in enumerate(zip(self.rare_words, self.rare_terminals.tolist(), strict=True)):
            lower = self._index.get(name.lower()) if name[:1].isupper() else None
            if lower is not None:
                n_capitals[lower] += 1
                own = np.ones(len(self.tags))
                self._scale(own, form, rare, is_unknown=False, sentence_initial=False)
                kept[form] = kept.get(form, 0.0) + own
        return n_capitals, kept

    def _emitter(self, word: str, sentence_initial: bool) -> tuple[int, int, int]:
        """The terminal that emits a word, its place among the rare words or `_NOT_RARE`, and its class or `_SEEN`."""
        key = (word, sentence_initial)
        found = self._cache.get(key)
        if found is None:
            is_terminal = word in self._index and not is_signature(word)
            names = [word] if is_terminal else self._backoff(word, sentence_initial)
            own = next(i for i, name in enumerate(names) if name in self._index)
            terminal, rare = self._index[names[own]], _NOT_RARE
            if is_signature(names[own]):
                rare = next(
                    (self._rare_index[name] for name in names[: own + 1] if name in self._rare_index), _NOT_RARE
                )
            if rare != _NOT_RARE:
                terminal = int(self.rare_terminals[rare])
            is_unknown = is_signature(self.terminals[terminal] if rare == _NOT_RARE else self.rare_words[rare])
            found = terminal, rare, self.classes.of(word) if is_unknown else _SEEN
            if is_remembered(word):
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[key] = found
        return found

    def words_per_row(self, tag_of: np.ndarray) -> np.ndarray:
        """By which to multiply `weights` for the share of all words that a row emits together, float64 (n_rows,).

        tag_of (int, (n_preterminals,)): tag of each preterminal.
        """
        shares = np.ones((len(self.terminals), len(self.tags)))
        shares[self.rare_terminals] = 0.0
        np.add.at(shares, self.rare_terminals, 1.0)
        np.add.at(
            shares,
            (np.repeat(self.rare_terminals, np.diff(self.rare_offsets)), self.rare_tags),
            self.rare_factors - 1.0,
        )
        return shares[self.row_terminals, tag_of[self.symbols]]

    def tags_of(self, tags: Sequence[str | None]) -> np.ndarray:
        """Ids of given tags, int32 (n_words,); `NO_TAG` for None and for tags that the grammar never saw."""
        return np.array(
            [NO_TAG if tag is None else self._tag_index.get(tag, NO_TAG) for tag in tags],
            dtype=np.int32,
        )

    def likely_tags(self, symbol_weights: np.ndarray, tag_of: np.ndarray) -> np.ndarray:
        """The likeliest tag of each terminal alone, int32 (n_terminals,).

        symbol_weights (float64, (n_symbols,)): share of each symbol among the nodes of the treebank.
        tag_of (int32, (n_preterminals,)): the tag of every preterminal.
        """
        return self.tag_weights(symbol_weights, tag_of).argmax(axis=1).astype(np.int32)

    def tag_weights(self, symbol_weights: np.ndarray, tag_of: np.ndarray) -> np.ndarray:
        """Weights of all tags of each terminal's rows, float64 (n_terminals, n_tags).

        symbol_weights (float64, (n,)): of each preterminal, and of what symbols may follow.
        tag_of (int, (n_preterminals,)): the tag of every preterminal.
        """
        table = np.zeros((len(self.terminals), len(self.tags)))
        np.add.at(table, (self.row_terminals, tag_of[self.symbols]), self.weights * symbol_weights[self.symbols])
        return table

    @property
    def tag_terminals(self) -> np.ndarray:
        """The terminal `<tag TAG>` of every tag, int32 (n_tags,)."""
        return np.array([self._index[tag_terminal(tag)] for tag in self.tags], dtype=np.int32)


def tag_terminal(tag: str) -> str:
    """Name of the terminal that stands for any word under a given tag."""
    return f"<tag {tag}>"
