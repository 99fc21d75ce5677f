"""The immutable L-PCFG (PCFG with latent states) that learners return and chart parsers use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import counted
from spacy_lpcfg.grammar.checking import check, has_type, parser_bytes, require
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.parameters import GrammarParameters
from spacy_lpcfg.grammar.tensors import FACTORED, Tensors
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import refuse_others, with_prefixes, without_prefixes


@dataclass(frozen=True, eq=False)
class Grammar(GrammarParameters, ParsingModel):
    """An L-PCFG (PCFG whose symbols have latent states) as a model that parses; `GrammarParameters` has the fields."""

    kind, version = "grammar", 5
    has_rule_marginals = True

    @property
    def has_tree_probabilities(self) -> bool:
        """Whether a chart computes exact probabilities of trees: the grammar is proper, and no tensor is factored."""
        return self.is_proper and not bool((self.tensors.forms == FACTORED).any())

    @property
    def words(self) -> frozenset[str]:
        """All names of terminals and rare words: words, signatures and `<tag TAG>`, see `Lexicon.words`."""
        return self.lexicon.words

    @property
    def has_n_best(self) -> bool:
        """Whether the grammar's parser can list the n most probable trees."""
        return self.has_tree_probabilities or self.tau != 1

    @property
    def parser_bytes(self) -> float:
        """Estimated memory, in bytes, of the grammar's parser before it parses a sentence."""
        return parser_bytes(self)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of constituents (without part-of-speech tags), sorted."""
        return tuple(sorted({label for chain in self.label_chains for label in chain}))

    @cached_property
    def label_chains(self) -> tuple[tuple[str, ...], ...]:
        """The constituent labels in each symbol's unary chain, top first; () for "@" symbols and for single tags."""
        of_words = (chain[:-1] for chain in self.chains[: self.n_preterminals])
        return (*of_words, *self.chains[self.n_preterminals :])

    @property
    def summary(self) -> str:
        """One line of text with the numbers of categories, tags and binary rules, and the largest number of states."""
        return (
            f"{counted(len(self.labels), 'category', 'categories')}, {counted(len(self.tags), 'tag')}, "
            f"{counted(self.n_rules, 'binary rule')}, at most {counted(self.n_states.max(), 'state')}"
        )

    def to_values(self) -> dict[str, Any]:
        """Return the fields of the grammar and of its parts as a dict, by the names under which they are stored."""
        own = {name: getattr(self, name) for name in _OWN} | {"tau": float(self.tau)}
        parts = {part: getattr(self, part) for part in _PARTS}
        return own | with_prefixes({name: {n: getattr(part, n) for n in _PARTS[name]} for name, part in parts.items()})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Grammar:
        """Create the grammar from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent, or the parser would not fit the memory limit.
            (KeyError): If a field is missing.
        """
        refuse_others(values, _STORED)
        for name in _STORED:
            require(name, has_type(name, values[name]))
        tensors, lexicon, classifier = without_prefixes(values, _PARTS, _OWN)
        own = {name: values[name] for name in _OWN}
        grammar = cls(
            **own, tensors=Tensors(**tensors), lexicon=Lexicon(**lexicon), classifier=Classifier(**classifier)
        )
        check(grammar)
        return grammar


def _stored_fields(part: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(part) if field.init)


_PARTS = {
    "tensors": _stored_fields(Tensors),
    "lexicon": _stored_fields(Lexicon),
    "classifier": _stored_fields(Classifier),
}
_OWN = tuple(name for name in _stored_fields(GrammarParameters) if name not in _PARTS)
_STORED = (*_OWN, *(f"{part}.{name}" for part, names in _PARTS.items() for name in names))
