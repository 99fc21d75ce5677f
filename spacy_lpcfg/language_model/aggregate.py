"""The aggregate Markov model of Saul and Pereira (1997), p(w2 | w1) = sum over h of r(h | w1) s(w2 | h), and its EM.

Section 8 of Cohen and Collins (2014). h is a latent state between the two words. Bigram counts are sparse: time and
memory grow with the number of different bigrams times the number of states, never with the square of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 1 << 21  # numbers in memory at a time while summing over states


@dataclass(frozen=True, eq=False)
class Bigrams:
    """Sparse bigram counts of a text.

    n_words (int): Size of the vocabulary.
    first, second (int32, (n_bigrams,)): Word ids w1 and w2 of the distinct bigrams, sorted by w1.
    counts (float64, (n_bigrams,)): Number of occurrences of each bigram, above 0.
    """

    n_words: int
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, pairs: np.ndarray, n_words: int) -> Bigrams:
        """Count the bigrams of a text.

        pairs (int32, (n, 2)): The word ids (w1, w2) of each pair of adjacent words.
        n_words (int): Size of the vocabulary.
        """
        from scipy import sparse  # imported late: it takes 0.1 s, and is not needed for using a learned model

        ones = np.ones(len(pairs))
        return cls.of_matrix(sparse.csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_words, n_words)))

    @classmethod
    def of_matrix(cls, matrix: sparse.csr_matrix) -> Bigrams:
        """Create bigrams from a matrix of counts or probabilities, (n_words, n_words), with a row for each w1."""
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        first = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
        return cls(matrix.shape[0], first, matrix.indices, matrix.data)

    def matrix(self, values: np.ndarray) -> sparse.csr_matrix:
        """Return a sparse matrix, (n_words, n_words), with a value at each bigram.

        values (float64, (n_bigrams,)): The value of each bigram.
        """
        from scipy import sparse

        starts = np.searchsorted(self.first, np.arange(self.n_words + 1))
        return sparse.csr_matrix((values, self.second, starts), shape=(self.n_words, self.n_words))


@dataclass(frozen=True, eq=False)
class Aggregate:
    """An aggregate Markov model: the probabilities of m latent states after each word, and of each word in each state.

    states (float, (n_words, m)): r(h | w1), the distribution of states after each word; rows sum to one.
    words (float, (n_words, m)): s(w2 | h), the distribution of words in each state; columns sum to one.
    """

    states: np.ndarray
    words: np.ndarray

    @property
    def n_states(self) -> int:
        return self.words.shape[1]

    def probabilities(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return p(w2 | w1) for pairs of words, float64 (n,).

        first, second (int, (n,)): Ids of w1 and w2.
        """
        result = np.empty(len(first))
        size = max(1, _BLOCK // self.n_states)
        for start in range(0, len(first), size):
            block = slice(start, start + size)
            result[block] = np.einsum("nh,nh->n", self.states[first[block]], self.words[second[block]])
        return result


def random_aggregate(bigrams: Bigrams, n_states: int, seed: int) -> Aggregate:
    """Return a model with random distributions, from which EM can start."""
    rng = np.random.default_rng(seed)
    states, words = rng.random((2, bigrams.n_words, n_states))
    return Aggregate(states / states.sum(axis=1, keepdims=True), words / words.sum(axis=0))


def em(bigrams: Bigrams, start: Aggregate) -> Iterator[tuple[Aggregate, float]]:
    """Yield the initial model, and then the model after each iteration of EM, without end.

    bigrams (Bigrams): Bigram counts of the text.
    start (Aggregate): The initial model.
    YIELDS (Aggregate, float): The model, and its log-likelihood in nats, which never falls. A word that is never the
        first of a bigram keeps its r(h | w1).
    """
    model = start
    while True:
        ratios, log_likelihood = _ratios(bigrams, model)
        yield model, log_likelihood
        states = _normalized_rows(model.states * (ratios @ model.words), model.states)
        words = _normalized_rows((model.words * (ratios.T @ model.states)).T, model.words.T).T
        model = Aggregate(states, words)


def fit_states(bigrams: Bigrams, words: np.ndarray, prior: np.ndarray, n_iterations: int) -> Aggregate:
    """Estimate r(h | w1) by EM with s(w2 | h) fixed, a concave problem (step 2 of section 8 of Cohen and Collins 2014).

    bigrams (Bigrams): Bigram counts of the text.
    words (float64, (n_words, m)): s(w2 | h), held fixed.
    prior (float64, (m,)): Initial r(h | w1), positive; words that are never the first of a bigram keep it.
    n_iterations (int): Number of EM iterations.
    """
    model = Aggregate(np.tile(prior, (bigrams.n_words, 1)), words)
    for _ in range(n_iterations):
        ratios, _ = _ratios(bigrams, model)
        model = Aggregate(_normalized_rows(model.states * (ratios @ words), model.states), words)
    return model


def _ratios(bigrams: Bigrams, model: Aggregate) -> tuple[sparse.csr_matrix, float]:
    """Return a sparse matrix of count / p(w2 | w1) at the bigrams, 0 where p is 0, and the log-likelihood in nats."""
    p = model.probabilities(bigrams.first, bigrams.second)
    possible = p > 0
    ratios = np.divide(bigrams.counts, p, out=np.zeros_like(p), where=possible)
    log_likelihood = float(bigrams.counts @ np.log(p)) if possible.all() else -np.inf
    return bigrams.matrix(ratios), log_likelihood


def _normalized_rows(weights: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Normalize rows to sum to one; rows of zeros are replaced with the same rows of `otherwise`."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), otherwise)
