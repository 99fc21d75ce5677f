"""Surprisal under a latent grammar, from its prefix probabilities.

The prefix probability of some words is the probability that a sentence begins with them, summed over all trees
of all continuations (Jelinek and Lafferty 1991, "Computation of the probability of initial substring generation
by stochastic context-free grammars"; Stolcke 1995). Here it is computed from left to right. The rows and
columns of the matrices are symbols with their latent states:

- O (a row vector): the weight of each symbol and state as the right sibling of a constituent that ends at a
  position.
- L: the left-corner relation, from each parent to its left child, summed over all right siblings.
- O (I - L)^-1: the weights of the constituents that begin with the next word. The inverse sums over
  left-branching chains of any length.

There are no unary rules, since unary chains are collapsed to symbols.

Differs: right siblings are weighted by the total probability of all finite trees below them, which is 1 for a
consistent grammar, so that the sums are over finite sentences for any grammar.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._fine import FineGrammar
from spacy_lpcfg.chart._prefix import PrefixChart, RuleIndex, child_matrices
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.storage.reader import check_room

_ROUNDING = 1e-9  # tolerance for steps of Newton's method, which should not be negative
_MATRICES = 7  # float64 matrices over (states of interminals, all states) in memory at once
_MOST_STEPS = 60  # of Newton's method, which needs about ten unless the grammar is nearly inconsistent
_ENDLESS = (
    "Expected a grammar whose trees end, for sums over all ways to go on with a sentence; got one with states below "
    "which rules of probability 1 lead to the same states again, so that the sums have no limit. It can parse, and has "
    "posteriors and n-best trees; for surprisal and probabilities of words, learn one with fewer states."
)


class Prefixes:
    """Surprisal and probabilities of words under a proper grammar; may be shared by threads.

    grammar (Grammar): A proper grammar.
    fine (FineGrammar): The latent tables of the grammar.
    threshold (float): Constituents with a lower approximate posterior, given the words up to their end, are pruned.
        At 0 the probabilities are exact to float32 precision, otherwise they are lower bounds.
    RAISES (TooLargeError): If matrices over all states of all symbols take more memory than is allowed.
    """

    def __init__(self, grammar: Grammar, fine: FineGrammar, *, threshold: float) -> None:
        n_states = int(grammar.state_offsets[-1])
        self._first = int(grammar.state_offsets[grammar.n_preterminals])  # first state of an interminal
        n_bytes = _MATRICES * 8 * (n_states - self._first) * n_states
        check_room(n_bytes, what=f"Surprisal by a grammar of {n_states:,} states in all")
        self._grammar, self._fine, self._threshold = grammar, fine, threshold
        self._index = RuleIndex(grammar)
        self._states = grammar.state_offsets

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Return the surprisal of each word given the words before it, and of the end of the sentence.

        words (sequence of str): At least one, in treebank spelling. An unknown word has the surprisal of its signature.
        RETURNS (float64, (n_words + 1,)): -log2 P(word | words before) in bits, and finally the surprisal of the end.
            Values are never negative and sum to -log2 P(sentence): exactly with the threshold 0, otherwise they are
            larger by thousandths of a bit. If no sentence of the grammar begins with the words up to some word, values
            are inf from that word on.
        RAISES (ValueError): If trees below some states of the grammar never end.
        """
        with np.errstate(invalid="ignore"):
            bits = -np.diff(self.log_probabilities(*self._grammar.lexicon.look_up(words))) / np.log(2)
        return np.where(np.isnan(bits), np.inf, np.maximum(bits, 0.0))

    def log_probability(self, words: Sequence[str]) -> float:
        """Return ln P(words) in nats; -inf if the grammar has no tree for the words.

        It is exact with the threshold 0, otherwise a lower bound.

        words (sequence of str): At least one, in treebank spelling.
        RAISES (ValueError): If trees below some states of the grammar never end.
        """
        return float(self.log_probabilities(*self._grammar.lexicon.look_up(words))[-1])

    def log_probabilities(self, terminals: np.ndarray, tag_factors: np.ndarray) -> np.ndarray:
        """Return the log-probability of each prefix of a sentence, and of the whole sentence.

        terminals (int32, (n,)): The id of each word's terminal, from `Lexicon.look_up`.
        tag_factors (float64, (n, n_tags)): The factor of each word under each tag, from `Lexicon.look_up`.
        RETURNS (float64, (n + 2,)): In nats, ln P(a sentence begins with the first k words) for k from 0 to n, and
            finally ln P(the n words are a sentence). Values begin with 0 and do not rise but for rounding. If no
            sentence of the grammar begins with the first k words, values are -inf from index k on.
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
        """Return the left-corner closure O (I - L)^-1 of right siblings O, float64 (n_states in all,)."""
        closed = siblings[self._first :] @ self._left_corner_closure
        closed[: self._first] += siblings[: self._first]
        return closed

    @cached_property
    def _left_corner_closure(self) -> np.ndarray:
        """The rows of (I - L)^-1 for interminals, float64 (n_states of interminals, n_states in all).

        Interminals are symbols over two children. The inverse is the sum of all powers of L; the rows of preterminals
        are those of I. It is computed once and read-only, since SciPy's `lu_solve`, called for each word, would write
        to its arguments and not be thread-safe.
        """
        from threadpoolctl import threadpool_limits

        first = self._first
        with threadpool_limits(limits=1, user_api="blas"):  # reproducible on any machine, and faster
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
        """The total weight of all finite trees below each state of each symbol, float64 (n_states in all,).

        This is the least solution of x = base + J x + Q(x, x) over the states of interminals (symbols over two
        children), computed by Newton's method from 0 (Etessami and Yannakakis 2009). Rules with two preterminals are in
        `base`, rules with one in J, and rules without any in Q. If parameters sum to more than 1, even by rounding,
        there may be no solution; then the weights are clipped to 1.
        """
        first, weights = self._first, self._emissions()
        is_inner = self._grammar.rules[:, 1:].min(axis=1) >= self._grammar.n_preterminals
        left, right = self._of_children(weights, ~is_inner)
        base, linear = left[:, :first] @ weights[:first], (left + right)[:, first:]
        solution = weights[first:]  # a view, initially zero, that is updated in place
        for _ in range(_MOST_STEPS):
            left, right = (matrix[:, first:] for matrix in self._of_children(weights, is_inner))
            residual = base + (linear + left) @ solution - solution
            step = _solve(np.eye(len(solution)) - linear - left - right, residual)
            if step.min(initial=0.0) < -_ROUNDING:
                return np.minimum(weights, 1.0)
            solution += np.maximum(step, 0.0)
            if step.max(initial=0.0) < 1e-12:
                break
        return weights

    def _emissions(self) -> np.ndarray:
        """Return the total weight of all words below each state of each symbol; 0 for symbols over two children."""
        lexicon = self._grammar.lexicon
        per_row = lexicon.words_per_row(self._grammar.tag_of)
        per_row[np.isin(lexicon.row_terminals, lexicon.tag_terminals)] = 0.0
        sizes = np.diff(lexicon.vector_offsets)
        first = np.repeat(self._states[lexicon.symbols] - lexicon.vector_offsets[:-1], sizes)
        return np.bincount(
            first + np.arange(len(lexicon.vectors)), lexicon.vectors * np.repeat(per_row, sizes), self._states[-1]
        )

    def _of_children(self, weights: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices of left and of right children under a set of rules; see `child_matrices`.

        weights (float64, (n_states in all,)): Weights of the states of the other child.
        mask (bool, (n_rules,)): Whether each rule is in the set.
        """
        rules = np.flatnonzero(mask).astype(np.int32)
        return child_matrices(self._fine, self._grammar, rules, weights)


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a linear system.

    RAISES (ValueError): If the matrix is singular.
    """
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError as error:
        raise ValueError(_ENDLESS) from error
