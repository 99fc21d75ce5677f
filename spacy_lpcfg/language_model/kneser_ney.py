"""Interpolated Kneser-Ney models of any order.

Kneser and Ney (1995) in the interpolated form of Chen and Goodman (1998), with one discount an order: absolute
discounting of the highest order, and below it of the number of different words that a word follows. The unigrams back
off to the uniform distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class _Order:
    """Discounted counts of one order, and the share of each context that goes to the order below.

    beginnings (tuple of int64 (k_i,)): numbers of the different first i words of the n-grams, sorted, for i = 2, 3 ...
    grams (int64, (n,)), contexts (int64, (k,)): as numbers, sorted; see `_numbers`.
    shares (float64, (n,)): max(count - discount, 0) / total of the context.
    back_off (float64, (k,)): discount * different words after the context / its total.
    """

    beginnings: tuple[np.ndarray, ...]
    grams: np.ndarray
    shares: np.ndarray
    contexts: np.ndarray
    back_off: np.ndarray

    @classmethod
    def of(cls, grams: np.ndarray, counts: np.ndarray, n_words: int) -> _Order:
        """grams (int, (n, order)): each once, with its count (float64, (n,))."""
        beginnings: tuple[np.ndarray, ...] = ()
        for i in range(2, grams.shape[1]):
            beginnings += (np.unique(_numbers(grams[:, :i], n_words, beginnings)),)
        numbers = _numbers(grams, n_words, beginnings)
        order = np.argsort(numbers)
        numbers, counts = numbers[order], counts[order]
        discount = _discount(counts)
        contexts, of = np.unique(numbers // n_words, return_inverse=True)
        totals = np.bincount(of, weights=counts)
        shares = np.maximum(counts - discount, 0.0) / totals[of]
        back_off = 1.0 - np.bincount(of, weights=shares)
        return cls(beginnings, numbers, shares, contexts, back_off)

    def probabilities(self, grams: np.ndarray, lower: np.ndarray, n_words: int) -> np.ndarray:
        """Of n-grams (int, (n, order)), given those of the order below."""
        numbers = _numbers(grams, n_words, self.beginnings)
        return _look_up(self.grams, self.shares, numbers, 0.0) + lower * _look_up(
            self.contexts, self.back_off, numbers // n_words, 1.0
        )


class KneserNey:
    """An n-gram model.

    grams (int32, (n, at least order)): w1 w2 ..., each once; counts (int, (n,)): how often each was seen.
    n_words (int): size of the vocabulary.
    order (int): at least 1.
    RAISES (ValueError): If there are no n-grams, or so many words that 64 bits do not number trigrams.
    """

    def __init__(self, grams: np.ndarray, counts: np.ndarray, n_words: int, order: int) -> None:
        if len(grams) == 0 or n_words**3 >= 2**63:
            raise ValueError(
                f"Expected n-grams, of fewer than {2**21} different words, but got {len(grams)} of {n_words} words. "
                "Take more text, or call more of its words rare."
            )
        self.n_words = n_words
        grams, counts = _merged(grams[:, grams.shape[1] - order :], counts.astype(np.float64), n_words)
        self._orders = [_Order.of(grams, counts, n_words)]
        while grams.shape[1] > 1:
            grams, counts = _merged(grams[:, 1:], np.ones(len(grams)), n_words)
            self._orders.insert(0, _Order.of(grams, counts, n_words))

    def probabilities(self, grams: np.ndarray) -> np.ndarray:
        """p(last word | those before it) of n-grams (int, (n, at least order)), float64 (n,)."""
        found = np.full(len(grams), 1.0 / self.n_words)
        for n, order in enumerate(self._orders, start=1):
            found = order.probabilities(grams[:, grams.shape[1] - n :], found, self.n_words)
        return found


def count_ngrams(grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different n-grams of those in rows, int32 (n, order), and how often each was seen, int32 (n,)."""
    n_words = int(grams.max(initial=0)) + 1
    grams, counts = _merged(grams, np.ones(len(grams)), n_words)
    return grams, counts.astype(np.int32)


def _merged(grams: np.ndarray, counts: np.ndarray, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Each n-gram once, with the sum of its counts."""
    first, of = np.arange(len(grams)), np.zeros(len(grams), dtype=np.int64)
    for column in grams.T:
        _, first, of = np.unique(of.reshape(-1) * n_words + column, return_index=True, return_inverse=True)
    return grams[first], np.bincount(of.reshape(-1), weights=counts)


def _numbers(grams: np.ndarray, n_words: int, beginnings: Sequence[np.ndarray]) -> np.ndarray:
    """N-grams as numbers, int64 (n,), which the quotient by n_words, the context's number, sorts as their words do.

    beginnings (sequence of int64 (k_i,)): as in `_Order`. A longer beginning has its place among them as its number, so
        that 64 bits are enough for any order, and one that is not among them a number that no other has.
    """
    numbers = grams[:, 0].astype(np.int64)
    for i, column in enumerate(grams.T[1:]):
        if i > 0:
            places = np.minimum(np.searchsorted(beginnings[i - 1], numbers), len(beginnings[i - 1]) - 1)
            numbers = np.where(beginnings[i - 1][places] == numbers, places, len(beginnings[i - 1]))
        numbers = numbers * n_words + column
    return numbers


def _look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray, otherwise: float) -> np.ndarray:
    """Values of wanted keys among sorted ones, and `otherwise` of those that are missing."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], otherwise)


def _discount(counts: np.ndarray) -> float:
    """n1 / (n1 + 2 n2) of Ney et al. (1994), and a half where that says nothing."""
    once, twice = int(np.sum(counts == 1)), int(np.sum(counts == 2))
    return once / (once + 2 * twice) if once and twice else 0.5
