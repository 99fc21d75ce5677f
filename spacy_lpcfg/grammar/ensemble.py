"""Grammars over one treebank that decide together (Petrov 2010, "Products of random latent variable grammars")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.checking import parser_bytes, tensor_bytes
from spacy_lpcfg.grammar.grammar import GRAMMAR_PARTS, Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.parsing.model import ModelError, ParsingModel, check_temperature
from spacy_lpcfg.storage.container import refuse_others

COMBINATIONS = ("product", "sum")


@dataclass(frozen=True, eq=False)
class Ensemble(ParsingModel):
    """Grammars that share all but their latent parameters: symbols, rules, the treebank PCFG and the words.

    grammars (tuple[Grammar, ...]): Learned from the same trees with the same settings of the lexicon and of
        binarisation, by any learners. The first one's chart prunes the others' charts.
    combine (str): Whether the decoding "max-rule" chooses the tree by the "product" of the grammars' marginals of
        rules, or by their "sum"; other decodings do not use it.
    temperature (float): See `Grammar`; those of the grammars do not matter.
    RAISES (ValueError): If there are no grammars, or they share less than that, or on another way to combine, or on a
        temperature that is not finite and above 0.
    """

    grammars: tuple[Grammar, ...]
    combine: str = "product"
    temperature: float = 1.0

    kind, version = "ensemble", 1
    parser_settings = ("chart",)
    has_rule_marginals = True

    def __post_init__(self) -> None:
        if not self.grammars:
            raise ValueError("Expected at least one grammar, got none.")
        if self.combine not in COMBINATIONS:
            raise ValueError(f"Expected combine to be one of {COMBINATIONS}, got {shown(self.combine)}.")
        check_temperature(self.temperature)
        values = self.grammars[0].to_values()
        for grammar in self.grammars[1:]:
            other = grammar.to_values()
            for name in _SHARED:
                if not _is_same(values[name], other[name]):
                    raise ValueError(
                        f"Expected grammars that share their symbols, rules and lexicon, got some that differ in their "
                        f"{name}: learn them from the same trees, with the same settings of the lexicon and of "
                        "binarisation."
                    )

    @property
    def is_proper(self) -> bool:
        """Whether the parameters of all grammars are probabilities."""
        return all(grammar.is_proper for grammar in self.grammars)

    @property
    def words(self) -> frozenset[str]:
        """All names of terminals and rare words, see `Lexicon.words`."""
        return self.lexicon.words

    def single_models(self) -> tuple[Grammar, ...]:
        """Return the grammars."""
        return self.grammars

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon of the first grammar; the others have the same words and tags."""
        return self.grammars[0].lexicon

    @property
    def root_label(self) -> str:
        return self.grammars[0].root_label

    @property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents, sorted."""
        return self.grammars[0].labels

    @property
    def summary(self) -> str:
        """The number of grammars, and the summary of the first."""
        return f"{len(self.grammars)} grammars, the first of {self.grammars[0].summary}"

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags."""
        return self.grammars[0].tags

    @property
    def n_rules(self) -> int:
        return self.grammars[0].n_rules

    @cached_property
    def n_states(self) -> np.ndarray:
        """Latent states of each symbol, of all grammars together, int32 (n_symbols,)."""
        return read_only(np.array([grammar.n_states for grammar in self.grammars]).sum(axis=0, dtype=np.int32))

    def to_values(self) -> dict[str, Any]:
        """Return the parts of all grammars by the names under which they are stored, shared parts once."""
        values = [grammar.to_values() for grammar in self.grammars]
        shared = {name: values[0][name] for name in _SHARED}
        separate = {f"{i}.{name}": parts[name] for i, parts in enumerate(values) for name in _SEPARATE}
        settings = {"n_grammars": len(values), "combine": self.combine, "temperature": float(self.temperature)}
        return {**settings, **shared, **separate}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Ensemble:
        """Create the ensemble from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        n = values.get("n_grammars")
        if type(n) is not int or not 0 < n <= len(values):
            raise ModelError("This ensemble is inconsistent in its number of grammars: copy or learn it again.")
        if values.get("combine") not in COMBINATIONS:
            raise ModelError("This ensemble is inconsistent in how it combines them: copy or learn it again.")
        shared = {name: values[name] for name in _SHARED if name in values}
        names = [{name: f"{i}.{name}" for name in _SEPARATE if f"{i}.{name}" in values} for i in range(n)]
        known = (*shared, *(stored for of_grammar in names for stored in of_grammar.values()))
        refuse_others(values, ("n_grammars", "combine", "temperature", *known))
        grammars = tuple(
            Grammar.from_values({**shared, **{name: values[stored] for name, stored in of_grammar.items()}})
            for of_grammar in names
        )
        return cls(grammars, values["combine"], values.get("temperature", 1.0))

    @property
    def parser_bytes(self) -> float:
        """Estimated memory of its parser, in bytes, without sentences."""
        first, *others = self.grammars
        return parser_bytes(first) + sum(tensor_bytes(other.tensors) for other in others)


def _is_same(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


_SEPARATE = tuple(
    name
    for name in GRAMMAR_PARTS
    if name.startswith("tensors.")
    or name in ("n_states", "root_vectors", "is_proper", "temperature", "lexicon.vector_offsets", "lexicon.vectors")
)
_SHARED = tuple(name for name in GRAMMAR_PARTS if name not in _SEPARATE)
