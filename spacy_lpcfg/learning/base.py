"""The contract of learners: from trees to a model that parses.

A learner is a frozen dataclass of settings. `fit` does not change it: the same settings, trees and seed give the same
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from spacy_lpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.model import ParsingModel

MANY_TREES = 7_000
"""Number of trees above which learners choose other defaults: more trees leave less to chance, and take longer."""
OnStep = Callable[[Any], None]
"""Callback after a step of learning: called with the `Step` of a grammar, the `SingularValues` of its symbols, the
`SmoothingTrial` of a setting, the `LearningEpoch` of a network, or a `ModelLearned`."""


@runtime_checkable
class Learner(Protocol):
    """A learner of a model from trees."""

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Return the model that is learned from trees.

        trees (Iterable[Tree]): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Other trees, by which a learner that goes by steps chooses the best one. A
            learner without early stopping ignores them.
        on_step (callable or None): Called after every step; `list.append` keeps the history. A learner without steps
            ignores it.
        RAISES (ValueError): If there are no trees.
        """
        ...


def keeps_functions(learner: object) -> bool:
    """Return whether a learner keeps the functions of labels, as in NP-SBJ."""
    return bool(getattr(learner, "functions", False))  # a learner of one's own need not have the setting


class OnlineFit(Protocol):
    """Online learning in progress: a model that is updated by one batch of trees at a time."""

    def step(self, trees: Iterable[Tree]) -> float:
        """Update the model by a batch, and return the batch's log-likelihood under the parameters before the update."""
        ...

    def grammar(self) -> ParsingModel:
        """Return the model after the batches so far."""
        ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A learner whose `online` starts from a whole treebank, and returns an `OnlineFit` to update by batches of it."""

    def online(self, trees: Iterable[Tree]) -> OnlineFit: ...


class Step(NamedTuple):
    """The result and the cost of one iteration of EM.

    iteration (int): From 1; 0 for the start, before any iteration.
    log_likelihood (float): Log-likelihood of the treebank under the parameters before the iteration; nan for the start.
    f1 (float): F1 on the held-out trees, in percent, of the grammar after the iteration; nan if it was not measured.
    seconds (float): CPU seconds of this process, parsing of the held-out trees excluded; those of the first step
        include reading the trees and finding the start.
    """

    iteration: int
    log_likelihood: float
    f1: float
    seconds: float

    def to_values(self) -> dict[str, float | None]:
        """Return the values by name, with None in place of nan, which JSON does not have."""
        return {name: None if value != value else value for name, value in self._asdict().items()}


class SingularValues(NamedTuple):
    """The report of a spectral learner: the singular values of each symbol's inside-outside matrix, largest first."""

    of_symbols: dict[str, list[float]]


@runtime_checkable
class _StepReport(Protocol):
    """A report of one iteration of EM, or of one epoch of a network."""

    def to_values(self) -> dict[str, float | None]: ...


def meta_of(reports: Iterable[object]) -> dict[str, Any]:
    """Return a pipeline's meta entries on learning: "fit" (the steps) and "singular_values" (the last report).

    reports (iterable of object): The arguments of all calls of `on_step`; other types of reports are ignored.
    """
    reports = list(reports)
    steps = [report.to_values() for report in reports if isinstance(report, _StepReport)]
    values = [report.of_symbols for report in reports if isinstance(report, SingularValues)]
    return ({"fit": steps} if steps else {}) | ({"singular_values": values[-1]} if values else {})


class ModelLearned(NamedTuple):
    """The report that one of several models has been learned.

    number (int): Number of models learned so far.
    of (int): Number of models to learn in all.
    """

    number: int
    of: int
