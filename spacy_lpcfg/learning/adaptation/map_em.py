"""MAP-EM (EM with a prior) that adapts a grammar to new trees; the prior is the grammar's own expected counts.

The grammar counts as `strength` trees drawn from it (`prior.py`). The M step adds their expected counts to the expected
counts of the new trees (Dempster, Laird and Rubin 1977, section 2; Gauvain and Lee 1994), as Dirichlet priors do. With
a strength towards infinity the grammar stays as it is; strength 0 is EM on the new trees alone, from the grammar as its
start. Symbols, rules and emissions that the grammar lacks have no prior. New symbols have one state. In new rules and
emissions with small counts, the states of old symbols are smoothed towards independence, as by `StateSmoothing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import offsets, ranges
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import at_least
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.adaptation.assembly import build_adapted
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.learning.latent.expectations import Latent, Shard
from spacy_lpcfg.learning.latent.statistics import StateSmoothing

_LEAST = 1e-6
"""The least strength, with which states that the new trees never have keep their parameters."""
_FLOOR = 1e-4
"""The share of the new trees' counts that the first parameters have where the grammar may have no probability."""
_MIN_ENTRY = 1e-15  # of a tensor; smaller ones become 0, as denormal numbers are slow
_SMOOTHING = StateSmoothing()
_N_ITERATIONS = 2


class StateCounts(NamedTuple):
    """Expected counts of states, in the layout of `NewTrees`: from trees of the old grammar, or from the new trees.

    roots (float64, (n_symbols, m)): Counts of roots.
    rules (float32, (n_entries,)): Counts of the entries of the rules' tensors.
    words (float64, (n_pairs, m)): Counts of emissions.
    """

    roots: np.ndarray
    rules: np.ndarray
    words: np.ndarray

    def plus(self, other: StateCounts, weight: float) -> StateCounts:
        """Return the counts `self + weight * other`."""
        pairs = zip(self, other, strict=True)
        return StateCounts(*(mine + np.asarray(weight, mine.dtype) * others for mine, others in pairs))


@dataclass(frozen=True, eq=False)
class PriorEM:
    """MAP-EM on new trees; `fit` can be called for several strengths of the prior.

    prior (Prior): The grammar to adapt, with its expected counts.
    new (NewTrees): The new trees.
    """

    prior: Prior
    new: NewTrees

    def fit(self, strength: float) -> Grammar:
        """Return the adapted grammar after `_N_ITERATIONS` iterations of MAP-EM.

        strength (float): The number of trees that the old grammar counts as; values below 1e-6 are raised to it.
        RAISES (ValueError): If the strength is negative or not finite.
        """
        at_least(0)(strength=strength)
        latent = self.maximize(self.start())
        for _ in range(_N_ITERATIONS):
            counts = self.expect(latent).plus(self.prior_counts, max(strength, _LEAST))
            latent = self.maximize(counts)
        return build_adapted(self.prior, self.new, latent, max(strength, _LEAST))

    # Steps

    def start(self) -> StateCounts:
        """Return the initial counts, from which the first M step computes the parameters.

        They are the expected counts of as many trees of the old grammar as there are new trees, and two kinds of
        back-off: the counts `independent`, which give every new tree a positive probability, and the pseudo-tokens
        with which new symbols emit unknown words (`Emitted.backoff`).
        """
        return self._with_backoff(self.independent).plus(self.prior_counts, len(self.new.nodes.roots))

    def expect(self, latent: Latent) -> StateCounts:
        """Return the expected counts of the new trees, with smoothed states in new rules and emissions (E step)."""
        expected, independent, new = self.shard.expect(latent), self.independent, self.new
        counts = new.counts.rule_counts
        trust = np.where(new.is_new_rule, counts / (counts + _SMOOTHING.rare_rules), 1).astype(np.float32)
        trust = np.repeat(trust, np.diff(new.layout.starts))
        n = expected.words.sum(axis=1, keepdims=True)
        trust_words = np.where(new.is_new_pair[:, None], n / (n + _SMOOTHING.rare_words), 1.0)
        return self._with_backoff(
            StateCounts(
                expected.roots,
                trust * expected.rules + (1 - trust) * independent.rules,
                trust_words * expected.words + (1 - trust_words) * independent.words,
            )
        )

    def maximize(self, counts: StateCounts) -> Latent:
        """Return the latent parameters, which are the relative frequencies of the counts (M step)."""
        layout, m = self.new.layout, self.new.layout.width
        lhs = layout.rules[:, 0]
        sizes = layout.n_states[lhs].astype(np.int64)
        states = np.repeat(lhs.astype(np.int64) * m, sizes) + _within(sizes)
        row_sizes = np.repeat(layout.shapes[:, 1:].prod(axis=1), sizes)
        row_sums = np.add.reduceat(counts.rules, offsets(row_sizes)[:-1], dtype=np.float64) if len(lhs) else np.zeros(0)
        totals = np.bincount(states, row_sums, len(layout.n_states) * m).reshape(-1, m)
        totals = totals.astype(np.float64)  # as the counts of no rules are integers
        np.add.at(totals, layout.pairs[:, 0], counts.words)
        inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        tensors = counts.rules * np.repeat(inverse.ravel()[states], row_sizes).astype(np.float32)
        tensors[tensors < _MIN_ENTRY] = 0.0
        roots, emissions = counts.roots / counts.roots.sum(), counts.words * inverse[layout.pairs[:, 0]]
        return Latent(layout.n_states, roots, tensors, layout.starts, emissions)

    def _with_backoff(self, counts: StateCounts) -> StateCounts:
        """Return the counts plus the pseudo-tokens that let new symbols (of one state) emit unknown words."""
        words = counts.words.copy()
        words[:, 0] += self.new.emitted.backoff
        return counts._replace(words=words)

    # Counts of which the steps are made

    @cached_property
    def shard(self) -> Shard:
        """The new trees, in the form that the E step reads."""
        return self.new.shard()

    @cached_property
    def prior_counts(self) -> StateCounts:
        """The expected counts of one tree drawn from the old grammar."""
        grammar, layout, old = self.prior.grammar, self.new.layout, self.new.inherited
        visits = self.new.of_symbols(self.prior.states)
        roots = np.zeros_like(visits)
        roots[np.repeat(old.symbols, grammar.n_states), _within(grammar.n_states)] = grammar.root_vectors
        lhs = grammar.rules[:, 0]
        sizes = grammar.n_states[lhs].astype(np.int64)
        of_states = visits[old.symbols[np.repeat(lhs, sizes)], _within(sizes)]
        of_entries = np.repeat(of_states, np.repeat(grammar.tensors.shapes[:, 1:].prod(axis=1), sizes))
        rules = np.zeros(layout.starts[-1], dtype=np.float32)
        entries = ranges(layout.starts[old.rules], grammar.tensors.sizes)
        rules[entries] = grammar.tensors.dense * of_entries.astype(np.float32)
        return StateCounts(roots, rules, self._prior_words(visits))

    def _prior_words(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected counts of emissions in one tree of the old grammar, float64 (n_pairs, m).

        visits (float64, (n_symbols, m)): Expected counts of states.
        """
        grammar, layout, old = self.prior.grammar, self.new.layout, self.new.inherited
        lexicon = grammar.lexicon
        sizes = np.diff(lexicon.vector_offsets)[old.rows]
        per_row = np.repeat(lexicon.words_per_row(grammar.tag_of)[old.rows], sizes)
        vectors = lexicon.vectors[ranges(lexicon.vector_offsets[old.rows], sizes)]
        words = np.zeros((len(layout.pairs), layout.width))
        words[np.repeat(old.pairs, sizes), _within(sizes)] = per_row * vectors
        return words * visits[layout.pairs[:, 0]]

    @cached_property
    def independent(self) -> StateCounts:
        """Counts of the new trees in which the states of a rule's symbols, or of a word's symbol, are independent.

        States are distributed as in `state_shares`. Counts of roots, rules and emissions that the old grammar has are
        multiplied by `_FLOOR`, just enough to give every new tree a positive probability.
        """
        new, layout, shares = self.new, self.new.layout, self.state_shares
        has_root = self.prior_counts.roots.sum(axis=1) > 0
        roots = (new.counts.roots * np.where(has_root, _FLOOR, 1.0))[:, None] * shares
        rule_counts = new.counts.rule_counts * np.where(new.is_new_rule, 1.0, _FLOOR)
        rules = np.zeros(layout.starts[-1], dtype=np.float32)
        for rule in np.flatnonzero(rule_counts).tolist():
            a, b, c = (shares[symbol, :m] for symbol, m in zip(layout.rules[rule], layout.shapes[rule], strict=True))
            block = rule_counts[rule] * np.outer(a, np.outer(b, c).ravel())
            rules[layout.starts[rule] : layout.starts[rule + 1]] = block.ravel()
        tokens = new.tokens * np.where(new.is_new_pair, 1.0, _FLOOR)
        return StateCounts(roots, rules, tokens[:, None] * shares[layout.pairs[:, 0]])

    @cached_property
    def state_shares(self) -> np.ndarray:
        """P(h | a) under the prior, float64 (n_symbols, m); 1 for the only state of each new symbol."""
        shares = self.new.of_symbols(self.prior.state_shares)
        is_new = np.ones(len(shares), dtype=bool)
        is_new[self.new.inherited.symbols] = False
        shares[is_new, 0] = 1.0
        return shares


def _within(sizes: np.ndarray) -> np.ndarray:
    """Return the concatenation of `arange(size)` for each size, int64 (sum of sizes,)."""
    return ranges(np.zeros(len(sizes), np.int64), sizes)
