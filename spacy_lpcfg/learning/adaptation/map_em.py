"""EM that goes on from a grammar: maximum a posteriori, with the grammar's own expected counts as Dirichlet priors.

The grammar stands for `strength` trees of its own (`prior.py`). In the M step the expected counts of the new trees are
added to theirs (Dempster, Laird and Rubin 1977, section 2; Gauvain and Lee 1994). So an infinite strength keeps the
grammar, and strength 0 is EM on the new trees alone, from the grammar as the start. Symbols, rules and emissions that
the grammar lacks have no prior: new symbols have one state, and the states in new rules and emissions of old symbols
are independent of them where counts are small, as `StateSmoothing` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import offsets, ranges
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import COUNT, at_least
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.adaptation.assembly import build_adapted
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.learning.latent.expectations import Expected, Latent, Shard
from spacy_lpcfg.learning.latent.statistics import StateSmoothing

_LEAST = 1e-6
"""The least strength, with which states that the new trees never have keep their parameters."""
_FLOOR = 1e-4
"""The share of the new trees' counts that the first parameters have where the grammar may have no probability."""
_MIN_ENTRY = 1e-15  # of a tensor; smaller ones become 0, as denormal numbers are slow
_SMOOTHING = StateSmoothing()


class Counts(NamedTuple):
    """Counts of the states of a grammar and of new trees, in the layout of `NewTrees`.

    roots (float64, (n_symbols, m)), rules (float32, (n_entries,)), words (float64, (n_pairs, m)): The counts.
    """

    roots: np.ndarray
    rules: np.ndarray
    words: np.ndarray

    def plus(self, other: Counts, weight: float) -> Counts:
        """Add other counts times a weight."""
        return Counts(*(mine + np.asarray(weight, mine.dtype) * more for mine, more in zip(self, other, strict=True)))


@dataclass(frozen=True, eq=False)
class PriorEM:
    """MAP-EM on new trees, for any strength of the prior."""

    prior: Prior
    new: NewTrees

    def fit(self, strength: float, n_iterations: int = 2) -> Grammar:
        """Return the grammar after some iterations of EM.

        strength (float): The number of trees that the grammar of the prior stands for.
        RAISES (ValueError): If a number is out of range.
        """
        at_least(0)(strength=strength)
        COUNT(n_iterations=n_iterations)
        latent = self.maximize(self.start())
        for _ in range(n_iterations):
            counts = self.expect(latent).plus(self.prior_counts, max(strength, _LEAST))
            latent = self.maximize(counts)
        return build_adapted(self.prior, self.new, latent, max(strength, _LEAST))

    @cached_property
    def shard(self) -> Shard:
        """The new trees."""
        return self.new.shard()

    @cached_property
    def prior_counts(self) -> Counts:
        """The expected counts of one tree of the grammar."""
        grammar, new, lexicon = self.prior.grammar, self.new, self.prior.grammar.lexicon
        visits = new.of_symbols(self.prior.states)
        m = int(new.n_states.max())
        roots, words = np.zeros((len(visits), m)), np.zeros((len(new.pairs), m))
        sizes = grammar.n_states[grammar.rules[:, 0]].astype(np.int64)
        of_rows = visits[new.symbols[np.repeat(grammar.rules[:, 0], sizes)], _within(sizes)]
        of_entries = np.repeat(of_rows, np.repeat(grammar.tensors.shapes[:, 1:].prod(axis=1), sizes))
        rules = np.zeros(new.starts[-1], dtype=np.float32)
        rules[new.old_entries] = grammar.tensors.dense * of_entries.astype(np.float32)
        roots[np.repeat(new.symbols, grammar.n_states), _within(grammar.n_states)] = grammar.root_vectors
        sizes = np.diff(lexicon.vector_offsets)[new.kept_rows]
        n_words = np.repeat(lexicon.words_per_row(grammar.tag_of)[new.kept_rows], sizes)
        vectors = lexicon.vectors[ranges(lexicon.vector_offsets[new.kept_rows], sizes)]
        words[np.repeat(new.of_row, sizes), _within(sizes)] = n_words * vectors
        words *= visits[new.pairs[:, 0]]
        return Counts(roots, rules, words)

    def start(self) -> Counts:
        """Return the counts of the first parameters: the grammar's, and of whatever else the new trees have."""
        roots, rules, words = self.independent
        counts = Counts(roots, rules, words + self.new.backoff[:, None] * self._one_state)
        return counts.plus(self.prior_counts, len(self.new.nodes.roots))

    def expect(self, latent: Latent) -> Counts:
        """Return the expected counts of the new trees; those that the grammar lacks are smoothed."""
        expected: Expected = self.shard.expect(latent)
        independent, counts = self.independent, self.new.counts.rule_counts
        trust = (counts / (counts + _SMOOTHING.rare_rules)).astype(np.float32)
        trust = np.repeat(np.where(self.lacks_rule, trust, 1), np.diff(self.new.starts))
        rules = trust * expected.rules + (1 - trust) * independent.rules
        n = expected.words.sum(axis=1, keepdims=True)
        of_words = np.where(self.lacks_pair[:, None], n / (n + _SMOOTHING.rare_words), 1.0)
        words = of_words * expected.words + (1 - of_words) * independent.words
        return Counts(expected.roots, rules, words + self.new.backoff[:, None] * self._one_state)

    def maximize(self, counts: Counts) -> Latent:
        """Return the relative frequencies of counts."""
        new, m = self.new, counts.roots.shape[1]
        lhs = new.counts.rules[:, 0]
        sizes = new.n_states[lhs].astype(np.int64)
        states = np.repeat(lhs.astype(np.int64) * m, sizes) + _within(sizes)
        row_sizes = np.repeat(new.shapes[:, 1:].prod(axis=1), sizes)
        row_sums = np.add.reduceat(counts.rules, offsets(row_sizes)[:-1], dtype=np.float64) if len(lhs) else np.zeros(0)
        totals = np.bincount(states, row_sums, len(new.n_states) * m).reshape(-1, m)
        np.add.at(totals, new.pairs[:, 0], counts.words)
        inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        tensors = counts.rules * np.repeat(inverse.ravel()[states], row_sizes).astype(np.float32)
        tensors[tensors < _MIN_ENTRY] = 0.0
        roots, emissions = counts.roots / counts.roots.sum(), counts.words * inverse[new.pairs[:, 0]]
        return Latent(new.n_states, roots, tensors, new.starts, emissions)

    @cached_property
    def lacks_rule(self) -> np.ndarray:
        """Whether each rule is new, bool (n_rules,)."""
        return ~np.isin(np.arange(len(self.new.counts.rules)), self.new.rules)

    @cached_property
    def lacks_pair(self) -> np.ndarray:
        """Whether each emission is new, bool (n_pairs,)."""
        return ~np.isin(np.arange(len(self.new.pairs)), self.new.of_row)

    @cached_property
    def independent(self) -> Counts:
        """Counts of the new trees, with states that are independent of each other.

        Of what the grammar has, there is next to nothing: enough for every new tree to have a probability.
        """
        new, prior = self.new, self.prior_counts
        shares, m = self.state_shares, new.n_states
        has_root = prior.roots.sum(axis=1) > 0
        roots = (new.counts.roots * np.where(has_root, _FLOOR, 1.0))[:, None] * shares
        rule_counts = new.counts.rule_counts * np.where(self.lacks_rule, 1.0, _FLOOR)
        rules = np.zeros_like(prior.rules)
        starts = new.starts
        for rule in np.flatnonzero(rule_counts).tolist():
            a, b, c = new.counts.rules[rule]
            pairs = np.outer(shares[b, : m[b]], shares[c, : m[c]]).ravel()
            block = rule_counts[rule] * np.outer(shares[a, : m[a]], pairs)
            rules[starts[rule] : starts[rule + 1]] = block.ravel()
        n = np.bincount(new.of_leaf, minlength=len(new.pairs)) * np.where(self.lacks_pair, 1.0, _FLOOR)
        return Counts(roots, rules, n[:, None] * shares[new.pairs[:, 0]])

    @cached_property
    def state_shares(self) -> np.ndarray:
        """P(h | a), float64 (n_symbols, m)."""
        shares = np.zeros_like(self.prior_counts.roots)
        shares[:, 0] = 1.0
        old = self.prior.state_shares
        shares[self.new.symbols] = 0.0
        shares[self.new.symbols, : old.shape[1]] = old
        return shares

    @cached_property
    def _one_state(self) -> np.ndarray:
        """1 for the first state and 0 for the others, float64 (m,)."""
        return np.eye(1, int(self.new.n_states.max()))[0]


def _within(sizes: np.ndarray) -> np.ndarray:
    """Return 0, 1, ..., size - 1 for each size, int64 (sum of sizes,)."""
    return ranges(np.zeros(len(sizes), np.int64), sizes)
