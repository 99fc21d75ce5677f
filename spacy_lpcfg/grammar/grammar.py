"""The frozen L-PCFG at which all learners and decoders meet."""

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
        return tuple(sorted({label for chain in self.label_chains for label in chain}))

    @cached_property
    def label_chains(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each symbol's constituents, top first: its chain, of a preterminal without the tag."""
        of_words = (chain[:-1] for chain in self.chains[: self.n_preterminals])
        return (*of_words, *self.chains[self.n_preterminals :])

    @property
    def summary(self) -> str:
        """Numbers of categories, tags, rules and states."""
        return (
            f"{counted(len(self.labels), 'category', 'categories')}, {counted(len(self.tags), 'tag')}, "
            f"{counted(self.n_rules, 'binary rule')}, at most {counted(self.n_states.max(), 'state')}"
        )

    def to_values(self) -> dict[str, Any]:
        """Return all parts of the grammar by the names under which they are stored."""
        own = {name: getattr(self, name) for name in _OWN} | {"tau": float(self.tau)}
        parts = {part: getattr(self, part) for part in _PARTS}
        return own | with_prefixes({name: {n: getattr(part, n) for n in _PARTS[name]} for name, part in parts.items()})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Grammar:
        """Create the grammar from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
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
