"""The interface of learners that learn from every batch of `spacy train`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.tree import Tree


class OnlineFit(Protocol):
    """The state of a grammar in online learning."""

    def step(self, trees: Iterable[Tree]) -> float:
        """Learn from a batch of trees; return their log-likelihood before the step."""
        ...

    def grammar(self) -> Grammar: ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A learner that gets the whole treebank at the start, and then learns from batches of it."""

    def online(self, trees: Iterable[Tree]) -> OnlineFit: ...
