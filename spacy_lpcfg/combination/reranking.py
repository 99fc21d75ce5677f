"""Reranking: of the trees that one grammar finds, the one that all models together think the most probable.

Charniak and Johnson (2005) and Collins and Koo (2005), with models that were learned by themselves in the place of
features: sum_i w_i ln P_i(tree, words). A list of trees has less in it than posteriors of brackets have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.combination.members import Member, Mirrored, straight
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.trees.transforms import mirror
from spacy_lpcfg.trees.tree import Tree


class Reranker:
    """Chooses among the trees of the first proper grammar of several models, alone or of an ensemble.

    members (sequence of Member), weights (sequence of float): as of `Combined`; the grammars of an ensemble have equal
        parts of its weight. Grammars that are not proper and several networks of one ISBN, which have no probabilities
        of trees, have no say.
    n (int): trees to choose from.
    RAISES (ValueError): If no model is a proper grammar that reads from left to right.
    """

    def __init__(self, members: Sequence[Member], weights: Sequence[float], *, n: int = 30) -> None:
        self._n = n
        if not can_rerank(members):
            raise ValueError(
                "Expected a proper grammar (such as EM, Pivot and TreebankPCFG learn) that reads from left to right "
                "among the models, whose trees are to be reranked; got "
                f"{', '.join(type(each).__name__ for each in members)}."
            )
        self._judges = [pair for each, weight in zip(members, weights) for pair in _judges(each, weight)]
        parsers = (judge.parser for judge, _ in self._judges if not judge.is_mirrored)
        self._lister = next(parser for parser in parsers if isinstance(parser, Parser))

    def best(self, words: Sequence[str], tags: Sequence[str | None] | None, **settings: Any) -> Tree | None:
        """The tree; arguments as of `Parser.n_best`. None if the grammar has no tree over the whole sentence."""
        trees = [analysis.tree for analysis in self._lister.n_best(words, tags, n=self._n, **settings)]
        return trees[int(np.argmax(self.scores(trees)))] if trees else None

    def scores(self, trees: Sequence[Tree]) -> np.ndarray:
        """The weighted sums of the models' ln P(tree, words), in nats, float64 (n_trees,)."""
        found = np.zeros(len(trees))
        for judge, weight in self._judges:
            if weight:  # 0 times -inf would be no number
                found += weight * judge.log_probabilities(trees)
        return found


class _Judge:
    """The parser by one model, for the probabilities of trees."""

    def __init__(self, model: Grammar | ISBN, *, is_mirrored: bool) -> None:
        self.is_mirrored = is_mirrored
        self.parser = IncrementalParser(model) if isinstance(model, ISBN) else Parser(model)

    def log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """ln P(tree, words) of each, float64 (n_trees,)."""
        own = [mirror(tree) for tree in trees] if self.is_mirrored else trees
        if isinstance(self.parser, IncrementalParser):
            return self.parser.tree_log_probabilities(own)
        return np.array([self.parser.tree_log_probability(tree) for tree in own])


def can_rerank(members: Sequence[Member]) -> bool:
    """Whether there is a proper grammar that reads from left to right among the models, or in an ensemble of theirs."""
    straights = [each for each in members if not isinstance(each, Mirrored)]
    return any(isinstance(model, Grammar) for each in straights for model in _with_probabilities(each))


def _judges(member: Member, weight: float) -> Iterator[tuple[_Judge, float]]:
    """Those of a member, with parts of its weight."""
    models = _with_probabilities(member)
    for model in models:
        yield _Judge(model, is_mirrored=isinstance(member, Mirrored)), weight / len(models)


def _with_probabilities(member: Member) -> list[Grammar | ISBN]:
    """What of a member has probabilities of trees: nothing, one model, or grammars of an ensemble."""
    model = straight(member)
    if isinstance(model, ISBN):
        return [model] if len(model.networks) == 1 else []
    grammars = model.grammars if isinstance(model, Ensemble) else (model,)
    return [grammar for grammar in grammars if grammar.is_proper]
