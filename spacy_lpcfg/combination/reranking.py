"""Reranking: of the trees that one grammar finds, the one that all models together think the most probable.

Charniak and Johnson (2005) and Collins and Koo (2005), with models that were learned by themselves in the place of
features: sum_i w_i ln P_i(tree, words). A list of trees has less in it than posteriors of brackets have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.tree import Tree


class Reranker:
    """Chooses among the most probable trees of the first proper grammar, a member or the part of one.

    members (sequence of ParsingModel), weights (sequence of float): As in `Combined`; the grammars of an ensemble have
        equal parts of its weight. Grammars that are not proper and several networks of one ISBN, which have no
        probabilities of trees, have no say.
    n (int): Trees to choose from.
    """

    def __init__(self, members: Sequence[ParsingModel], weights: Sequence[float], *, n: int = 30) -> None:
        self._n = n
        of_members = zip((member.models_of_trees() for member in members), weights, strict=True)
        models = [(model, weight / len(some)) for some, weight in of_members for model in some]
        self._judges = [(model.parser(), weight) for model, weight in models]
        lister = n_best_model(members)
        self._lister = next(
            parser for (parser, _), (model, _) in zip(self._judges, models, strict=True) if model is lister
        )

    def best(self, query: Query) -> Tree | None:
        """Return the tree; None if the grammar has no tree over the whole sentence."""
        trees = [analysis.tree for analysis in self._lister.n_best(query, self._n)]
        return trees[int(np.argmax(self.scores(trees)))] if trees else None

    def scores(self, trees: Sequence[Tree]) -> np.ndarray:
        """Return the weighted sums of the models' ln P(tree, words), in nats, float64 (n_trees,)."""
        log_probabilities = np.zeros(len(trees))
        for parser, weight in self._judges:
            if weight:  # 0 times -inf would be no number
                log_probabilities += weight * parser.tree_log_probabilities(trees)
        return log_probabilities


def n_best_model(members: Sequence[ParsingModel]) -> ParsingModel | None:
    """Return the first proper grammar that reads from left to right among the models, or in an ensemble of theirs."""
    models = (model for member in members for model in member.models_of_trees())
    return next((model for model in models if not (model.is_network or model.is_mirrored)), None)
