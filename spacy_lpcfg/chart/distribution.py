"""The distribution P(tree | words) over a sentence's forest: n-best trees, samples and entropy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest, tree_items
from spacy_lpcfg.chart._projection import Projection
from spacy_lpcfg.chart.cells import SymbolSets
from spacy_lpcfg.chart.k_best import KBest
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.distribution import check_n_best, check_samples
from spacy_lpcfg.parsing.result import Analysis, with_given
from spacy_lpcfg.trees.tree import Span, Tree

TRIES = 20  # candidates for the n best trees, in addition to 10 n
TreeKey = tuple[tuple[Span, ...], tuple[str, ...]]
"""The brackets of a tree in pre-order, and its tags."""


class ForestTrees:
    """Mapping from the derivations of a forest, which are binary, to n-ary trees with tags.

    grammar (Grammar): The grammar of the forest.
    sets (SymbolSets): The sets of symbols of the grammar.
    words (sequence of str): The words of the sentence.
    tags (sequence of str or None, or None): The given tags, None for a word without one; None without any.
    forest (Forest): The forest of the sentence, with at least one tree.
    """

    def __init__(
        self,
        grammar: Grammar,
        sets: SymbolSets,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        forest: Forest,
    ) -> None:
        self.forest = forest
        self.words = words
        self._grammar, self._sets, self._tags = grammar, sets, tags

    @cached_property
    def items(self) -> np.ndarray:
        """The items of the forest, int32 (n_items, 4), see `Forest.item_table`."""
        return self.forest.item_table()

    def key(self, nodes: Sequence[int] | np.ndarray) -> TreeKey:
        """Return the key of a tree: its brackets in pre-order, and its tags as the grammar predicts them.

        nodes (sequence of int, (n_nodes,)): Indices of the items of one derivation of the tree, in pre-order.
        """
        spans: list[Span] = []
        tags = []
        for start, end, symbol, row in self.items[nodes].tolist():
            if row >= 0:
                tags.append(self._grammar.chains[symbol][-1])
            spans += [(start, end, label) for label in self._grammar.label_chains[symbol]]
        return tuple(spans), tuple(tags)

    def tree(self, key: TreeKey) -> Tree:
        """Build the tree of a key; given tags replace predicted ones."""
        spans, tags = key
        return Tree.from_spans(self.words, with_given(list(tags), self._tags), spans)

    def are_in(self, nodes: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return whether each item may be in a binarisation of a tree, int8 (n_items,).

        nodes (sequence of int, (n_nodes,)): Indices of the items of one derivation of the tree, in pre-order.
        """
        return tree_items(self.forest, np.asarray(nodes, dtype=np.int32), self._sets.intermediate)

    @property
    def are_roots(self) -> np.ndarray:
        """Whether each item may be the root of a tree, bool (n_items,)."""
        start, end, symbol, _ = self.items.T
        return (start == 0) & (end == len(self.words)) & (self._sets.intermediate[symbol] == 0)


class ForestDistribution(ABC):
    """The distribution P(tree | words) over the trees of a forest.

    It covers all trees that were not pruned; with the `EXHAUSTIVE` settings all trees. Trees are n-ary, with tags; the
    probability of a tree is summed over all of its binarisations.

    trees (ForestTrees): The trees of the forest.
    log_probability (float): ln P(words) in nats.
    """

    def __init__(self, trees: ForestTrees, log_probability: float) -> None:
        self.trees = trees
        self.log_probability = log_probability

    def n_best(self, n: int) -> list[Analysis]:
        """Return the most probable trees, best first; fewer than n if the forest has no more.

        Probabilities are exact. The search ranks `TRIES` + 10 n derivations by the product of the rules' posteriors
        given their left-hand sides. This is exact in a projection where trees have one binarisation; for a grammar it
        is the variational approximation of Matsuzaki et al. (2005). No better tree is missing if the last returned tree
        is more probable than 1 minus the sum of the returned probabilities.

        RAISES (ValueError): If n is not a whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        return [
            Analysis(self.trees.tree(key), self.log_probability + log, min(1.0, float(np.exp(log))))
            for key, log, _ in self._ranked(n)
        ]

    def best(self) -> np.ndarray:
        """Return a derivation of the most probable tree, as the indices of its items in pre-order, int32 (n_nodes,).

        The tree is the first one of `n_best`, whose docstring says how exact the search is.
        """
        ((_, _, nodes),) = self._ranked(1)
        return np.array(nodes, dtype=np.int32)

    def _ranked(self, n: int) -> list[tuple[TreeKey, float, Sequence[int]]]:
        """Return the keys of the n most probable trees with ln P(tree | words), and a derivation of each."""
        trees: dict[TreeKey, tuple[float, Sequence[int]]] = {}
        derivations = KBest(self.trees.forest, *self._logs()).trees()
        for nodes in islice(derivations, TRIES + 10 * n):
            key = self.trees.key(nodes)
            if key not in trees:
                trees[key] = self.log_share(self.trees.are_in(nodes)), nodes
        return sorted(((key, *of_key) for key, of_key in trees.items()), key=lambda ranked: -ranked[1])[:n]

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """Draw n trees from P(tree | words), independently and with replacement.

        RAISES (ValueError): If n is not a whole number from 1 to `MAX_SAMPLES`, or the seed is not a whole number >= 0.
        """
        check_samples(n, seed)
        uniforms = np.random.default_rng(seed).random((n, len(self.trees.words)))
        return [self.trees.tree(self.trees.key(self._draw(row))) for row in uniforms]

    @abstractmethod
    def entropy(self) -> float:
        """Return the entropy of P(tree | words), in bits."""

    @abstractmethod
    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-weights with which trees are ranked: of edges, (n_edges,), and of roots, (n_items,)."""

    @abstractmethod
    def log_share(self, is_allowed: np.ndarray) -> float:
        """Return ln P(all items of the derivation are allowed | words), in nats; -inf if no derivation is allowed.

        is_allowed (int8, (n_items,)): Whether each item of the forest may occur.
        """

    @abstractmethod
    def _draw(self, uniforms: np.ndarray) -> np.ndarray:
        """Draw a derivation, and return the indices of its items in pre-order.

        uniforms (float64, (n_words,)): Independent random numbers from [0, 1).
        """


class ProjectedDistribution(ForestDistribution):
    """P(tree | words) under a projection: a distribution over the forest that has no latent states.

    Therefore n-best trees, samples, marginals and entropy are consistent with each other.

    trees (ForestTrees): The trees of the forest.
    projection (Projection): The projection of the marginals of a sentence.
    log_probability (float): ln P(words) in nats.
    """

    def __init__(self, trees: ForestTrees, projection: Projection, log_probability: float) -> None:
        super().__init__(trees, log_probability)
        self._projection = projection

    def entropy(self) -> float:
        """Return the entropy of P(tree | words), in bits; an upper bound where trees have several binarisations."""
        edges, roots = self._logs()
        nats = _expected(self._projection.edges(), edges)
        nats += _expected(np.where(self.trees.are_roots, self._projection.items(), 0), roots)
        return max((self._projection.log_total - nats) / float(np.log(2)), 0.0)

    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        return self._projection.edge_logs(), self._projection.item_logs()

    def log_share(self, is_allowed: np.ndarray) -> float:
        return self._projection.log_probability_within(is_allowed)

    def _draw(self, uniforms: np.ndarray) -> np.ndarray:
        return self._projection.draw(uniforms)


class LatentDistribution(ForestDistribution):
    """P(tree | words) under a proper grammar, exact except for pruned trees: summed over all latent states.

    trees (ForestTrees): The trees of the forest.
    fine (FineGrammar): The latent grammar.
    marginals (Marginals): The marginals of the sentence under the grammar.
    """

    def __init__(self, trees: ForestTrees, fine: FineGrammar, marginals: Marginals) -> None:
        super().__init__(trees, marginals.log_probability)
        self._fine, self._marginals = fine, marginals

    def entropy(self) -> float:
        """Return a close upper bound of the entropy of P(tree | words), in bits.

        The bound is the entropy of the PCFG over the forest with the same edge marginals, which is the distribution of
        maximum entropy with these marginals. It is exact if symbols have one state and every tree has one binarisation;
        with latent states the entropy does not decompose over edges.
        """
        edges, roots = self._logs()
        nats = _expected(np.maximum(self._marginals.edges(), 0), edges) + _expected(np.exp(roots), roots)
        return max(-nats / float(np.log(2)), 0.0)

    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        target = self.trees.forest.edge_table()[:, 0]
        edges = np.maximum(self._marginals.edges(), 0)
        sums = np.bincount(target, edges, self.trees.forest.n_items)[target]
        roots = np.where(self.trees.are_roots, np.maximum(self._marginals.items(), 0), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(edges > 0, np.log(edges / sums), -np.inf), np.log(roots)

    def log_share(self, is_allowed: np.ndarray) -> float:
        log_probability = Marginals(self._fine, self.trees.forest.restricted(is_allowed)).log_probability
        return log_probability - self.log_probability

    def _draw(self, uniforms: np.ndarray) -> np.ndarray:
        return self._marginals.draw(uniforms)


def _expected(probabilities: np.ndarray, values: np.ndarray) -> float:
    """Return the expectation of values, float64 (n,); values may be infinite where the probability is 0."""
    return float(probabilities @ np.where(probabilities > 0, values, 0.0))
