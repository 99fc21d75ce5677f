"""Interpolated Kneser-Ney models of any order up to three.

Kneser and Ney (1995) in the interpolated form of Chen and Goodman (1998), with one discount an order: absolute
discounting of the highest order, and below it of the number of different words that a word follows. The unigrams back
off to the uniform distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class _Order:
    """Discounted counts of one order, and the share of each context that goes to the order below.

    width (int): words of a context, and base - 1 of the numbers that stand for n-grams.
    grams (int64, (n,)), contexts (int64, (k,)): as numbers, sorted.
    shares (float64, (n,)): max(count - discount, 0) / total of the context.
    back_off (float64, (k,)): discount * different words after the context / its total.
    """

    width: int
    grams: np.ndarray
    shares: np.ndarray
    contexts: np.ndarray
    back_off: np.ndarray

    @classmethod
    def of(cls, grams: np.ndarray, counts: np.ndarray, n_words: int) -> _Order:
        """grams (int, (n, width + 1)): each once, with its count (float64, (n,))."""
        numbers = _numbers(grams, n_words)
        order = np.argsort(numbers)
        numbers, counts = numbers[order], counts[order]
        discount = _discount(counts)
        contexts, of = np.unique(numbers // n_words, return_inverse=True)
        totals = np.bincount(of, weights=counts)
        shares = np.maximum(counts - discount, 0.0) / totals[of]
        back_off = 1.0 - np.bincount(of, weights=shares)
        return cls(grams.shape[1] - 1, numbers, shares, contexts, back_off)

    def probabilities(self, grams: np.ndarray, lower: np.ndarray, n_words: int) -> np.ndarray:
        """Of n-grams (int, (n, at least width + 1)), given those of the order below."""
        numbers = _numbers(grams[:, -self.width - 1 :], n_words)
        return _look_up(self.grams, self.shares, numbers, 0.0) + lower * _look_up(
            self.contexts, self.back_off, numbers // n_words, 1.0
        )


class KneserNey:
    """An n-gram model.

    trigrams (int32, (n, 3)): w1 w2 w3, each once; counts (int, (n,)): how often each was seen.
    n_words (int): size of the vocabulary.
    order (int): 1, 2 or 3.
    RAISES (ValueError): If there are no trigrams, or so many words that 64 bits do not number the n-grams.
    """

    def __init__(self, trigrams: np.ndarray, counts: np.ndarray, n_words: int, order: int) -> None:
        if len(trigrams) == 0 or n_words**order >= 2**63:
            raise ValueError(
                f"Expected trigrams, of fewer than {2 ** (63 / order):.0f} different words, but got {len(trigrams)} of "
                f"{n_words} words. Take more text, or call more of its words rare."
            )
        self.n_words = n_words
        grams, counts = _merged(trigrams[:, 3 - order :], counts.astype(np.float64), n_words)
        self._orders = [_Order.of(grams, counts, n_words)]
        while grams.shape[1] > 1:
            grams, counts = _merged(grams[:, 1:], np.ones(len(grams)), n_words)
            self._orders.insert(0, _Order.of(grams, counts, n_words))

    def probabilities(self, trigrams: np.ndarray) -> np.ndarray:
        """p(w3 | w1 w2) of trigrams (int, (n, 3)), float64 (n,)."""
        found = np.full(len(trigrams), 1.0 / self.n_words)
        for order in self._orders:
            found = order.probabilities(trigrams, found, self.n_words)
        return found


def count_trigrams(trigrams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different trigrams, int32 (n, 3), and how often each was seen, int32 (n,)."""
    n_words = int(trigrams.max(initial=0)) + 1
    grams, counts = _merged(trigrams, np.ones(len(trigrams)), n_words)
    return grams, counts.astype(np.int32)


def _merged(grams: np.ndarray, counts: np.ndarray, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Each n-gram once, with the sum of its counts."""
    _, first, of = np.unique(_numbers(grams, n_words), return_index=True, return_inverse=True)
    return grams[first], np.bincount(of.reshape(-1), weights=counts)


def _numbers(grams: np.ndarray, n_words: int) -> np.ndarray:
    """N-grams as numbers with a digit a word, int64 (n,); the quotient by n_words is the context's number."""
    numbers = np.zeros(len(grams), dtype=np.int64)
    for column in grams.T:
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
