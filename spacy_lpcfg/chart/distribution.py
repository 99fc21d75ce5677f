"""P(tree | words) under a latent grammar: n-best trees, samples and entropy, over the forest of the sentence."""

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

TRIES = 20  # candidates of the n best trees, beside 10 for each of the n
_Key = tuple[tuple[Span, ...], tuple[str, ...]]


class ForestDistribution:
    """P(tree | words) over the trees of a forest, for a proper grammar.

    Exact but for what pruning left out of the forest: with the `EXHAUSTIVE` settings, of all trees. A tree is n-ary
    with its tags; its probability sums all latent states, and all ways in which the grammar's binary rules build it.

    grammar (Grammar), fine (FineGrammar), sets (SymbolSets): of one proper grammar.
    words (sequence of str), tags (sequence of str or None): see `Parser.parse`.
    forest (Forest), marginals (Marginals): of the sentence, with a tree.
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
        """The most probable trees, best first; fewer than n if the forest has no more.

        Their probabilities are exact. Candidates are the trees of the greatest products of the probabilities of their
        rules given their left-hand sides, of which `TRIES` + 10 n are looked at (the variational approximation of
        Matsuzaki et al. 2005), since sums over latent states have no order that a search could follow. That none is
        missed is certain where the probabilities of those returned, but for the last one, leave less than the last
        one's to all others, and likely elsewhere.
        RAISES (ValueError): If n is no whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        found: dict[_Key, float] = {}
        for nodes in islice(self._candidates(), TRIES + 10 * n):
            key = self._key(nodes)
            if key not in found:
                found[key] = self._log_probability_of(key)
        ranked = sorted(found.items(), key=lambda each: -each[1])[:n]
        return [
            Analysis(self._tree(key), own, min(1.0, float(np.exp(own - self.log_probability)))) for key, own in ranked
        ]

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """n trees drawn independently from P(tree | words).

        RAISES (ValueError): If n is no whole number from 1 to `MAX_SAMPLES`, or seed none of at least 0.
        """
        check_samples(n, seed)
        return [self._tree(key) for key in self._drawn(n, seed)]

    def entropy(self) -> float:
        """A close upper bound of the entropy of P(tree | words), in bits.

        It is the entropy of the PCFG over the forest that has the same marginals of edges, summed over the edges: of
        all distributions with these marginals the one of greatest entropy. Exact where symbols have one state and every
        tree is built in one way; latent states tie distant rules together, so that no such sum has the entropy itself.
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
        """Logarithms of the probability of each edge given its target, float64 (n_edges,)."""
        target = self._forest.edge_table()[:, 0]
        edges = np.maximum(self._marginals.edges(), 0)
        sums = np.bincount(target, edges, self._forest.n_items)[target]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(edges / sums)
        return np.where(edges > 0, logs, -np.inf)

    def _root_marginals(self) -> np.ndarray:
        """Marginals of the items over the whole sentence, 0 for all others, float64 (n_items,)."""
        start, end, symbol, _ = self._items.T
        is_root = (start == 0) & (end == len(self._words)) & (self._sets.intermediate[symbol] == 0)
        return np.where(is_root, self._marginals.items(), 0)

    def _drawn(self, n: int, seed: int) -> list[_Key]:
        uniforms = np.random.default_rng(seed).random((n, len(self._words)))
        return [self._key(self._marginals.draw(row)) for row in uniforms]

    def _key(self, nodes: Sequence[int] | np.ndarray) -> _Key:
        """Brackets in pre-order and own tags of a tree of the forest, given by its items in pre-order."""
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
        """ln P(tree, words): the summed weight of all trees of the forest that stand for the same n-ary one."""
        spans, tags = key
        allowed = tree_mask(Tree.from_spans(self._words, tags, spans), self._sets)
        return Marginals(self._fine, self._forest.restricted(allowed.of_items(self._items))).log_probability
