"""The contract of learners that learn from every batch of `spacy train`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.tree import Tree


class OnlineFit(Protocol):
    """A grammar that is being learned, a batch of trees at a time."""

    def step(self, trees: Iterable[Tree]) -> float:
        """Learn from a batch; its log-likelihood before."""
        ...

    def grammar(self) -> Grammar: ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A learner that is shown a whole treebank at the start, and then learns from batches of it."""

    def online(self, trees: Iterable[Tree]) -> OnlineFit: ...
