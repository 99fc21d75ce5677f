"""Evidence from sparse features of words and tags at the edges of spans, without a pretrained encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.evidence._features import feature_keys, find_rows, hash_table, sum_rows
from spacy_lpcfg.evidence.atoms import FeatureVocabulary, post_atoms, span_atoms
from spacy_lpcfg.evidence.classifier import Chain, log_softmax
from spacy_lpcfg.evidence.templates import END_TABLE, SPAN_TABLE, START_TABLE, WORD_TABLE
from spacy_lpcfg.parsing.evidence import LARGEST_LOG_ODDS, Evidence, span_bounds
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import refuse_others, with_prefixes, without_prefixes
from spacy_lpcfg.storage.validation import LARGEST, Consistency, are_texts, are_within, is_array, is_number
from spacy_lpcfg.trees.transforms import join_chain, split_chain

_CHUNK = 4_096  # spans whose features are in memory at once
_BYTES = 127  # of the largest weight
_TABLES = ("word", "span")
_VALUES = ("chains", "tags", "words", "likely_tags")
_require = Consistency("feature evidence", ModelError).require


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Sparse weight matrix of a linear classifier: a row of weights for each known feature.

    keys (int32, (n_features,)): The keys (hashes) of the features, from `feature_keys`, not negative and in ascending
        order.
    weights (int8 or float32, (n_features, n_classes)): The weights of each feature, divided by `scale`.
    scale (float): Factor by which stored weights are multiplied.
    """

    keys: np.ndarray
    weights: np.ndarray
    scale: float = 1.0

    def rows(self, keys: np.ndarray) -> np.ndarray:
        """Replace each key by the row of its feature in the table (-1 for an unknown feature), in place; return `keys`.

        keys (int32, (n_items, n_templates)): From `feature_keys`; overwritten.
        """
        find_rows(keys, self.keys, self._slots)
        return keys

    def scores(self, keys: np.ndarray) -> np.ndarray:
        """Return the sum of the weights of each item's features, float32 (n_items, n_classes).

        keys (int32, (n_items, n_templates)): From `feature_keys`; overwritten.
        """
        return sum_rows(self.rows(keys), self.weights) * np.float32(self.scale)

    @cached_property
    def _slots(self) -> np.ndarray:
        return read_only(hash_table(self.keys))

    def rounded(self) -> FeatureTable:
        """Return a copy quantized to 8-bit weights, without the features whose weights all become 0."""
        scale = float(np.abs(self.weights).max(initial=0)) / _BYTES or 1.0
        weights = np.rint(self.weights / scale).astype(np.int8)
        is_used = weights.any(1)
        return FeatureTable(read_only(self.keys[is_used]), read_only(weights[is_used]), scale)

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name; only for a table from `rounded`."""
        return {"keys": self.keys, "weights": self.weights.view(np.uint8), "scale": self.scale}

    @classmethod
    def from_values(cls, values: Mapping[str, Any], n_classes: int) -> FeatureTable:
        """Create a table with weights of `n_classes` classes from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        refuse_others(values, ("keys", "weights", "scale"))
        keys, weights, scale = values["keys"], values["weights"], values["scale"]
        _require("keys", isinstance(keys, np.ndarray) and is_array(keys, "int32", keys.size))
        _require("keys", int(keys.min(initial=0)) >= 0 and bool(np.all(keys[1:] > keys[:-1])))
        _require("weights", is_array(weights, "uint8", len(keys), n_classes))
        _require("scale", is_number(scale) and 0 < scale <= LARGEST / _BYTES)
        return cls(keys, weights.view(np.int8), float(scale))


@dataclass(frozen=True, eq=False)
class FeatureEvidence:
    """Log-linear models of the tags of words and of the unary chains of spans; an `EvidenceModel`.

    chains (tuple[tuple[str, ...], ...]): The unary chains that spans can have, outermost label first.
    tags (tuple[str, ...]): The tags.
    lexicon (FeatureVocabulary): The frequent words, which features contain as such; of other words they contain a class
        of spelling.
    of_words (FeatureTable): The features of words; each has a weight for every tag.
    of_spans (FeatureTable): The features of spans and of fence posts (positions between words); each has a weight for
        every chain, relative to "no bracket".
    """

    chains: tuple[Chain, ...]
    tags: tuple[str, ...]
    lexicon: FeatureVocabulary
    of_words: FeatureTable
    of_spans: FeatureTable

    kind: ClassVar = "features"

    @property
    def summary(self) -> str:
        """A description of the evidence in English: the number of its features of spans."""
        return f"{len(self.of_spans.keys):,} features of spans"

    @property
    def n_bytes(self) -> int:
        """Approximate memory that the evidence takes while parsing, in bytes."""
        return sum(2 * table.weights.nbytes + 5 * table.keys.nbytes for table in (self.of_words, self.of_spans))

    def evidence(self, sentences: Sequence[Sequence[str]]) -> list[Evidence]:
        """Return the evidence for each sentence, given as words in treebank spelling."""
        return [self._evidence(words) for words in sentences]

    def _evidence(self, words: Sequence[str]) -> Evidence:
        atoms, names = self.lexicon.word_atoms(words)
        logs = log_softmax(self.of_words.scores(feature_keys(atoms, WORD_TABLE)))
        return Evidence(self._log_odds(names, logs.argmax(1)), logs)

    def _log_odds(self, names: np.ndarray, tags: np.ndarray) -> np.ndarray:
        posts = post_atoms(names, tags)
        at_start, at_end = (self.of_spans.scores(feature_keys(posts, table)) for table in (START_TABLE, END_TABLE))
        starts, ends = span_bounds(len(names))
        log_odds = np.empty((len(starts), len(self.chains)), np.float32)
        for at in range(0, len(starts), _CHUNK):
            i, j = starts[at : at + _CHUNK], ends[at : at + _CHUNK]
            across = self.of_spans.scores(feature_keys(span_atoms(posts, i, j, tags), SPAN_TABLE))
            log_odds[at : at + _CHUNK] = across + at_start[i] + at_end[j]
        return np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, out=log_odds)

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name; the two tables have the prefixes "word." and "span."."""
        return {
            "chains": tuple(map(join_chain, self.chains)),
            "tags": self.tags,
            "words": self.lexicon.words,
            "likely_tags": self.lexicon.likely_tags,
            **with_prefixes({"word": self.of_words.to_values(), "span": self.of_spans.to_values()}),
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> FeatureEvidence:
        """Create the evidence from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        of_words, of_spans = without_prefixes(values, _TABLES, _VALUES)
        chains, tags, words, likely_tags = (values[name] for name in _VALUES)
        for name, texts in (("chains", chains), ("tags", tags)):
            _require(name, are_texts(texts) and bool(texts))
        _require("words", are_texts(words))
        _require("likely_tags", is_array(likely_tags, "int32", len(words)) and are_within(likely_tags, len(tags)))
        return cls(
            tuple(tuple(split_chain(chain)) for chain in chains),
            tags,
            FeatureVocabulary(words, likely_tags),
            FeatureTable.from_values(of_words, len(tags)),
            FeatureTable.from_values(of_spans, len(chains)),
        )
