"""The frozen L-PCFG at which all learners and decoders meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import counted
from spacy_lpcfg.grammar.checking import check, has_type, parser_bytes, require
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.parameters import GrammarParameters
from spacy_lpcfg.grammar.tensors import FACTORED, Tensors
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import refuse_others


@dataclass(frozen=True, eq=False)
class Grammar(GrammarParameters, ParsingModel):
    """An L-PCFG with the treebank PCFG beneath it, as a model that parses; see `GrammarParameters` for the fields."""

    kind, version = "grammar", 5
    has_rule_marginals = True

    @property
    def has_tree_probabilities(self) -> bool:
        """Whether the grammar is proper, and charts sum its tensors exactly, since none of them is factored."""
        return self.is_proper and not bool((self.tensors.forms == FACTORED).any())

    @property
    def words(self) -> frozenset[str]:
        """All names of terminals and rare words, see `Lexicon.words`."""
        return self.lexicon.words

    @property
    def has_n_best(self) -> bool:
        """Whether its parser can list the most probable trees."""
        return self.has_tree_probabilities or self.tau != 1

    @property
    def parser_bytes(self) -> float:
        """Estimated memory of its parser, in bytes, without sentences."""
        return parser_bytes(self)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents, sorted."""
        of_words = (chain[:-1] for chain in self.chains[: self.n_preterminals])
        return tuple(sorted({label for chain in (*of_words, *self.chains[self.n_preterminals :]) for label in chain}))

    @property
    def summary(self) -> str:
        """Numbers of categories, tags, rules and states."""
        return (
            f"{counted(len(self.labels), 'category', 'categories')}, {counted(len(self.tags), 'tag')}, "
            f"{counted(self.n_rules, 'binary rule')}, at most {counted(self.n_states.max(), 'state')}"
        )

    def to_values(self) -> dict[str, Any]:
        """Return all parts of the grammar by the names under which they are stored."""
        arrays = {name: getattr(self, name) for name in _FIELDS} | {"tau": float(self.tau)}
        tensors = {f"tensors.{name}": getattr(self.tensors, name) for name in _TENSORS}
        lexicon = {f"lexicon.{name}": getattr(self.lexicon, name) for name in _LEXICON}
        classifier = {f"classifier.{name}": getattr(self.classifier, name) for name in _CLASSIFIER}
        return {**arrays, **tensors, **lexicon, **classifier}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Grammar:
        """Create the grammar from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        refuse_others(values, GRAMMAR_PARTS)
        for name in GRAMMAR_PARTS:
            require(name, has_type(name, values[name]))
        grammar = cls(
            **{name: values[name] for name in _FIELDS},
            tensors=Tensors(**{name: values[f"tensors.{name}"] for name in _TENSORS}),
            lexicon=Lexicon(**{name: values[f"lexicon.{name}"] for name in _LEXICON}),
            classifier=Classifier(**{name: values[f"classifier.{name}"] for name in _CLASSIFIER}),
        )
        check(grammar)
        return grammar


_FIELDS = (
    "symbols",
    "n_preterminals",
    "n_states",
    "symbol_weights",
    "root_weights",
    "root_vectors",
    "rules",
    "rule_weights",
    "root_label",
    "is_proper",
    "tags_before",
    "tags_after",
    "tau",
)
_TENSORS = ("shapes", "forms", "ranks", "exact", "factors", "scales", "kept", "entries", "rests")
_LEXICON = (
    "terminals",
    "tags",
    "offsets",
    "symbols",
    "weights",
    "vector_offsets",
    "vectors",
    "rare_words",
    "rare_terminals",
    "rare_offsets",
    "rare_tags",
    "rare_factors",
)
_CLASSIFIER = ("features", "offsets", "outputs", "weights")
GRAMMAR_PARTS = (
    *_FIELDS,
    *(f"tensors.{name}" for name in _TENSORS),
    *(f"lexicon.{name}" for name in _LEXICON),
    *(f"classifier.{name}" for name in _CLASSIFIER),
)
