"""The trees of a forest, from which a decoding chooses one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart._fine import Marginals
from spacy_lpcfg.chart._forest import LabelTable, best_tree, bracket_scores, posteriors, tree_brackets
from spacy_lpcfg.chart._projection import Projection
from spacy_lpcfg.chart.distribution import ForestDistribution
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.decodings import Candidates
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, Parse, Posteriors, with_given


class ForestScores(NamedTuple):
    """Scores of the edges and items of a forest for decoding.

    An item is a symbol over a span; an edge is a rule that builds an item from two items.

    marginals (Marginals): Marginals of the forest under the latent grammar.
    edges (float64, (n_edges,)), items (float64, (n_items,)): The scores from which decodings choose a tree. If
        the status is "parsed", they are the marginals; if it is "coarse", the posteriors of the coarse pass. They
        are absolute values if there is a projection, or if `ChartSettings.absolute` is set.
    projection (Projection or None): The tempered distribution without latent states, from which the posteriors of
        items are computed; None if `items` are the posteriors.
    status (str): "parsed", or "coarse" if the latent marginals are not finite or sum to 0.
    log_probability (float): ln P(words) in nats; nan if the grammar is not proper.
    """

    marginals: Marginals
    edges: np.ndarray
    items: np.ndarray
    projection: Projection | None
    status: str
    log_probability: float

    @property
    def posteriors(self) -> np.ndarray:
        """The posterior probability of each item, float64 (n_items,)."""
        return self.items if self.projection is None else self.projection.items()

    def bracket_posteriors(self, labels: LabelTable) -> Posteriors:
        """Return the posteriors of brackets and tags, summed over the items that have them.

        labels (LabelTable): The labels of the grammar's symbols.
        """
        return Posteriors(*posteriors(self.marginals.forest, labels, self.posteriors, MIN_POSTERIOR))


@dataclass(frozen=True, eq=False)
class ForestCandidates(Candidates[np.ndarray]):
    """The trees of a forest as candidates of a decoding.

    A tree is given by the indices of its items (symbols over spans) in pre-order, int (n_nodes,).

    scores (ForestScores): The scores of the forest.
    labels (LabelTable): The labels of the grammar's symbols.
    distribution (ForestDistribution or None): The distribution over the trees; None if trees have no probabilities.
    """

    scores: ForestScores
    labels: LabelTable
    distribution: ForestDistribution | None

    bracket_cost = 0.45

    def least_risk(self, bracket_cost: float) -> np.ndarray:
        forest = self.scores.marginals.forest
        return best_tree(forest, *bracket_scores(forest, self.labels, self.scores.items, bracket_cost))

    def max_rule(self) -> np.ndarray:
        return best_tree(self.scores.marginals.forest, self.scores.edges, self.scores.items)

    def most_probable(self) -> np.ndarray:
        """Return the tree of `n_best(1)`, or the max-rule tree if trees have no probabilities."""
        return self.max_rule() if self.distribution is None else self.distribution.best()

    def parse(self, nodes: np.ndarray, grammar: Grammar, query: Query) -> Parse:
        """Return the parse of a tree, with the probabilities of its brackets, its tags and the tree.

        nodes (int32, (n_nodes,)): Indices of the items of the tree, in pre-order.
        grammar (Grammar): The grammar of the forest.
        query (Query): The sentence; its given tags replace the tags of the tree.
        """
        forest = self.scores.marginals.forest
        spans, span_scores, tags, tag_scores = tree_brackets(forest, self.labels, nodes, self.scores.posteriors)
        return Parse(
            words=query.words,
            tags=with_given([grammar.tags[tag] for tag in tags], query.certain_tags),
            spans=[(start, end, grammar.labels[label]) for start, end, label in spans],
            span_scores=_as_probabilities(span_scores),
            tag_scores=_as_probabilities(tag_scores),
            log_probability=self.scores.log_probability,
            status=self.scores.status,
            probability=self._probability(nodes),
        )

    def _probability(self, nodes: np.ndarray) -> float:
        """Return P(tree | words) of the tree with the given items; nan if trees have no probabilities."""
        if self.distribution is None:
            return float("nan")
        return min(1.0, float(np.exp(self.distribution.log_share(self.distribution.trees.are_in(nodes)))))


def _as_probabilities(scores: np.ndarray) -> np.ndarray:
    return np.clip(scores, 0.0, 1.0).astype(np.float32)
