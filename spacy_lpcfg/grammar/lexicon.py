"""The lexicon of a grammar: emission probabilities of known words, and of the signatures of unknown words.

A grammar emits *terminals*. A word that is frequent in training is a terminal of its own. Any other word is
emitted through the first of its signatures that the grammar knows (`words/signatures.py`). Every grammar
knows the most general signature, `<form>`. A rare word (seen in training, but emitted through a signature)
has the latent states and the tags of its signature, and the tags that it was seen with get more weight. An
unknown word has the tags of its signature.

The vocabulary consists of the known words and of the signatures, each of which stands for all unknown words
that have it. The probabilities of the vocabulary sum to 1 at every position. The first word of a sentence is
special:

- A capitalized word that is no terminal is emitted as its lower case, if that is a terminal.
- So at this position, the terminal of a lower-case word also emits the capitalized rare words with that lower
  case. Its probability is divided evenly among the lower-case word and these rare words.
- Elsewhere in the sentence, signatures emit these rare words. At the first position, this part of the
  signatures' probability goes to unknown words instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.remembered import WordCache
from spacy_lpcfg.words.signatures import UNKNOWN, backoff_of, is_signature

NO_TAG = -1
_NOT_RARE = -1
_CACHE_SIZE = 100_000


def tag_ids(preterminals: Iterable[str], tags: Iterable[str]) -> np.ndarray:
    """Return the index in `tags` of the tag of each preterminal, such as PRP of NP|PRP, int32 (n_preterminals,)."""
    ids = {tag: i for i, tag in enumerate(tags)}
    return np.array([ids[split_chain(name)[-1]] for name in preterminals], dtype=np.int32)


class Emitter(NamedTuple):
    """The terminal that emits a word, and the index of the factors that scale its emissions.

    terminal (int): Id of the terminal: the word itself, or a signature.
    rare (int): Index in `Lexicon.rare_words` of the word, or of its signature if the word is unknown; `_NOT_RARE` if
        `rare_words` has neither.
    is_unknown (bool): Whether the word is represented by a signature, and is not a rare word.
    """

    terminal: int
    rare: int
    is_unknown: bool


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Emission probabilities, as a table with a row (preterminal symbol, weight, latent weights) for each emission.

    The rows are grouped by terminal.

    All fields are immutable; look-ups are memoized in a bounded cache.

    terminals (tuple[str, ...], (n_terminals,)): Names of the terminals: words, signatures and `<form>`, then one
        `<tag TAG>` for each tag, which emits a word that was never seen with the tag that the user gives it.
    tags (tuple[str, ...], (n_tags,)): The part-of-speech tags.
    offsets (int32, (n_terminals + 1,)): The rows of terminal x are `offsets[x]:offsets[x + 1]`.
    symbols (int32, (n_rows,)): The preterminal symbol of each row.
    weights (float64, (n_rows,)): q(x | a) of the treebank PCFG.
    vector_offsets (int64, (n_rows + 1,)): Offsets of each row's latent weights in `vectors`.
    vectors (float32, (sum of states,)): q(x | a, h), or its spectral counterpart.
    rare_words (tuple[str, ...], (n_rare,)): Sorted: words of the treebank that are emitted through a signature, and the
        signatures themselves, which stand for unknown words.
    rare_terminals (int32, (n_rare,)): The signature that emits each rare word.
    rare_offsets (int32, (n_rare + 1,)): Where the entries of each rare word begin in `rare_tags` and `rare_factors`.
    rare_tags (int32, (n_entries,)): Ids of the tags that a rare word was seen with; for a signature, of its words seen
        once.
    rare_factors (float32, (n_entries,)): Factor by which the signature's weights under each of these tags are
        multiplied when it emits the rare word. The factor of all other tags is 1.
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
    _index: dict[str, int] = field(init=False, repr=False)
    _rare_index: dict[str, int] = field(init=False, repr=False)
    _tag_index: dict[str, int] = field(init=False, repr=False)
    _backoff: Callable[[str, bool], list[str]] = field(init=False, repr=False, compare=False)
    _cache: WordCache[Emitter] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.terminals)})
        object.__setattr__(self, "_rare_index", {name: i for i, name in enumerate(self.rare_words)})
        object.__setattr__(self, "_tag_index", {tag: i for i, tag in enumerate(self.tags)})
        object.__setattr__(self, "_backoff", backoff_of(self.terminals))
        object.__setattr__(self, "_cache", WordCache(_CACHE_SIZE))

    @cached_property
    def words(self) -> frozenset[str]:
        """All names of terminals and rare words: words, signatures, and the `<tag TAG>` of each tag."""
        return frozenset(self.terminals + self.rare_words)

    @cached_property
    def row_terminals(self) -> np.ndarray:
        """The terminal of each row, int64 (n_rows,)."""
        return read_only(np.repeat(np.arange(len(self.terminals)), np.diff(self.offsets)))

    def terminal(self, word: str, sentence_initial: bool) -> int:
        """Return the id of the terminal that emits a word; every word has one.

        word (str): The token.
        sentence_initial (bool): Whether the token opens its sentence.
        """
        return self.emitter(word, sentence_initial).terminal

    def terminals_by_name(self, words: Sequence[str]) -> list[int]:
        """Return the ids of the terminals with exactly these names; any other name gets the id of `<form>`."""
        unknown = self._index[UNKNOWN]
        return [self._index.get(word, unknown) for word in words]

    def look_up(self, words: Sequence[str], *, trust_capitals: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return the terminals that emit the words of a sentence, and factors of their emissions under each tag.

        words (sequence of str): The words of a sentence.
        trust_capitals (bool): Whether the capitals of words after the first are informative. If not (as in text in
            capitals), every word is looked up as if it opened the sentence, and probabilities sum to 1 only at the
            first position.
        RETURNS (int32 (n_words,), float64 (n_words, n_tags)): Ids of the terminals, and the factor by which the
            emission of each word by a preterminal of each tag is multiplied.
        """
        initial = [i == 0 or not trust_capitals for i in range(len(words))]
        emitters = [self.emitter(word, is_initial) for word, is_initial in zip(words, initial, strict=True)]
        factors = np.ones((len(words), len(self.tags)))
        for i, emitter in enumerate(emitters):
            if initial[i] or emitter.rare != _NOT_RARE:
                self._scale(factors[i], emitter, initial[i])
        return np.array([emitter.terminal for emitter in emitters], dtype=np.int32), factors

    def names_of(self, terminal: int, sentence_initial: bool) -> tuple[list[str], np.ndarray]:
        """Return the known words that a terminal emits, and the signatures that stand for its unknown words.

        terminal (int): Id of a terminal that is not a `<tag TAG>`.
        sentence_initial (bool): Whether the word opens its sentence.
        RETURNS (list[str], float64 (n_names, n_tags)): The names, and for each the factor of the terminal's emissions
            under each tag.
        """
        names = self._names[sentence_initial].get(terminal, [])
        factors = np.ones((len(names), len(self.tags)))
        for row, name in zip(factors, names, strict=True):
            emitter = self.emitter(name, sentence_initial)._replace(is_unknown=is_signature(name))
            self._scale(row, emitter, sentence_initial)
        return names, factors

    @cached_property
    def _names(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The sorted names that each terminal emits, as two dicts: of words within a sentence, and of first words."""
        names = sorted(self.words.difference(map(tag_terminal, self.tags)))
        names_of_terminal: tuple[dict[int, list[str]], dict[int, list[str]]] = ({}, {})
        for first in (False, True):
            for name in names:
                names_of_terminal[first].setdefault(self.terminal(name, first), []).append(name)
        return names_of_terminal

    def _scale(self, factors: np.ndarray, emitter: Emitter, sentence_initial: bool) -> None:
        """Overwrite an array of ones, float64 (n_tags,), with the factors of a word's emissions under each tag."""
        if emitter.rare != _NOT_RARE:
            entries = slice(self.rare_offsets[emitter.rare], self.rare_offsets[emitter.rare + 1])
            factors[self.rare_tags[entries]] = self.rare_factors[entries]
        if sentence_initial:
            n_capitals, factors_of_unknown = self._capitals
            factors /= 1 + n_capitals[emitter.terminal]
            if emitter.is_unknown:
                factors += factors_of_unknown.get(emitter.terminal, 0.0)

    @cached_property
    def _capitals(self) -> tuple[Counter[int], dict[int, np.ndarray]]:
        """Capitalized rare words that are emitted as their lower case when they open a sentence.

        RETURNS (Counter[int], dict[int, ndarray]): Number of these words for each terminal of a lower case; and for
            each signature that emits them within a sentence, the sum of their factors, float64 (n_tags,).
        """
        n_capitals: Counter[int] = Counter()
        factors_of_unknown: dict[int, np.ndarray] = {}
        for rare, (name, form) in enumerate(zip(self.rare_words, self.rare_terminals.tolist(), strict=True)):
            lower = self._index.get(name.lower()) if name[:1].isupper() else None
            if lower is not None:
                n_capitals[lower] += 1
                factors = np.ones(len(self.tags))
                self._scale(factors, Emitter(form, rare, False), False)
                factors_of_unknown[form] = factors_of_unknown.get(form, 0.0) + factors
        return n_capitals, factors_of_unknown

    def emitter(self, word: str, sentence_initial: bool) -> Emitter:
        """Return the terminal that emits a word, and its rare-word entry.

        word (str): The token.
        sentence_initial (bool): Whether the token opens its sentence.
        """
        emitter = self._cache.get((word, sentence_initial))
        if emitter is not None:
            return emitter
        is_terminal = word in self._index and not is_signature(word)
        names = [word] if is_terminal else self._backoff(word, sentence_initial)
        first_known = next(i for i, name in enumerate(names) if name in self._index)
        terminal, rare = self._index[names[first_known]], _NOT_RARE
        if is_signature(names[first_known]):
            candidates = names[: first_known + 1]
            rare = next((self._rare_index[name] for name in candidates if name in self._rare_index), _NOT_RARE)
        if rare != _NOT_RARE:
            terminal = int(self.rare_terminals[rare])
        is_unknown = is_signature(self.terminals[terminal] if rare == _NOT_RARE else self.rare_words[rare])
        return self._cache.add(word, sentence_initial, Emitter(terminal, rare, is_unknown))

    def words_per_row(self, tag_of: np.ndarray) -> np.ndarray:
        """Return the effective number of words that share each row: the sum of their factors, float64 (n_rows,).

        The number is 1 for a word that is a terminal; for a signature it sums over its rare and unknown words.

        tag_of (int, (n_preterminals,)): The tag id of each preterminal.
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

    def shared_out(self, tag_of: np.ndarray) -> Lexicon:
        """Return a lexicon whose weights are divided by `words_per_row`, so that the words of each row share it.

        tag_of (int, (n_preterminals,)): The tag id of each preterminal.
        """
        per_row = self.words_per_row(tag_of)
        per_entry = np.repeat(1 / per_row, np.diff(self.vector_offsets)).astype(np.float32)
        return replace(self, weights=self.weights * (1 / per_row), vectors=self.vectors * per_entry)

    def tags_of(self, tags: Sequence[str | None]) -> np.ndarray:
        """Return the ids of the tags given for words, int32 (n_words,); `NO_TAG` (-1) for None and for unknown tags."""
        return np.array(
            [NO_TAG if tag is None else self._tag_index.get(tag, NO_TAG) for tag in tags],
            dtype=np.int32,
        )

    def likely_tags(self, symbol_weights: np.ndarray, tag_of: np.ndarray) -> np.ndarray:
        """Return the id of each terminal's most probable tag without context, int32 (n_terminals,).

        symbol_weights (float64, (n_symbols,)): The share of each symbol among the nodes of the treebank.
        tag_of (int32, (n_preterminals,)): The tag id of each preterminal.
        """
        return self.tag_weights(symbol_weights, tag_of).argmax(axis=1).astype(np.int32)

    def tag_weights(self, symbol_weights: np.ndarray, tag_of: np.ndarray) -> np.ndarray:
        """Return the total weight of each terminal under each tag, float64 (n_terminals, n_tags).

        It is the sum, over the preterminals of the tag, of the emission weight times the weight of the preterminal.

        symbol_weights (float64, (at least n_preterminals,)): The weight of each preterminal, such as its count.
        tag_of (int, (n_preterminals,)): The tag id of each preterminal.
        """
        table = np.zeros((len(self.terminals), len(self.tags)))
        np.add.at(table, (self.row_terminals, tag_of[self.symbols]), self.weights * symbol_weights[self.symbols])
        return table

    @property
    def tag_terminals(self) -> np.ndarray:
        """The id of the terminal `<tag TAG>` of every tag, int32 (n_tags,)."""
        return np.array([self._index[tag_terminal(tag)] for tag in self.tags], dtype=np.int32)


def tag_terminal(tag: str) -> str:
    """Return the name `<tag TAG>` of the terminal that stands for words never seen with the tag `TAG`."""
    return f"<tag {tag}>"
