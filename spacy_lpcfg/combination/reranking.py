"""Reranking: of the trees that one grammar finds, the one that all models together think the most probable.

Charniak and Johnson (2005) and Collins and Koo (2005), with models that were learned by themselves in the place of
features: sum_i w_i ln P_i(tree, words). A list of trees has less in it than posteriors of brackets have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.combination.members import Member, Mirrored, straight
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.trees.transforms import mirror
from spacy_lpcfg.trees.tree import Tree


class Reranker:
    """Chooses among the trees of the first proper grammar of several models.

    members (sequence of Member), weights (sequence of float): as of `Combined`; ensembles and grammars that are not
        proper, which have no probabilities of trees, have no say.
    n (int): trees to choose from.
    RAISES (ValueError): If no model is a proper grammar that reads from left to right.
    """

    def __init__(self, members: Sequence[Member], weights: Sequence[float], *, n: int = 30) -> None:
        self._n = n
        self._judges = [(_Judge(each), weight) for each, weight in zip(members, weights) if _is_judge(straight(each))]
        parsers = [judge.parser for judge, _ in self._judges if not judge.is_mirrored]
        self._lister = next((parser for parser in parsers if isinstance(parser, Parser)), None)
        if self._lister is None:
            raise ValueError(
                "Expected a proper grammar (such as EM, Pivot and TreebankPCFG learn) among the models, whose trees "
                f"are to be reranked; got {', '.join(type(each).__name__ for each in members)}."
            )

    def best(self, words: Sequence[str], tags: Sequence[str | None] | None, **settings: Any) -> Tree | None:
        """The tree; arguments as of `Parser.n_best`. None if the grammar has no tree over the whole sentence."""
        assert self._lister is not None
        trees = [analysis.tree for analysis in self._lister.n_best(words, tags, n=self._n, **settings)]
        return trees[int(np.argmax(self.scores(trees)))] if trees else None

    def scores(self, trees: Sequence[Tree]) -> np.ndarray:
        """The weighted sums of the models' ln P(tree, words), in nats, float64 (n_trees,)."""
        return np.sum([weight * judge.log_probabilities(trees) for judge, weight in self._judges], axis=0)


class _Judge:
    """The parser by a member, for the probabilities of trees."""

    def __init__(self, member: Member) -> None:
        model = straight(member)
        self.is_mirrored = isinstance(member, Mirrored)
        self.parser = IncrementalParser(model) if isinstance(model, ISBN) else Parser(model)  # type: ignore[arg-type]

    def log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """ln P(tree, words) of each, float64 (n_trees,)."""
        own = [mirror(tree) for tree in trees] if self.is_mirrored else trees
        if isinstance(self.parser, IncrementalParser):
            return self.parser.tree_log_probabilities(own)
        return np.array([self.parser.tree_log_probability(tree) for tree in own])


def _is_judge(model: object) -> bool:
    """Whether a model has probabilities of trees."""
    if isinstance(model, ISBN):
        return len(model.networks) == 1
    return isinstance(model, Grammar) and model.is_proper
