"""The models that may decide together, and their mirror images.

A parser that reads from left to right decides on the beginning of a constituent before it has seen its end, and a
grammar that groups siblings from the left has seen the first ones: learned from mirrored trees, the same learner errs
differently, and more so than from another seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.parsing.model import ParsingModel, WrappingModel, model_from_bytes
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.storage.container import refuse_others
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees

COMBINED = "combined"
"""The kind of combinations, which are no members of others."""

Straight: TypeAlias = Grammar | Ensemble | Stacked | ISBN
"""The models that learners of members learn."""


@dataclass(frozen=True, eq=False)
class Mirrored(WrappingModel):
    """A model of mirrored trees.

    model (ParsingModel): A grammar, an ensemble, one of these with a span layer, or a network. Its sentences are read
        from right to left.
    """

    model: ParsingModel
    kind, version = "mirrored", 1
    is_mirrored = True

    @property
    def is_network(self) -> bool:
        """Whether the model is made of networks."""
        return self.model.is_network

    @property
    def own_tree(self) -> str:  # type: ignore[override]
        """The decoding by which the model makes its own tree."""
        return self.model.own_tree

    @property
    def summary(self) -> str:
        """The summary of the model, marked as mirrored."""
        return f"{self.model.summary}, from right to left"

    @property
    def local_trees(self) -> LocalTrees:
        """No local trees, since those of the model are mirrored."""
        return NO_LOCAL_TREES

    @property
    def temperature(self) -> float:
        """The temperature of the model that it mirrors."""
        return self.model.temperature

    @property
    def parser_bytes(self) -> float:
        """Approximate bytes of memory that its parser takes, besides those for sentences."""
        return self.model.parser_bytes

    def models_of_trees(self) -> tuple[Mirrored, ...]:
        """Return mirrored models of those within it that have a log-probability of each tree."""
        return tuple(map(Mirrored, self.model.models_of_trees()))

    def to_values(self) -> dict[str, Any]:
        """Return the model as it is saved alone."""
        return {"model": self.model.to_bytes()}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Mirrored:
        """Create the model from the fields that `to_values` returned.

        RAISES (ValueError): If parts are unknown, or the model is none that can be mirrored. (KeyError): If it is
            missing.
        """
        refuse_others(values, ("model",))
        return cls(model_from_bytes(values["model"], without=(cls.kind, COMBINED)))


Member: TypeAlias = Straight | Mirrored
