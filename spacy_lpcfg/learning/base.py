"""The contract of learners: from trees to a model that parses.

A learner is a frozen dataclass of settings. `fit` does not change it: the same settings, trees and seed give the same
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from spacy_lpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.model import ParsingModel

MANY_TREES = 7_000
"""A treebank with more leaves less to chance, and takes longer: learners then take other settings of their own."""
OnStep = Callable[[Any], None]
"""What is called after a step of learning: with the `Step` of a grammar, the `LearningEpoch` of a network, or
`ModelLearned`."""


@runtime_checkable
class Learner(Protocol):
    """A learner of a model from trees."""

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Return the model that is learned from trees.

        trees (Iterable[Tree]): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Other trees, by which a learner that goes by steps chooses the best one. A
            learner without early stopping ignores them.
        weights (sequence of float or None): How much each tree counts, finite and above 0; None if all count alike.
            Trees that weigh less than the heaviest are taken for a parser's, see `learning.weights`.
        on_step (callable or None): Called after every step; `list.append` keeps the history. A learner without steps
            ignores it.
        RAISES (ValueError): If there are no trees, or not as many weights.
        """
        ...


class OnlineFit(Protocol):
    """A grammar that is being learned, a batch of trees at a time."""

    def step(self, trees: Iterable[Tree]) -> float:
        """Learn from a batch, and return its log-likelihood before."""
        ...

    def grammar(self) -> ParsingModel:
        """Return what is learned so far."""
        ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A learner that is shown a whole treebank at the start, and then learns from batches of it."""

    def online(self, trees: Iterable[Tree]) -> OnlineFit: ...


def has_functions(*learners: object) -> bool:
    """Return whether learners keep functions, as NP-SBJ; those without such a setting do not.

    RAISES (ValueError): If only some of them do.
    """
    settings = {getattr(learner, "functions", False) for learner in learners}
    if len(settings) > 1:
        raise ValueError("Expected learners all with the same functions, got some that keep them: set it for all.")
    return settings == {True}


class Step(NamedTuple):
    """The result and the cost of one iteration of EM.

    iteration (int): 1 for the first; 0 for parameters before any.
    log_likelihood (float): Of the treebank, under the parameters that came into the iteration; nan before any.
    f1 (float): On the held-out trees, in percent, of the grammar that came out of it; nan if it was not looked at.
    seconds (float): CPU seconds of this process without those of parsing the held-out trees; the first step counts all
        that came before it.
    grammar (int): 1 for the first of several grammars, or for the only one.
    """

    iteration: int
    log_likelihood: float
    f1: float
    seconds: float
    grammar: int = 1

    def to_values(self) -> dict[str, float | None]:
        """Return the values by name, as JSON can have them: None for what is not known."""
        return {name: None if value != value else value for name, value in self._asdict().items()}


def values_of_steps(told: Iterable[object]) -> list[dict[str, float | None]]:
    """Return the values of the `Step`s among what `on_step` was called with."""
    return [step.to_values() for step in told if isinstance(step, Step)]


class ModelLearned(NamedTuple):
    """One of several models that are learned one after another, or side by side, is there.

    number (int): 1 for the first; of (int): How many there will be.
    """

    number: int
    of: int


def renumbered(on_step: OnStep | None, n_before: int) -> OnStep | None:
    """Return a callback for the steps of a grammar that comes after `n_before` others."""
    if on_step is None:
        return None
    return lambda step: on_step(step._replace(grammar=step.grammar + n_before))
