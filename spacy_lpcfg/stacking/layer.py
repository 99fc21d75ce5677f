"""A discriminative layer over a grammar's posteriors: bracket probabilities by words, tags and length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.stacking._spans import SpanScorer
from spacy_lpcfg.stacking.candidates import N_DENSE, Candidates, candidates_of
from spacy_lpcfg.stacking.marginals import N_KINDS, bracket_probabilities
from spacy_lpcfg.stacking.templates import TEMPLATES, are_templates, template_table
from spacy_lpcfg.storage.container import refuse_others
from spacy_lpcfg.storage.validation import Consistency, are_texts, is_array, is_moderate

_require = Consistency("span layer", ModelError).require


@dataclass(frozen=True, eq=False)
class SpanLayer:
    """A log-linear model of labelled spans, whose inputs are a grammar's posteriors, words and tags.

    Each bracket gets two scores: log-odds by itself, and a potential in sets of nested brackets. Its probability is a
    weighted mean of the grammar's posterior and the probabilities by both scores (`marginals.py`).

    words (tuple[str, ...]): Words that are features themselves; other words are represented by their signature.
    keys (int32, (n_features,)): Hashed features, sorted, not negative.
    weights (float16, (n_features, 2)): Weights of each feature in both scores, in nats.
    dense (float64, (2, 3)): Weights, in both scores, of the log-odds of the posterior, of its logarithm, and of the sum
        of the posteriors of all brackets that cross it.
    shares (float64, (3,)): Weights of the mean, for the grammar and both scores; not negative, with sum 1.
    templates (tuple[str, ...]): Templates of the features, see `templates.py`.
    """

    words: tuple[str, ...]
    keys: np.ndarray
    weights: np.ndarray
    dense: np.ndarray
    shares: np.ndarray
    templates: tuple[str, ...] = TEMPLATES

    @classmethod
    def blank(cls) -> SpanLayer:
        """Create the layer without features, which leaves posteriors unchanged."""
        no_weights = np.zeros((0, N_KINDS), dtype=np.float16)
        return cls((), np.zeros(0, dtype=np.int32), no_weights, UNCHANGED.copy(), np.array([1.0, 0.0, 0.0]))

    def rescore(self, words: Sequence[str], posteriors: Posteriors) -> Posteriors:
        """Replace the posteriors of brackets by the layer's probabilities; those of tags are kept.

        words (sequence of str): The words in treebank spelling.
        posteriors (Posteriors): The grammar's posteriors.
        """
        p_grammar = np.fromiter(posteriors.brackets.values(), dtype=np.float64, count=len(posteriors.brackets))
        p = self.shares[0] * p_grammar + self.probabilities(self.candidates(words, posteriors)) @ self.shares[1:]
        brackets = dict(zip(posteriors.brackets, p.tolist(), strict=True))
        return Posteriors(brackets, posteriors.tags, posteriors.is_of_one)

    def candidates(self, words: Sequence[str], posteriors: Posteriors) -> Candidates:
        """Return the brackets of posteriors as candidates with the layer's inputs."""
        return candidates_of(words, posteriors, self._known, self._table)

    def probabilities(self, candidates: Candidates) -> np.ndarray:
        """Compute the probability of each candidate by both scores, float64 (n_candidates, 2)."""
        scores = self._scorer.scores(candidates.keys) + candidates.dense @ self.dense.T
        return bracket_probabilities(candidates.bounds, scores)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _table(self) -> np.ndarray:
        return template_table(self.templates)

    @cached_property
    def _scorer(self) -> SpanScorer:
        return SpanScorer(self.keys, self.weights.astype(np.float32))

    @property
    def scorer_bytes(self) -> float:
        """An estimate of the memory of rescoring, in bytes, without sentences."""
        return _BYTES * len(self.keys)

    def to_values(self) -> dict[str, Any]:
        """Return all fields by the names under which they are stored."""
        return {name: getattr(self, name) for name in LAYER_PARTS}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> SpanLayer:
        """Create a layer from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        refuse_others(values, LAYER_PARTS)
        layer = cls(**{name: values[name] for name in LAYER_PARTS})
        _check(layer)
        return layer


LAYER_PARTS = ("words", "keys", "weights", "dense", "shares", "templates")
UNCHANGED = np.tile([1.0, 0.0, 0.0], (N_KINDS, 1))
"""Initial weights of the dense inputs: both scores are the log-odds of the posterior."""
_BYTES = 20  # for each feature: its key, its weights, and its entry in the index
_MOST_TEMPLATES = 256
_ROUNDING = 1e-6


def _check(layer: SpanLayer) -> None:
    """Check that the fields of a layer are consistent.

    RAISES (ModelError): If they are not; the message names the field.
    """
    n = len(layer.keys) if isinstance(layer.keys, np.ndarray) and layer.keys.ndim else 0
    _require("words", are_texts(layer.words))
    _require("keys", is_array(layer.keys, "int32", n) and bool(np.all(layer.keys >= 0)))
    _require("keys", bool(np.all(layer.keys[1:] > layer.keys[:-1])))
    _require("weights", is_array(layer.weights, "float16", n, N_KINDS))
    _require("dense", is_array(layer.dense, "float64", N_KINDS, N_DENSE) and is_moderate(layer.dense))
    _require("shares", is_array(layer.shares, "float64", 1 + N_KINDS) and bool(np.all(layer.shares >= 0)))
    _require("shares", abs(float(layer.shares.sum()) - 1) < _ROUNDING)
    _require("templates", are_texts(layer.templates) and len(layer.templates) <= _MOST_TEMPLATES)
    _require("templates", are_templates(layer.templates))
