"""The table of decodings: how one tree is chosen among those that a model finds, and which models can do it.

From this table follow the names that settings accept, the text of errors, and the table of decodings in the
documentation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from spacy_lpcfg.checks import SHARE, shown

Chosen = TypeVar("Chosen")


class Decodable(Protocol):
    """Interface of a model whose decodings are listed and checked."""

    @property
    def has_rule_marginals(self) -> bool:
        """Whether its parser computes marginals of rules."""

    @property
    def has_n_best(self) -> bool:
        """Whether its parser finds the n most probable trees."""


class Candidates(Generic[Chosen]):
    """The result of inference for a sentence, from which a decoding chooses a tree.

    A parser implements the method of each decoding that its models have.

    bracket_cost (float): Cost of a bracket in minimum Bayes risk that suits the kind of model.
    """

    bracket_cost: ClassVar[float]

    def least_risk(self, bracket_cost: float) -> Chosen:
        """Return the tree with the largest sum of the posteriors of its brackets, each less a cost, and of its tags."""
        raise NotImplementedError

    def max_rule(self) -> Chosen:
        """Return the tree with the largest sum of the marginals of its rules."""
        raise NotImplementedError

    def most_probable(self) -> Chosen:
        """Return the tree with the largest probability."""
        raise NotImplementedError


@dataclass(frozen=True)
class Decoding(ABC):
    """A way to choose one tree.

    name (str): Its name in settings, such as `--set decoding=NAME`.
    summary (str): Which tree it chooses, as the end of a sentence, for the documentation.
    needs (str): What it needs of a model, as a sentence; "" if all models have it.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[str] = ""

    def is_for(self, model: Decodable) -> bool:
        """Return whether a model has what the decoding needs."""
        return True

    @abstractmethod
    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        """Return the tree that is chosen among the candidates for a sentence."""


@dataclass(frozen=True)
class MinimumRisk(Decoding):
    """Minimum Bayes risk.

    bracket_cost (float or None): Cost of a bracket: higher for precision, lower for recall; None for the one that suits
        the kind of model.
    RAISES (ValueError): If the cost is not from 0 to 1.
    """

    bracket_cost: float | None = None

    name = "mbr"
    summary = "the tree with the largest sum of its brackets' posteriors, each less a cost (minimum Bayes risk)"

    def __post_init__(self) -> None:
        SHARE.optional(bracket_cost=self.bracket_cost)

    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        return candidates.least_risk(candidates.bracket_cost if self.bracket_cost is None else self.bracket_cost)


@dataclass(frozen=True)
class MaxRule(Decoding):
    """The largest expected number of correct rules (Goodman 1996), as in the spectral papers."""

    name = "max-rule"
    summary = "the tree with the largest sum of the marginals of its rules"
    needs = "Only grammars have marginals of rules."

    def is_for(self, model: Decodable) -> bool:
        return model.has_rule_marginals

    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        return candidates.max_rule()


@dataclass(frozen=True)
class MostProbable(Decoding):
    """The most probable tree, which is the one of `n_best(1)`."""

    name = "most-probable"
    summary = "the tree of n_best(1)"
    needs = "The most probable tree needs a proper grammar (any but a spectral one), evidence, or an ISBN."

    def is_for(self, model: Decodable) -> bool:
        return model.has_n_best

    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        return candidates.most_probable()


MBR = MinimumRisk()
"""The decoding that all models have."""
DECODINGS: dict[str, Decoding] = {decoding.name: decoding for decoding in (MBR, MaxRule(), MostProbable())}
"""All decodings by their names. The first one is the default of every model."""


def decodings_of(model: Decodable) -> tuple[str, ...]:
    """Return the names of the decodings that a model has, in the order of the table."""
    return tuple(decoding.name for decoding in DECODINGS.values() if decoding.is_for(model))


def check_decoding(name: str, among: Iterable[str] | None = None) -> None:
    """Raise ValueError if a decoding is unknown, or not available for a model; the message says what it needs.

    among (iterable of str or None): The names of the model's decodings; None for all that there are.
    """
    names = tuple(DECODINGS if among is None else among)
    if name not in names:
        model = "" if among is None else " for this model"
        needs = f" {DECODINGS[name].needs}" if name in DECODINGS else ""
        raise ValueError(f"Expected decoding to be one of {', '.join(names)}{model}, got {shown(name)}.{needs}")
