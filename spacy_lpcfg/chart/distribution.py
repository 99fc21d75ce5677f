"""The distribution P(tree | words) over a sentence's forest: n-best trees, samples and entropy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.cells import SymbolSets, tree_mask
from spacy_lpcfg.chart.k_best import KBest
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.distribution import check_n_best, check_samples
from spacy_lpcfg.parsing.result import Analysis, with_given
from spacy_lpcfg.trees.tree import Span, Tree

TRIES = 20  # candidates for the n best trees, in addition to 10 n
_Key = tuple[tuple[Span, ...], tuple[str, ...]]


class ForestDistribution:
    """P(tree | words) over the trees of a forest, for a proper grammar.

    It is exact except for pruned trees; with the `EXHAUSTIVE` settings it covers all trees. Trees are n-ary, with tags;
    the probability of a tree is summed over all latent states and all of its binarisations.

    grammar (Grammar), fine (FineGrammar), sets (SymbolSets): A proper grammar with its tables.
    words (sequence of str), tags (sequence of str or None): The words, and their given tags.
    forest (Forest), marginals (Marginals): The forest of the sentence, with at least one tree, and its marginals.
    """

    def __init__(
        self,
        grammar: Grammar,
        fine: FineGrammar,
        sets: SymbolSets,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        forest: Forest,
        marginals: Marginals,
    ) -> None:
        self._grammar, self._fine, self._sets = grammar, fine, sets
        self._words, self._tags = words, tags
        self._forest, self._marginals = forest, marginals
        self._items = forest.item_table()
        self.log_probability: float = marginals.log_probability

    def n_best(self, n: int) -> list[Analysis]:
        """Return the most probable trees, best first; fewer than n if the forest has no more.

        Probabilities are exact. The search is approximate: it ranks `TRIES` + 10 n candidates by the variational
        approximation of Matsuzaki et al. (2005), the product of the rules' posteriors given their left-hand sides. If
        the probability that all returned trees but the last leave to other trees is less than that of the last one,
        the result is certainly right.

        RAISES (ValueError): If n is not a whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        log_probabilities: dict[_Key, float] = {}
        for nodes in islice(self._candidates(), TRIES + 10 * n):
            key = self._key(nodes)
            if key not in log_probabilities:
                log_probabilities[key] = self._log_probability_of(key)
        ranked = sorted(log_probabilities.items(), key=lambda item: -item[1])[:n]
        return [
            Analysis(self._tree(key), log, min(1.0, float(np.exp(log - self.log_probability)))) for key, log in ranked
        ]

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """Draw n trees independently from P(tree | words).

        RAISES (ValueError): If n is not a whole number from 1 to `MAX_SAMPLES`, or the seed is negative.
        """
        check_samples(n, seed)
        return [self._tree(key) for key in self._drawn(n, seed)]

    def entropy(self) -> float:
        """Return a close upper bound of the entropy of P(tree | words), in bits.

        The bound is the entropy of the PCFG over the forest with the same edge marginals, which is the distribution of
        maximum entropy with these marginals. It is exact if symbols have one state and every tree has one binarisation;
        with latent states the entropy does not decompose over edges.
        """
        logs = self._edge_logs()
        edges = np.maximum(self._marginals.edges(), 0)
        roots = np.maximum(self._root_marginals(), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            nats = -np.nansum(edges * logs) - np.nansum(roots * np.log(roots))
        return max(float(nats), 0.0) / float(np.log(2))

    def _candidates(self) -> Iterator[list[int]]:
        with np.errstate(divide="ignore"):
            roots = np.log(np.maximum(self._root_marginals(), 0))
        return KBest(self._forest, self._edge_logs(), roots).trees()

    def _edge_logs(self) -> np.ndarray:
        """Return the log-probability of each edge given its target, float64 (n_edges,)."""
        target = self._forest.edge_table()[:, 0]
        edges = np.maximum(self._marginals.edges(), 0)
        sums = np.bincount(target, edges, self._forest.n_items)[target]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(edges / sums)
        return np.where(edges > 0, logs, -np.inf)

    def _root_marginals(self) -> np.ndarray:
        """Return the marginals of items over the whole sentence, 0 for all others, float64 (n_items,)."""
        start, end, symbol, _ = self._items.T
        is_root = (start == 0) & (end == len(self._words)) & (self._sets.intermediate[symbol] == 0)
        return np.where(is_root, self._marginals.items(), 0)

    def _drawn(self, n: int, seed: int) -> list[_Key]:
        uniforms = np.random.default_rng(seed).random((n, len(self._words)))
        return [self._key(self._marginals.draw(row)) for row in uniforms]

    def _key(self, nodes: Sequence[int] | np.ndarray) -> _Key:
        """Return brackets in pre-order and predicted tags of a tree, given its items in pre-order."""
        spans: list[Span] = []
        tags = []
        for start, end, symbol, row in self._items[nodes].tolist():
            chain = self._grammar.chains[symbol]
            if row >= 0:
                tags.append(chain[-1])
                chain = chain[:-1]
            spans += [(start, end, label) for label in chain]
        return tuple(spans), tuple(tags)

    def _tree(self, key: _Key) -> Tree:
        spans, tags = key
        return Tree.from_spans(self._words, with_given(list(tags), self._tags), spans)

    def _log_probability_of(self, key: _Key) -> float:
        """Return ln P(tree, words): the summed weight of all binarisations in the forest."""
        spans, tags = key
        allowed = tree_mask(Tree.from_spans(self._words, tags, spans), self._sets)
        return Marginals(self._fine, self._forest.restricted(allowed.of_items(self._items))).log_probability
