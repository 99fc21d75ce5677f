"""The table of decodings: ways to choose one tree from a model's result, and the models that support each.

The names that settings accept, the texts of errors, and the table of decodings in the documentation are generated from
this table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from spacy_lpcfg.checks import SHARE, shown

Chosen = TypeVar("Chosen")


class Decodable(Protocol):
    """Interface of a model: the properties that determine which decodings it supports."""

    @property
    def has_rule_marginals(self) -> bool:
        """Whether the model's parser computes marginal probabilities of rules."""

    @property
    def has_n_best(self) -> bool:
        """Whether the model's parser can list the n most probable trees."""


class Candidates(Generic[Chosen]):
    """The result of inference for a sentence, from which a decoding chooses a tree.

    A parser subclasses this, and implements the method of each decoding that its models support.

    bracket_cost (float): Default cost of a bracket in minimum Bayes risk decoding for this kind of model.
    """

    bracket_cost: ClassVar[float]

    def least_risk(self, bracket_cost: float) -> Chosen:
        """Return the minimum Bayes risk tree, given the cost of a bracket.

        It has the largest sum of (posterior - `bracket_cost`) over its brackets, plus the posteriors of its tags.
        """
        raise NotImplementedError

    def max_rule(self) -> Chosen:
        """Return the tree with the largest sum of the marginal probabilities of its rules."""
        raise NotImplementedError

    def most_probable(self) -> Chosen:
        """Return the tree with the largest probability."""
        raise NotImplementedError


@dataclass(frozen=True)
class Decoding(ABC):
    """A way to choose one tree from the result of inference.

    name (str): The name in settings, such as `--set decoding=NAME`.
    summary (str): Which tree is chosen, as the end of a sentence, for the documentation.
    needs (str): What the decoding needs of a model, as a sentence for error messages; "" if all models have it.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[str] = ""

    def is_for(self, model: Decodable) -> bool:
        """Return whether a model supports the decoding."""
        return True

    @abstractmethod
    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        """Return the candidate that the decoding prefers for a sentence."""


@dataclass(frozen=True)
class MinimumRisk(Decoding):
    """Minimum Bayes risk decoding: the tree with the largest sum of bracket posteriors, each less a cost.

    bracket_cost (float or None): Cost of a bracket, from 0 to 1: higher for precision, lower for recall. None for the
        default of the kind of model, `Candidates.bracket_cost`.
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
    """Max-rule decoding: the tree with the largest expected number of correct rules (Goodman 1996).

    The papers on spectral learning use it.
    """

    name = "max-rule"
    summary = "the tree with the largest sum of the marginals of its rules"
    needs = "Only grammars have marginals of rules."

    def is_for(self, model: Decodable) -> bool:
        return model.has_rule_marginals

    def choose(self, candidates: Candidates[Chosen]) -> Chosen:
        return candidates.max_rule()


@dataclass(frozen=True)
class MostProbable(Decoding):
    """Decoding of the most probable tree, which is the first tree of `n_best`."""

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
    """Return the names of the decodings that a model supports, in the order of `DECODINGS`."""
    return tuple(decoding.name for decoding in DECODINGS.values() if decoding.is_for(model))


def check_decoding(name: str, among: Iterable[str] | None = None) -> None:
    """Check that a decoding exists and that a model supports it.

    name (str): The name of the decoding.
    among (iterable of str or None): The names of the decodings that the model supports; None to allow all.
    RAISES (ValueError): If the name is not allowed. The message says what the decoding needs of a model.
    """
    names = tuple(DECODINGS if among is None else among)
    if name not in names:
        model = "" if among is None else " for this model"
        needs = f" {DECODINGS[name].needs}" if name in DECODINGS else ""
        raise ValueError(f"Expected decoding to be one of {', '.join(names)}{model}, got {shown(name)}.{needs}")
