"""E step and M step on a treebank whose symbols are split into states, and the grammar of the resulting counts.

All learners of proper grammars use this module. It smooths and normalizes expected counts, which come from EM or from
known states or parameters, and builds the grammar from the resulting distributions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import SHARE, at_least
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.latent.expectations import (
    Expected,
    Latent,
    Shard,
    StatePosteriors,
)
from spacy_lpcfg.learning.latent.state_numbers import max_states
from spacy_lpcfg.learning.lexicon.lexical import EmissionEvents, Emissions
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, build_grammar
from spacy_lpcfg.parallel import in_order


@dataclass(frozen=True)
class StateSmoothing:
    """Smoothing of the states of a symbol towards each other.

    rules (float): Interpolation weight of the mean over a symbol's states in the rule probabilities of each state
        (Petrov et al. 2006).
    words (float): Interpolation weight of the mean over a symbol's states in the emission probabilities of each state.
    rare_words (float): Pseudo-tokens of each word under a symbol, in which the state is independent of the word.
    rare_rules (float): Pseudo-occurrences of each rule, in which its three states are independent of the rule and of
        each other.
    RAISES (ValueError): If `rules` or `words` is not from 0 to 1, or pseudo-tokens are below 0.
    """

    rules: float = 0.03
    words: float = 0.1
    rare_words: float = 10.0
    rare_rules: float = 4.0

    def __post_init__(self) -> None:
        SHARE(rules=self.rules, words=self.words)
        at_least(0)(rare_words=self.rare_words, rare_rules=self.rare_rules)

    @property
    def ensures_trees(self) -> bool:
        """Whether every tree of the treebank has a positive probability under smoothed parameters."""
        return self.rules > 0 and self.words > 0


UNSMOOTHED = StateSmoothing(rules=0.0, words=0.0, rare_words=0.0, rare_rules=0.0)


@dataclass(frozen=True, eq=False)
class Split:
    """A treebank whose symbols are split into latent states, and the layout of their parameters.

    treebank (IndexedTreebank): The treebank.
    n_states (int32, (n_symbols,)): States of each symbol.
    """

    treebank: IndexedTreebank
    n_states: np.ndarray

    @classmethod
    def of(cls, treebank: IndexedTreebank, n_states: int, tokens_per_state: float) -> "Split":
        """Split each symbol of a treebank into as many states as `max_states` allows."""
        return cls(treebank, max_states(treebank.counts.symbols, n_states, tokens_per_state))

    def with_states(self, n_states: np.ndarray) -> "Split":
        """Return the same treebank, split into other numbers of states.

        n_states (int32, (n_symbols,)): States of each symbol.
        """
        other = Split(self.treebank, n_states)
        vars(other).update({name: vars(self)[name] for name in _OF_TREEBANK if name in vars(self)})
        return other

    @property
    def width(self) -> int:
        """m, the maximum number of states of a symbol."""
        return int(self.n_states.max())

    @cached_property
    def is_state(self) -> np.ndarray:
        """Mask of the states among the m columns of padded rows, bool (n_symbols, m)."""
        return np.arange(self.width) < self.n_states[:, None]

    @cached_property
    def shapes(self) -> np.ndarray:
        """The shapes of the rules' tensors, int64 (n_rules, 3)."""
        return self.n_states[self.treebank.counts.rules].astype(np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each rule's tensor begins among all entries; last, the number of entries; int64 (n_rules + 1,)."""
        return offsets(self.shapes.prod(axis=1))

    @cached_property
    def shards(self) -> list[Shard]:
        """The trees in shards.

        The size of a shard depends only on the number of trees, so that sums are equal for any number of workers.
        """
        return [Shard.of(part) for part in self.treebank.parts()]

    @property
    def events(self) -> EmissionEvents:
        return self.treebank.events

    def expect(self, latent: Latent, n_jobs: int | None = None, trees: np.ndarray | None = None) -> Expected:
        """Compute the expected counts of the treebank's trees (the E step).

        latent (Latent): The parameters.
        n_jobs (int or None): Parallel jobs, as in joblib: threads, if `joblib.parallel_config` chooses nothing else;
            None for its number, or 1. The result is the same for any number.
        trees (int, (k,), or None): Positions of the selected trees, each once; None for all.
        RAISES (FloatingPointError): If one of these trees has probability 0.
        """
        calls = ((shard, latent, positions) for shard, positions in self._shards_of(trees))
        return Expected.sum(in_order(Shard.expect, calls, n_jobs=n_jobs, prefer="threads"))

    def _shards_of(self, trees: np.ndarray | None) -> Iterator[tuple[Shard, np.ndarray | None]]:
        """Yield each shard with selected trees, and their positions within the shard; None stands for all of its trees.

        trees (int, (k,), or None): Positions of the selected trees in the treebank; None for all.
        """
        first = 0
        for shard in self.shards:
            end = first + len(shard.roots)
            if trees is None:
                yield shard, None
            elif len(positions := trees[(trees >= first) & (trees < end)]):
                yield shard, positions - first
            first = end

    def posteriors(self, latent: Latent, n_jobs: int | None = None) -> StatePosteriors:
        """Compute the inside and outside vectors of all nodes; arguments and errors as for `expect`."""
        calls = ((shard, latent) for shard in self.shards)
        posteriors = list(in_order(Shard.posteriors, calls, n_jobs=n_jobs, prefer="threads"))
        return StatePosteriors(
            inside=np.concatenate([of_shard.inside for of_shard in posteriors]),
            outside=np.concatenate([of_shard.outside for of_shard in posteriors]),
            rules=np.sum([of_shard.rules for of_shard in posteriors], axis=0),
            log_likelihood=sum(of_shard.log_likelihood for of_shard in posteriors),
        )

    def sums(self, posteriors: StatePosteriors) -> Expected:
        """Sum the state posteriors of all nodes to the expected counts of the treebank."""
        return self._sums(posteriors.rules, posteriors.inside * posteriors.outside, posteriors.log_likelihood)

    def expect_states(self, states: np.ndarray) -> Expected:
        """Return the counts of states if the state of every node is known; the log-likelihood is nan.

        states (int, (n_nodes,)): The state of each node.
        """
        nodes = self.treebank.nodes
        posteriors = np.zeros((nodes.n_nodes, self.width), dtype=np.float32)
        posteriors[np.arange(nodes.n_nodes), states] = 1.0
        rules = self.treebank.counts.rule_of[nodes.inner]
        _, n_left, n_right = self.shapes[rules].T
        row = states[nodes.inner] * n_left + states[nodes.left[nodes.inner]]
        entries = self.starts[rules] + row * n_right + states[nodes.right[nodes.inner]]
        return self._sums(np.bincount(entries, minlength=self.starts[-1]).astype(np.float32), posteriors)

    def expect_parameters(self, parameters: Parameters) -> Expected:
        """Return expected counts whose relative frequencies are given parameters; the log-likelihood is nan.

        parameters (Parameters): Parameters that are all probabilities; `means` are p(h | a).
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

    def floored(self, expected: Expected) -> Expected:
        """Smooth counts so that every tree of the treebank has a positive probability under their relative frequencies.

        `_FLOOR` occurrences of each root, rule and word are added, whose states are independent of it and of each
        other.
        """
        counts = expected.symbols.sum(axis=1, keepdims=True)
        shares = expected.symbols / np.maximum(counts, _TINY)
        return replace(
            expected,
            rules=self._shared_rules(expected.rules, shares.astype(np.float32), _FLOOR),
            words=self._shared_words(expected.words, shares, _FLOOR),
            roots=expected.roots + _FLOOR * shares * (expected.roots.sum(axis=1, keepdims=True) > 0),
        )

    def _sums(self, rules: np.ndarray, posteriors: np.ndarray, log_likelihood: float = float("nan")) -> Expected:
        """Sum the state posteriors of all nodes, (n_nodes, m), to expected counts; `rules` are passed through."""
        ends = np.cumsum([len(shard.symbol) for shard in self.shards])
        parts = zip(self.shards, np.split(posteriors, ends[:-1]), strict=True)
        none = np.zeros_like(rules)
        total = Expected.sum(shard.sums(none, part, len(self.n_states)) for shard, part in parts)
        return replace(total, rules=rules, log_likelihood=log_likelihood)

    def maximize(self, expected: Expected, smoothing: StateSmoothing) -> Latent:
        """Return parameters: the smoothed relative frequencies of expected counts (the M step)."""
        return self.normalized(expected.roots, expected.rules, expected.words, smoothing)

    def normalized(
        self, roots: np.ndarray, rules: np.ndarray, emissions: np.ndarray, smoothing: StateSmoothing
    ) -> Latent:
        """Normalize and smooth counts to parameters; states that were never seen get the mean of their symbol's states.

        roots (float64, (n_symbols, m)), rules (float32, (n_entries,)), emissions (float64, (n_pairs, m)): Counts.
        smoothing (StateSmoothing): The smoothing.
        """
        totals = self._totals(rules, emissions)
        shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), _TINY)
        emissions = self._shared_words(emissions, shares, smoothing.rare_words)
        rules = self._shared_rules(rules, shares.astype(np.float32), smoothing.rare_rules)
        totals = self._totals(rules, emissions)
        tensors = np.empty_like(rules)
        for a, start, end in zip(self.treebank.counts.rules[:, 0], self.starts[:-1], self.starts[1:], strict=True):
            m = self.n_states[a]
            tensors[start:end] = _distributions(rules[start:end].reshape(m, -1), totals[a, :m], smoothing.rules).ravel()
        tensors[tensors < _MIN_ENTRY] = 0.0
        starts = offsets(np.bincount(self.events.pairs[:, 0]))
        for a, (start, end) in enumerate(pairwise(starts)):
            emissions[start:end] = _distributions(emissions[start:end].T, totals[a], smoothing.words).T
        emissions = emissions * self.is_state[self.events.pairs[:, 0]]
        return Latent(self.n_states, roots / roots.sum(), tensors, self.starts, emissions)

    def _shared_words(self, emissions: np.ndarray, shares: np.ndarray, weight: float) -> np.ndarray:
        """Smooth counts of emissions: pseudo-tokens of each emission have the state distribution of its symbol.

        emissions (float64, (n_pairs, m)): The counts.
        shares (float64, (n_symbols, m)): Distribution over the states of each symbol.
        weight (float): Pseudo-tokens of each emission.
        """
        counts = emissions.sum(axis=1, keepdims=True)
        independent = counts * shares[self.events.pairs[:, 0]]
        return (counts * emissions + weight * independent) / np.maximum(counts + weight, _MIN_COUNT)

    def _shared_rules(self, rules: np.ndarray, shares: np.ndarray, weight: float) -> np.ndarray:
        """Smooth counts of rules towards rules whose three states are independent.

        rules (float32, (n_entries,)): The counts.
        shares (float32, (n_symbols, m)): Distribution over the states of each symbol.
        weight (float): Pseudo-occurrences of each rule; 0 returns `rules`.
        """
        if weight == 0:
            return rules
        shared = np.empty_like(rules)
        counts, m = self.treebank.counts, self.n_states
        for (a, b, c), n, start, end in zip(
            counts.rules, counts.rule_counts, self.starts[:-1], self.starts[1:], strict=True
        ):
            pairs = np.outer(shares[b, : m[b]], shares[c, : m[c]]).ravel()
            independent = np.outer(np.float32(n) * shares[a, : m[a]], pairs).ravel()
            trust = np.float32(n / (n + weight))
            shared[start:end] = trust * rules[start:end] + (1 - trust) * independent
        return shared

    def grammar(self, expected: Expected, smoothing: StateSmoothing) -> Grammar:
        """Build the grammar of expected counts; it emits more general signatures too, and so unknown words."""
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
        """Return the total count of each state over its rules and emissions, float64 (n_symbols, m)."""
        totals = np.zeros(self.is_state.shape)
        np.add.at(totals, self.events.pairs[:, 0], emissions)
        for a, start, end in zip(self.treebank.counts.rules[:, 0], self.starts[:-1], self.starts[1:], strict=True):
            totals[a, : self.n_states[a]] += rules[start:end].reshape(self.n_states[a], -1).sum(axis=1)
        return totals


_OF_TREEBANK = ("shards",)  # cached properties that do not depend on the numbers of states
_FLOOR = 1e-3  # occurrences
_MIN_COUNT = 1e-6  # of a state that counts as seen
_TINY = 1e-300  # in place of 0 as a divisor
_MIN_ENTRY = 1e-15  # of a tensor; smaller ones become 0, as denormal numbers are slow


def _distributions(counts: np.ndarray, totals: np.ndarray, share: float) -> np.ndarray:
    """Normalize counts, and interpolate each state's distribution with the states' mean; unseen states get the mean.

    counts (float, (m, k)): Counts of k outcomes in each state.
    totals (float64, (m,)): Count of each state over all outcomes, not only these k.
    share (float): Interpolation weight of the mean.
    """
    least = min(_MIN_COUNT, totals.max())  # counts of a symbol that many batches lack become small in all states
    seen = totals >= least
    rows = counts * np.where(seen, 1 / np.maximum(totals, least), 0.0).astype(counts.dtype)[:, None]
    shares = np.where(seen, share, 1.0).astype(counts.dtype)
    if not shares.any():
        return rows
    mean = rows.sum(axis=0) / seen.sum()
    return (1 - shares)[:, None] * rows + shares[:, None] * mean
