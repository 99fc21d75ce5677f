"""The interface of learners, which turn trees into a model that parses, and the reports of their progress.

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
    """Interface of learners: objects whose `fit` turns trees into a model that parses."""

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Learn a model from trees.

        trees (Iterable[Tree]): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Trees that are not learned from, on which a learner that works in steps
            chooses its best step. A learner without early stopping ignores them.
        on_step (callable or None): Called after every step; `list.append` keeps the history. A learner without steps
            ignores it.
        RAISES (ValueError): If there are no trees.
        """
        ...


def keeps_functions(learner: object) -> bool:
    """Return whether a learner keeps function labels (SBJ in NP-SBJ); False if it has no setting `functions`."""
    return bool(getattr(learner, "functions", False))  # a learner of one's own need not have the setting


class OnlineFit(Protocol):
    """Online learning in progress: a model that is updated by one batch of trees at a time."""

    def step(self, trees: Iterable[Tree]) -> float:
        """Update the model from a batch of trees.

        RETURNS (float): The batch's log-likelihood in nats, under the parameters before the update.
        """
        ...

    def grammar(self) -> ParsingModel:
        """Return the model that was learned from the batches so far."""
        ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A learner whose `online` reads a whole treebank and returns an `OnlineFit`, which takes batches of its trees."""

    def online(self, trees: Iterable[Tree]) -> OnlineFit: ...


class Step(NamedTuple):
    """The result and the cost of one iteration of EM.

    iteration (int): Number of the iteration from 1; 0 for the start, before any iteration.
    log_likelihood (float): Log-likelihood of the treebank in nats, under the parameters before the iteration; nan for
        the start.
    f1 (float): F1 on the held-out trees, in percent, of the grammar after the iteration; nan if it was not measured.
    seconds (float): CPU seconds of this process in the iteration, without parsing held-out trees. The first step
        includes reading the trees and finding the start.
    """

    iteration: int
    log_likelihood: float
    f1: float
    seconds: float

    def to_values(self) -> dict[str, float | None]:
        """Return the fields as a dict, with None in place of nan, which JSON does not have."""
        return {name: None if value != value else value for name, value in self._asdict().items()}


class SingularValues(NamedTuple):
    """Report of a spectral learner.

    of_symbols (dict from str to list of float): The singular values of each symbol's inside-outside matrix, in
        descending order.
    """

    of_symbols: dict[str, list[float]]


@runtime_checkable
class _StepReport(Protocol):
    """A report of one iteration of EM, or of one epoch of a network."""

    def to_values(self) -> dict[str, float | None]: ...


def meta_of(reports: Iterable[object]) -> dict[str, Any]:
    """Return the entries about learning for a pipeline's meta, as a dict with at most two keys.

    - "fit": a list with the values of each step of EM, or of each epoch of a network;
    - "singular_values": the dict of the last `SingularValues`.

    An entry without reports is left out.

    reports (iterable of object): The arguments of all calls of `on_step`; other types of reports are ignored.
    """
    reports = list(reports)
    steps = [report.to_values() for report in reports if isinstance(report, _StepReport)]
    values = [report.of_symbols for report in reports if isinstance(report, SingularValues)]
    return ({"fit": steps} if steps else {}) | ({"singular_values": values[-1]} if values else {})


class ModelLearned(NamedTuple):
    """Report that one of several models has been learned.

    number (int): Number of models learned so far.
    of (int): Number of models to learn in all.
    """

    number: int
    of: int
