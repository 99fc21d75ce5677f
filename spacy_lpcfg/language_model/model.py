"""The language model: its vocabulary, the aggregate model, and optionally interpolated Kneser-Ney models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.language_model.aggregate import Aggregate
from spacy_lpcfg.language_model.kneser_ney import KneserNey
from spacy_lpcfg.language_model.text import EDGE, UNKNOWN, UNKNOWN_ID, TextVocabulary
from spacy_lpcfg.storage.container import StorageError, Stored, pack, refuse_others, unpack
from spacy_lpcfg.storage.validation import Consistency, are_texts

_KIND, _VERSION = "language model", 1
_SUM_TOLERANCE = 1e-3


class LanguageModelError(ValueError):
    """A language model file that is damaged, inconsistent, or not a language model."""


@dataclass(frozen=True)
class Perplexity:
    """The perplexity of a text under a model.

    perplexity (float): 2 ** bits; infinite if a known word has probability 0.
    bits (float): Mean surprisal, in bits, of the known words and the sentence ends.
    n_tokens (int): Number of known words and sentence ends.
    n_unknown (int): Number of unknown words, whose surprisal is left out of the mean.
    """

    perplexity: float
    bits: float
    n_tokens: int
    n_unknown: int


@dataclass(frozen=True, eq=False)
class LanguageModel(Stored):
    """A trigram language model: the mixture w[0] * aggregate + w[1] * Kneser-Ney bigrams + w[2] * Kneser-Ney trigrams.

    vocabulary (TextVocabulary): The known words.
    aggregate (Aggregate): The aggregate Markov model, float32.
    weights (float64, (1,) or (3,)): Weights w of the mixture, which sum to one; one weight without Kneser-Ney models.
    trigrams (int32, (n, 3)): Distinct trigrams of the training text, for the Kneser-Ney models; n = 0 without these
        models.
    counts (int32, (n,)): Counts of the trigrams.
    """

    vocabulary: TextVocabulary
    aggregate: Aggregate
    weights: np.ndarray
    trigrams: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, vocabulary: TextVocabulary, aggregate: Aggregate) -> LanguageModel:
        """Create a language model from an aggregate model alone, without Kneser-Ney models."""
        single = Aggregate(aggregate.states.astype(np.float32), aggregate.words.astype(np.float32))
        return cls(vocabulary, single, np.ones(1), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))

    @cached_property
    def kneser_ney(self) -> tuple[KneserNey, ...]:
        """The Kneser-Ney bigram and trigram models; () if the mixture has no such models."""
        orders = (2, 3) if len(self.weights) == 3 else ()
        return tuple(KneserNey(self.trigrams, self.counts, len(self.vocabulary), order) for order in orders)

    def components(self, trigrams: np.ndarray) -> np.ndarray:
        """Return p(w3 | w1 w2) of trigrams under each component of the mixture, float64 (n, 1 or 3).

        trigrams (int, (n, 3)): Word ids of the trigrams.
        """
        columns = [self.aggregate.probabilities(trigrams[:, 1], trigrams[:, 2])]
        columns += [model.probabilities(trigrams) for model in self.kneser_ney]
        return np.stack(columns, axis=1)

    def probabilities(self, trigrams: np.ndarray) -> np.ndarray:
        """Return p(w3 | w1 w2) of trigrams, float64 (n,).

        trigrams (int, (n, 3)): Word ids of the trigrams.
        """
        return self.components(trigrams) @ self.weights

    def surprisal(self, sentence: Sequence[str]) -> np.ndarray:
        """Return the surprisal of each word given the words before it, and of the end of the sentence.

        sentence (sequence of str): Words, tokenized as in the training text.
        RETURNS (float64, (n_words + 1,)): Surprisal in bits; nan for unknown words, infinite at probability 0.
        """
        trigrams = self.vocabulary.trigrams([sentence])
        return np.where(trigrams[:, 2] == UNKNOWN_ID, np.nan, _bits(self.probabilities(trigrams)))

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> Perplexity:
        """Compute the perplexity of a text.

        As in SRILM, the surprisal of unknown words is left out, but they are context of other words, as `<unk>`.

        sentences (iterable of sentences): The text; a sentence is a sequence of words.
        RAISES (ValueError): If the text has no sentence.
        """
        return self.perplexity_of(self.vocabulary.trigrams(sentences))

    def perplexity_of(self, trigrams: np.ndarray) -> Perplexity:
        """Compute the perplexity of the last words of trigrams.

        trigrams (int, (n, 3)): Trigrams of a text, from `TextVocabulary.trigrams`.
        RAISES (ValueError): If there are no trigrams.
        """
        known = trigrams[trigrams[:, 2] != UNKNOWN_ID]
        if len(known) == 0:
            raise ValueError("Expected a text with at least one sentence to measure the perplexity of, got none.")
        bits = float(_bits(self.probabilities(known)).mean())
        return Perplexity(float(np.exp2(bits)), bits, len(known), len(trigrams) - len(known))

    def to_bytes(self) -> bytes:
        """Serialize the model as msgpack with a checksum."""
        return pack(
            _KIND,
            _VERSION,
            {
                "vocabulary": self.vocabulary.words,
                "states": self.aggregate.states,
                "words": self.aggregate.words,
                "weights": self.weights,
                "trigrams": self.trigrams,
                "counts": self.counts,
            },
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> LanguageModel:
        """Deserialize a model that `to_bytes` wrote.

        RAISES (LanguageModelError): If the bytes are damaged, inconsistent, of another format or not a language model.
        """
        try:
            values = unpack(_KIND, _VERSION, data)
            refuse_others(values, _FIELDS)
        except StorageError as error:
            raise LanguageModelError(str(error)) from error
        _check(values)
        return cls(
            TextVocabulary(values["vocabulary"]),
            Aggregate(values["states"], values["words"]),
            values["weights"],
            values["trigrams"],
            values["counts"],
        )


_FIELDS = ("vocabulary", "states", "words", "weights", "trigrams", "counts")


def _bits(probabilities: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -np.log2(probabilities)


_require = Consistency("language model", LanguageModelError).require


def _check(values: dict[str, Any]) -> None:
    """Check that the stored arrays are valid and consistent with each other.

    RAISES (LanguageModelError): If an array is invalid or inconsistent; the message names it.
    """
    words: Any = values.get("vocabulary")
    _require("vocabulary", are_texts(words) and words[:2] == (UNKNOWN, EDGE))
    n_words = len(words)
    states, columns = (_array(values, name, "float32", 2) for name in ("states", "words"))
    for name, array, axis in (("states", states, 1), ("words", columns, 0)):
        _require(name, len(array) == n_words and array.shape[1] > 0 and bool(np.all(array >= 0)))
        sums = array.sum(axis=axis, dtype=np.float64)
        _require(name, bool(np.all(np.abs(sums - 1) < _SUM_TOLERANCE)))
    _require("states", states.shape == columns.shape)
    weights, trigrams = _array(values, "weights", "float64", 1), _array(values, "trigrams", "int32", 2)
    _require("weights", len(weights) in (1, 3) and bool(np.all(weights >= 0)))
    _require("weights", abs(weights.sum() - 1) < _SUM_TOLERANCE)
    _require("trigrams", trigrams.shape[1] == 3 and bool(np.all((trigrams >= 0) & (trigrams < n_words))))
    counts = _array(values, "counts", "int32", 1)
    _require("counts", len(counts) == len(trigrams) and bool(np.all(counts > 0)))
    _require("counts", (len(weights) == 3) == (len(counts) > 0))
    _require("vocabulary", len(counts) == 0 or n_words**3 < 2**63)
    numbers = (trigrams[:, 0].astype(np.int64) * n_words + trigrams[:, 1]) * n_words + trigrams[:, 2]
    _require("trigrams", len(np.unique(numbers)) == len(trigrams))


def _array(values: dict[str, Any], name: str, dtype: str, n_dimensions: int) -> np.ndarray:
    array: Any = values.get(name)
    _require(name, isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == n_dimensions)
    _require(name, bool(np.all(np.isfinite(array))))
    return array
