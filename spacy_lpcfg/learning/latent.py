"""A proper L-PCFG over a treebank whose symbols are split into states: its parameters, and what is counted for them.

All that learns probabilities meets here: expected counts, by EM or of states that were chosen, become distributions,
which are smoothed and make a grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.tensors import offsets
from spacy_lpcfg.learning._expectations import inside_outside
from spacy_lpcfg.learning.assembly import Parameters, Treebank, build_grammar
from spacy_lpcfg.learning.lexical import Emissions, Events
from spacy_lpcfg.learning.moments import group_sums

SHARD_SIZE = 2_000  # trees


@dataclass(frozen=True)
class StateSmoothing:
    """How the states of a symbol are smoothed towards each other.

    rules (float): share of a rule's probabilities that the states give to their mean (Petrov et al. 2006).
    words (float): the same of a word's.
    rare_words (float): pseudo-tokens of each word under a symbol, whose state is independent of the word.
    rare_rules (float): pseudo-tokens of each rule, whose three states are independent of the rule and of each other.
    """

    rules: float = 0.03
    words: float = 0.1
    rare_words: float = 10.0
    rare_rules: float = 4.0


UNSMOOTHED = StateSmoothing(rules=0.0, words=0.0, rare_words=0.0, rare_rules=0.0)


@dataclass(frozen=True, eq=False)
class Latent:
    """The parameters of a proper L-PCFG, in the layout of a `Split`; rows are padded with zeros to m states.

    roots (float64, (n_symbols, m)): pi(a, h).
    tensors (float32, (n_entries,)): t(a -> b c, h2, h3 | a, h1), rule after rule.
    emissions (float64, (n_pairs, m)): q(x | a, h).
    """

    roots: np.ndarray
    tensors: np.ndarray
    emissions: np.ndarray


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts of the states of a treebank's trees: sufficient statistics, all of them sums over trees.

    rules (float32, (n_entries,)): of every entry of the tensors.
    words (float64, (n_pairs, m)): of each emission.
    forms (float64, (n_pairs, m)): of each emission, those of more general forms included.
    symbols (float64, (n_symbols, m)): of all nodes.
    roots (float64, (n_symbols, m)): of roots.
    log_likelihood (float): natural log of the trees' probability, under the parameters that these counts are of; nan
        if there were none.
    """

    rules: np.ndarray
    words: np.ndarray
    forms: np.ndarray
    symbols: np.ndarray
    roots: np.ndarray
    log_likelihood: float = float("nan")

    def towards(self, other: Expected, share: float, scale: float) -> Expected:
        """These counts, of which a share goes to others that are multiplied by `scale` first."""
        mixed = {
            name: (1 - share) * mine + share * scale * getattr(other, name)
            for name, mine in vars(self).items()
            if name != "log_likelihood"
        }
        return Expected(**mixed, log_likelihood=other.log_likelihood)


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Inside and outside vectors of all nodes, by what is known of their trees; rows are padded with zeros to m states.

    inside (float32, (n_nodes, m)): scaled to sum 1.
    outside (float32, (n_nodes, m)): scaled so that the product of a node's two vectors is the distribution of its
        state; zeros for the nodes of trees that do not count.
    rules (float32, (n_entries,)): expected counts of the tensors' entries.
    log_likelihood (float): of the trees that count; not finite if one of them has no probability.
    """

    inside: np.ndarray
    outside: np.ndarray
    rules: np.ndarray
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Split:
    """A treebank and the number of states of its symbols: where each parameter lies, and what is counted for it.

    treebank (Treebank): nodes and counts.
    n_states (int32, (n_symbols,)): states of each symbol.
    """

    treebank: Treebank
    n_states: np.ndarray

    @classmethod
    def of(cls, treebank: Treebank, most: int, tokens_per_state: float) -> Split:
        """The split in which a symbol seen n times gets n / tokens_per_state states, but 1 to `most`."""
        states = np.clip(treebank.counts.symbols / tokens_per_state, 1, most)
        return cls(treebank, states.astype(np.int32))

    def with_states(self, n_states: np.ndarray) -> Split:
        """The same treebank with other numbers of states, int32 (n_symbols,)."""
        other = Split(self.treebank, n_states)
        vars(other).update({name: vars(self)[name] for name in _OF_TREEBANK if name in vars(self)})
        return other

    @property
    def width(self) -> int:
        """m, the most states of a symbol."""
        return int(self.n_states.max())

    @cached_property
    def is_state(self) -> np.ndarray:
        """Which places of the padded rows are states, bool (n_symbols, m)."""
        return np.arange(self.width) < self.n_states[:, None]

    @cached_property
    def shapes(self) -> np.ndarray:
        """Of the rules' tensors, int64 (n_rules, 3)."""
        return self.n_states[self.treebank.counts.rules].astype(np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each rule's tensor begins, int64 (n_rules + 1,)."""
        return offsets(self.shapes.prod(axis=1))

    @cached_property
    def node_starts(self) -> np.ndarray:
        """Where the tensor of each inner node's rule begins, int64 (n_nodes,)."""
        return self.starts[self.treebank.counts.rule_of]

    @cached_property
    def orders(self) -> list[np.ndarray]:
        """Nodes of each shard of trees, narrow ones first, those of one rule together."""
        nodes = self.treebank.nodes
        ends = np.append(nodes.roots[SHARD_SIZE - 1 : -1 : SHARD_SIZE], nodes.roots[-1]) + 1
        shards = np.split(np.arange(nodes.n_nodes), ends[:-1])
        keys = self.treebank.counts.rule_of, nodes.end - nodes.start
        return [shard[np.lexsort([key[shard] for key in keys])] for shard in shards]

    def _orders_of(self, trees: np.ndarray | None) -> list[np.ndarray]:
        """As `orders`, of some trees or all."""
        if trees is None:
            return self.orders
        is_counted = np.isin(np.arange(len(self.treebank.nodes.roots)), trees)
        return [order[is_counted[self.tree[order]]] for order in self.orders]

    @cached_property
    def tree(self) -> np.ndarray:
        """Place of each node's tree, int64 (n_nodes,)."""
        nodes = self.treebank.nodes
        return np.searchsorted(nodes.roots, np.arange(nodes.n_nodes))

    @property
    def events(self) -> Events:
        return self.treebank.events

    def expect(self, latent: Latent, n_jobs: int = 1, trees: np.ndarray | None = None) -> Expected:
        """The E step; arguments as of `posteriors`."""
        return self.sums(self.posteriors(latent, n_jobs, trees))

    def posteriors(self, latent: Latent, n_jobs: int = 1, trees: np.ndarray | None = None) -> Posteriors:
        """What the trees say of the states of their nodes.

        n_jobs (int): threads, as of joblib; the result is the same for any number.
        trees (int, (k,), or None): places of the trees that count, each once; None for all.
        RAISES (FloatingPointError): If a tree has no probability.
        """
        from joblib import Parallel, delayed

        nodes, width = self.treebank.nodes, self.width
        inside = np.zeros((nodes.n_nodes, width), dtype=np.float32)
        outside = np.zeros((nodes.n_nodes, width), dtype=np.float32)
        counted = nodes.roots if trees is None else nodes.roots[trees]
        inside[nodes.leaves] = latent.emissions[self.events.of_leaf]
        outside[counted] = latent.roots[nodes.symbol[counted]]
        states = self.n_states[nodes.symbol]

        def shard(order: np.ndarray) -> tuple[np.ndarray, float]:
            counts = np.zeros_like(latent.tensors)
            tree_table = nodes.parent, nodes.left, nodes.right, states, self.node_starts
            return counts, inside_outside(order, *tree_table, latent.tensors, inside, outside, counts)

        counts, log_likelihood = np.zeros_like(latent.tensors), 0.0
        for more, value in Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
            delayed(shard)(order) for order in self._orders_of(trees)
        ):
            counts += more
            log_likelihood += value
        if not np.isfinite(log_likelihood):
            raise FloatingPointError(
                "Some tree of the treebank has no probability under the parameters: smooth them, so that none is zero."
            )
        return Posteriors(inside, outside, counts * latent.tensors, log_likelihood)

    def sums(self, posteriors: Posteriors) -> Expected:
        """The expected counts that posteriors add up to."""
        return self._sums(posteriors.rules, posteriors.inside * posteriors.outside, posteriors.log_likelihood)

    def expect_states(self, states: np.ndarray) -> Expected:
        """Counts of states that are known: one of each node, int (n_nodes,)."""
        nodes = self.treebank.nodes
        posteriors = np.zeros((nodes.n_nodes, self.width), dtype=np.float32)
        posteriors[np.arange(nodes.n_nodes), states] = 1.0
        _, n_left, n_right = self.shapes[self.treebank.counts.rule_of[nodes.inner]].T
        row = states[nodes.inner] * n_left + states[nodes.left[nodes.inner]]
        entries = self.node_starts[nodes.inner] + row * n_right + states[nodes.right[nodes.inner]]
        return self._sums(np.bincount(entries, minlength=self.starts[-1]).astype(np.float32), posteriors)

    def expect_parameters(self, parameters: Parameters) -> Expected:
        """The counts of which parameters, all of them probabilities, are the relative frequencies.

        parameters (Parameters): `means` are p(h | a).
        """
        counts, of_pairs, m = self.treebank.counts, self.events.pairs[:, 0], self.n_states
        symbols = counts.symbols[:, None] * parameters.means
        lhs = np.concatenate([np.empty(0), *(symbols[a, : m[a]] for a in counts.rules[:, 0])])
        lhs = np.repeat(lhs, np.repeat(self.shapes[:, 1] * self.shapes[:, 2], self.shapes[:, 0]))
        shares = parameters.emissions.vectors * parameters.means[of_pairs]
        return Expected(
            rules=(lhs * parameters.tensors).astype(np.float32),
            words=self.events.own.sum(axis=1)[:, None] * shares,
            forms=self.events.counts[:, None] * shares,
            symbols=symbols,
            roots=counts.roots[:, None] * parameters.root_vectors,
        )

    def _sums(self, rules: np.ndarray, posteriors: np.ndarray, log_likelihood: float = float("nan")) -> Expected:
        """Counts of rules, and those of the states that nodes have with some probability, float32 (n_nodes, m)."""
        nodes, n_symbols = self.treebank.nodes, len(self.n_states)
        of_leaves, of_roots = posteriors[nodes.leaves], posteriors[nodes.roots]
        return Expected(
            rules=rules,
            words=self.events.own @ of_leaves,
            forms=self.events.all @ of_leaves,
            symbols=group_sums(posteriors, nodes.symbol, n_symbols),
            roots=group_sums(of_roots, nodes.symbol[nodes.roots], n_symbols),
            log_likelihood=log_likelihood,
        )

    def maximize(self, expected: Expected, smoothing: StateSmoothing) -> Latent:
        """The M step: relative frequencies of the expected counts, smoothed."""
        return self.normalized(expected.roots, expected.rules, expected.words, smoothing)

    def normalized(
        self, roots: np.ndarray, rules: np.ndarray, emissions: np.ndarray, smoothing: StateSmoothing
    ) -> Latent:
        """Smoothed distributions of counts, in the layout of `Latent`; states that were not seen get the mean."""
        totals = self._totals(rules, emissions)
        shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), _LEAST_COUNT)
        emissions = self._shared_words(emissions, shares, smoothing.rare_words)
        rules = self._shared_rules(rules, shares.astype(np.float32), smoothing.rare_rules)
        totals = self._totals(rules, emissions)
        tensors = np.empty_like(rules)
        for a, start, end in zip(self.treebank.counts.rules[:, 0], self.starts, self.starts[1:]):
            m = self.n_states[a]
            tensors[start:end] = _distributions(rules[start:end].reshape(m, -1), totals[a, :m], smoothing.rules).ravel()
        tensors[tensors < _LEAST_ENTRY] = 0.0
        starts = offsets(np.bincount(self.events.pairs[:, 0]))
        for a, (start, end) in enumerate(pairwise(starts)):
            emissions[start:end] = _distributions(emissions[start:end].T, totals[a], smoothing.words).T
        return Latent(roots / roots.sum(), tensors, emissions * self.is_state[self.events.pairs[:, 0]])

    def _shared_words(self, emissions: np.ndarray, shares: np.ndarray, weight: float) -> np.ndarray:
        """Counts of words (n_pairs, m), backed off to the shares (n_symbols, m) of their symbols' states."""
        counts = emissions.sum(axis=1, keepdims=True)
        independent = counts * shares[self.events.pairs[:, 0]]
        return (counts * emissions + weight * independent) / np.maximum(counts + weight, _LEAST_COUNT)

    def _shared_rules(self, rules: np.ndarray, shares: np.ndarray, weight: float) -> np.ndarray:
        """Counts of rules (n_entries,), backed off to products of the shares (n_symbols, m) of symbols' states."""
        if weight == 0:
            return rules
        shared = np.empty_like(rules)
        counts, m = self.treebank.counts, self.n_states
        for (a, b, c), n, start, end in zip(counts.rules, counts.rule_counts, self.starts, self.starts[1:]):
            pairs = np.outer(shares[b, : m[b]], shares[c, : m[c]]).ravel()
            independent = np.outer(np.float32(n) * shares[a, : m[a]], pairs).ravel()
            own = np.float32(n / (n + weight))
            shared[start:end] = own * rules[start:end] + (1 - own) * independent
        return shared

    def grammar(self, expected: Expected, smoothing: StateSmoothing) -> Grammar:
        """The grammar of expected counts, in which unknown words have emissions as well."""
        latent = self.normalized(expected.roots, expected.rules, expected.forms, smoothing)
        counts, symbols = self.events.counts, self.events.pairs[:, 0]
        shares = counts / np.bincount(symbols, weights=counts)[symbols]
        of_roots = latent.roots.sum(axis=1, keepdims=True)
        parameters = Parameters(
            n_states=self.n_states,
            root_vectors=latent.roots / np.where(of_roots > 0, of_roots, 1.0),
            tensors=latent.tensors,
            emissions=Emissions(
                symbols=symbols,
                terminals=self.events.pairs[:, 1],
                counts=counts,
                vectors=latent.emissions / shares[:, None],
                means=self.is_state[: len(self.treebank.nodes.preterminals)].astype(np.float64),
            ),
            means=expected.symbols / expected.symbols.sum(axis=1, keepdims=True),
            is_proper=True,
        )
        return build_grammar(self.treebank, parameters)

    def _totals(self, rules: np.ndarray, emissions: np.ndarray) -> np.ndarray:
        """Counts of the states, float64 (n_symbols, m)."""
        totals = np.zeros(self.is_state.shape)
        np.add.at(totals, self.events.pairs[:, 0], emissions)
        for a, start, end in zip(self.treebank.counts.rules[:, 0], self.starts, self.starts[1:]):
            totals[a, : self.n_states[a]] += rules[start:end].reshape(self.n_states[a], -1).sum(axis=1)
        return totals


_OF_TREEBANK = ("orders", "tree")  # what a split has cached that is the same for any numbers of states
_LEAST_COUNT = 1e-6  # of a state that is said to have been seen
_LEAST_ENTRY = 1e-15  # of a tensor; what is less is nothing, as denormal numbers are slow


def _distributions(counts: np.ndarray, totals: np.ndarray, share: float) -> np.ndarray:
    """Rows of counts as probabilities, of which `share` goes to their mean, and all of those that were not seen.

    counts (float, (m, k)): of the outcomes of each state; totals (float64, (m,)): of all outcomes of each state.
    """
    seen = totals >= _LEAST_COUNT
    rows = counts * np.where(seen, 1 / np.maximum(totals, _LEAST_COUNT), 0.0).astype(counts.dtype)[:, None]
    shares = np.where(seen, share, 1.0).astype(counts.dtype)
    if not shares.any():
        return rows
    mean = rows.sum(axis=0) / seen.sum()
    return (1 - shares)[:, None] * rows + shares[:, None] * mean
