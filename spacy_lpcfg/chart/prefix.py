"""Prefix probabilities of a latent grammar, and surprisal: how unexpected each word is after those before it.

The probability that a sentence begins with some words sums all trees over all ways to go on (Jelinek and Lafferty 1991,
"Computation of the probability of initial substring generation by stochastic context-free grammars"; Stolcke 1995).
Here it is over symbols with latent states, from left to right: O is how likely each state of each symbol begins at
a place as the right sibling of a constituent that ends there, and closing it over left corners, O (I - L)^-1, gives how
likely the next word begins a constituent of that symbol and state. L has the left children of each parent, summed over
all right siblings: chains of left children of any length are in the inverse. There are no unary rules, since chains are
collapsed to symbols.

Differs: right siblings count by the weight of all finite trees below them, which is 1 for a consistent grammar: so sums
are over sentences that end, for any grammar.
"""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._fine import FineGrammar
from spacy_lpcfg.chart._prefix import PrefixChart, RuleIndex, child_matrices
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.storage.reader import check_room

_ROUNDING = 1e-9  # of a step of Newton's method that should go up
_MATRICES = 7  # of float64 over the states of interminals and all states, that there are at once
_MOST_STEPS = 60  # of Newton's method, which needs about ten unless trees almost never end
_ENDLESS = (
    "Expected a grammar whose trees end, for sums over all ways to go on with a sentence; got one with states below "
    "which rules of probability 1 lead to the same states again, so that the sums have no limit. It can parse, and has "
    "posteriors and n-best trees; for surprisal and probabilities of words, learn one with fewer states."
)


class Prefixes:
    """Prefix probabilities under a proper grammar; any number of threads may share one.

    grammar (Grammar), fine (FineGrammar): the same one.
    threshold (float): constituents are left out whose posterior, given the words up to their end, is about less; 0 sums
        all, for exact numbers to the precision of float32. All probabilities are lower bounds otherwise.
    RAISES (TooLargeError): If matrices over all states of all symbols take more memory than is allowed.
    """

    def __init__(self, grammar: Grammar, fine: FineGrammar, *, threshold: float) -> None:
        n_states = int(grammar.state_offsets[-1])
        self._first = int(grammar.state_offsets[grammar.n_preterminals])  # state of an interminal
        n_bytes = _MATRICES * 8 * (n_states - self._first) * n_states
        check_room(n_bytes, what=f"Surprisal by a grammar of {n_states:,} states in all")
        self._grammar, self._fine, self._threshold = grammar, fine, threshold
        self._index = RuleIndex(grammar)
        self._states = grammar.state_offsets

    def log_probabilities(self, terminals: np.ndarray, tag_factors: np.ndarray) -> np.ndarray:
        """ln P(a sentence begins with the first k words), for k from 0 to n, and last ln P(the n words are a sentence).

        terminals (int32, (n,)), tag_factors (float64, (n, n_tags)): from the lexicon.
        RETURNS (float64, (n + 2,)): nats, falling from 0 but for rounding; -inf from where the grammar has no sentence
            that goes on so.
        RAISES (ValueError): If trees below some states of the grammar never end.
        """
        chart = PrefixChart(self._fine, self._index, self._grammar, self._threshold)
        shares: list[float] = []
        siblings = self._grammar.root_vectors.astype(np.float64)
        for terminal, factors in zip(terminals.tolist(), tag_factors, strict=True):
            chart.predict(self._closed(siblings))
            shares.append(max(chart.push(terminal, factors), 0.0))
            if shares[-1] <= 0:
                break
            siblings = chart.right_siblings()
        else:
            shares.append(chart.whole())
        shares += [0.0] * (len(terminals) + 1 - len(shares))
        with np.errstate(divide="ignore"):
            return np.concatenate([[0.0], np.cumsum(np.log(shares))])

    def _closed(self, siblings: np.ndarray) -> np.ndarray:
        """O (I - L)^-1 for O with right siblings counted, float64 (n_states in all,)."""
        closed = siblings[self._first :] @ self._chains
        closed[: self._first] += siblings[: self._first]
        return closed

    @cached_property
    def _chains(self) -> np.ndarray:
        """The rows of (I - L)^-1 that are not those of I, float64 (n_states of interminals, n_states in all).

        The inverse is the sum of all powers of L; L has no rows of preterminals. Read-only, for all threads.
        No solver is called for each word: SciPy's `lu_solve` writes to the pivots that it is given while it runs.
        """
        from threadpoolctl import threadpool_limits

        first = self._first
        with threadpool_limits(limits=1, user_api="blas"):  # sums are the same wherever it runs, and made sooner
            completions = self._completions
            left, _ = self._of_children(completions, np.ones(self._grammar.n_rules, dtype=bool))
            left[:, completions <= 0] = 0.0
            identity = np.eye(len(left))
            chains = _solve(identity - left[:, first:], np.hstack([left[:, :first], identity]))
        if chains.min(initial=0.0) < -_ROUNDING * chains.max(initial=1.0):
            raise ValueError(_ENDLESS)
        return read_only(chains)

    @cached_property
    def _completions(self) -> np.ndarray:
        """Weight of all finite trees below each state of each symbol, float64 (n_states in all,).

        The least solution of x = base + J x + Q(x, x) over the states of interminals, by Newton's method from 0
        (Etessami and Yannakakis 2009): `base` has the rules of two preterminals, J those of one, and Q those of none.
        Where parameters add up to more than 1, if only by rounding, there may be none: then at most 1, as for
        probabilities.
        """
        first, weights = self._first, self._emissions()
        is_inner = self._grammar.rules[:, 1:].min(axis=1) >= self._grammar.n_preterminals
        left, right = self._of_children(weights, ~is_inner)
        base, linear = left[:, :first] @ weights[:first], (left + right)[:, first:]
        found = weights[first:]  # zeros, that take what is found
        for _ in range(_MOST_STEPS):
            left, right = (each[:, first:] for each in self._of_children(weights, is_inner))
            lacking = base + (linear + left) @ found - found
            step = _solve(np.eye(len(found)) - linear - left - right, lacking)
            if step.min(initial=0.0) < -_ROUNDING:
                return np.minimum(weights, 1.0)
            found += np.maximum(step, 0.0)
            if step.max(initial=0.0) < 1e-12:
                break
        return weights

    def _emissions(self) -> np.ndarray:
        """Weight of all words below each state of each preterminal, 0 of interminals, float64 (n_states in all,)."""
        lexicon = self._grammar.lexicon
        per_row = lexicon.words_per_row(self._grammar.tag_of)
        per_row[np.isin(lexicon.row_terminals, lexicon.tag_terminals)] = 0.0
        sizes = np.diff(lexicon.vector_offsets)
        first = np.repeat(self._states[lexicon.symbols] - lexicon.vector_offsets[:-1], sizes)
        return np.bincount(
            first + np.arange(len(lexicon.vectors)), lexicon.vectors * np.repeat(per_row, sizes), self._states[-1]
        )

    def _of_children(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the states of left and of right children by some rules; see `child_matrices`.

        weights (float64, (n_states in all,)): of the states of the other child; chosen (bool, (n_rules,)): the rules.
        """
        rules = np.flatnonzero(chosen).astype(np.int32)
        return child_matrices(self._fine, self._grammar, rules, weights)


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a linear system; RAISES (ValueError): If the matrix is singular."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError as error:
        raise ValueError(_ENDLESS) from error
