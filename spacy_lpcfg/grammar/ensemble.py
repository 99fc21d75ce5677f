"""Grammars over one treebank that decide together (Petrov 2010, "Products of random latent variable grammars")."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.checking import GrammarError, check_temperature, parser_bytes, tensor_bytes
from spacy_lpcfg.grammar.grammar import GRAMMAR_PARTS, Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.parsing.decodings import OF_ANY_GRAMMAR, Decoding, well_formed_first
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import StorageError, kind_of, pack, read_file, refuse_others, unpack
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.trees.local_trees import LocalTrees

COMBINATIONS = ("product", "sum")


@dataclass(frozen=True, eq=False)
class Ensemble(ParsingModel):
    """Grammars that share all but their latent parameters: symbols, rules, the treebank PCFG and the words.

    grammars (tuple[Grammar, ...]): learned from the same trees with the same settings of the lexicon and of
        binarisation, by any learners. The first prunes for the others.
    combine (str): whether the decoding "max-rule" chooses the tree by the "product" of the grammars' marginals of
        rules, or by their "sum"; other decodings do not use it.
    temperature (float): see `Grammar`; those of the grammars do not matter.
    RAISES (ValueError): If there are no grammars, or they share less than that, or on another way to combine, or on a
        temperature that is not finite and above 0.
    """

    grammars: tuple[Grammar, ...]
    combine: str = "product"
    temperature: float = 1.0

    parser_class = "spacy_lpcfg.chart.ensemble:EnsembleParser"

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
    def decodings(self) -> tuple[Decoding, ...]:
        """Those of any grammar."""
        return well_formed_first(OF_ANY_GRAMMAR, self.local_trees)

    @property
    def local_trees(self) -> LocalTrees:
        """Those of the treebank."""
        return self.grammars[0].local_trees

    @property
    def words(self) -> frozenset[str]:
        """All names under which it knows words."""
        return self.lexicon.words

    def models_of_trees(self) -> tuple[Grammar, ...]:
        """The proper grammars."""
        return tuple(grammar for grammar in self.grammars if grammar.is_proper)

    def single_models(self) -> tuple[Grammar, ...]:
        """The grammars."""
        return self.grammars

    @property
    def lexicon(self) -> Lexicon:
        """That of the first grammar: the others have the same words and tags."""
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
        """The number of grammars, and what the first is made of."""
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

    def to_bytes(self) -> bytes:
        """The grammars as msgpack with a checksum; what they share is there once."""
        values = [grammar.to_values() for grammar in self.grammars]
        shared = {name: values[0][name] for name in _SHARED}
        own = {f"{i}.{name}": one[name] for i, one in enumerate(values) for name in _OWN}
        settings = {"n_grammars": len(values), "combine": self.combine, "temperature": float(self.temperature)}
        return pack(_KIND, _VERSION, {**settings, **shared, **own})

    @classmethod
    def from_bytes(cls, data: bytes) -> Ensemble:
        """The ensemble that `to_bytes` wrote.

        RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            found = cls._from_values(unpack(_KIND, _VERSION, data))
            check_room(found.parser_bytes, what="A parser by this ensemble", n_stored=len(data))
            return found
        except StorageError as error:
            raise GrammarError(str(error)) from error

    @classmethod
    def _from_values(cls, values: dict[str, Any]) -> Ensemble:
        """RAISES (GrammarError, StorageError): If parts are lacking or unknown, or do not fit together."""
        n = values.get("n_grammars")
        if type(n) is not int or not 0 < n <= len(values):
            raise GrammarError("This ensemble is inconsistent in its number of grammars: copy or learn it again.")
        if values.get("combine") not in COMBINATIONS:
            raise GrammarError("This ensemble is inconsistent in how it combines them: copy or learn it again.")
        temperature = values.pop("temperature", 1.0)
        shared = {name: values.pop(name) for name in _SHARED if name in values}
        parts = [{name: values.pop(f"{i}.{name}") for name in _OWN if f"{i}.{name}" in values} for i in range(n)]
        refuse_others(values, ("n_grammars", "combine"))
        return cls(tuple(Grammar.from_values({**shared, **own}) for own in parts), values["combine"], temperature)

    @property
    def parser_bytes(self) -> float:
        """About the memory that a parser takes, sentences aside."""
        first, *others = self.grammars
        return parser_bytes(first) + sum(tensor_bytes(other.tensors) for other in others)


def _is_same(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def grammar_from_bytes(data: bytes) -> Grammar | Ensemble:
    """What `to_bytes` of either wrote.

    RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
    """
    try:
        is_ensemble = kind_of(data) == _KIND
    except StorageError as error:
        raise GrammarError(str(error)) from error
    return Ensemble.from_bytes(data) if is_ensemble else Grammar.from_bytes(data)


def grammar_from_disk(path: str | os.PathLike[str]) -> Grammar | Ensemble:
    """What `to_disk` of either wrote; same errors as `grammar_from_bytes`, and StorageError for too large a file."""
    return grammar_from_bytes(read_file(path))


_KIND, _VERSION = "ensemble", 1
_OWN = tuple(
    name
    for name in GRAMMAR_PARTS
    if name.startswith("tensors.")
    or name in ("n_states", "root_vectors", "is_proper", "temperature", "lexicon.vector_offsets", "lexicon.vectors")
)
_SHARED = tuple(name for name in GRAMMAR_PARTS if name not in _OWN)
