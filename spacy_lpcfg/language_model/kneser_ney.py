"""Interpolated Kneser-Ney n-gram models of any order.

Kneser and Ney (1995) in the interpolated form of Chen and Goodman (1998). Counts of the highest order are reduced by an
absolute discount; below it, instead of the count of an n-gram, the number of different words before it is discounted.
Each order has one discount or, in modified Kneser-Ney, three: for n-grams seen once, twice, and more often. The
unigrams back off to the uniform distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class _Order:
    """One order n of the model: discounted relative frequencies of n-grams, and the back-off weight of each context.

    beginnings (tuple of int64 (k_i,)): Codes of the distinct first i words of the n-grams, sorted, for i = 2, 3 ...
    grams (int64, (n,)), contexts (int64, (k,)): Codes of the n-grams and of their contexts, sorted; see `_codes`.
    shares (float64, (n,)): max(count - discount, 0) / total of the context.
    back_off (float64, (k,)): Sum of the discounts of the words after the context / total of the context.
    """

    beginnings: tuple[np.ndarray, ...]
    grams: np.ndarray
    shares: np.ndarray
    contexts: np.ndarray
    back_off: np.ndarray

    @classmethod
    def of(cls, grams: np.ndarray, counts: np.ndarray, n_words: int, *, is_modified: bool) -> _Order:
        """Estimate the discounted frequencies and the back-off weights of one order.

        grams (int, (n, order)): Distinct n-grams.
        counts (float64, (n,)): Count of each n-gram.
        n_words (int): Size of the vocabulary.
        is_modified (bool): Whether there are three discounts.
        """
        beginnings: tuple[np.ndarray, ...] = ()
        for i in range(2, grams.shape[1]):
            beginnings += (np.unique(_codes(grams[:, :i], n_words, beginnings)),)
        codes = _codes(grams, n_words, beginnings)
        order = np.argsort(codes)
        codes, counts = codes[order], counts[order]
        discounts = _discounts(counts, is_modified=is_modified)
        discount = discounts[np.minimum(counts, len(discounts)).astype(np.int64) - 1]
        contexts, context_of = np.unique(codes // n_words, return_inverse=True)
        totals = np.bincount(context_of, weights=counts)
        shares = np.maximum(counts - discount, 0.0) / totals[context_of]
        back_off = 1.0 - np.bincount(context_of, weights=shares)
        return cls(beginnings, codes, shares, contexts, back_off)

    def probabilities(self, grams: np.ndarray, lower: np.ndarray, n_words: int) -> np.ndarray:
        """Return the interpolated probability of the last word of each n-gram, float64 (n,).

        grams (int, (n, order)): The n-grams.
        lower (float64, (n,)): The probabilities of the next lower order, for the n-grams without their first word.
        n_words (int): Size of the vocabulary.
        """
        codes = _codes(grams, n_words, self.beginnings)
        return _look_up(self.grams, self.shares, codes, 0.0) + lower * _look_up(
            self.contexts, self.back_off, codes // n_words, 1.0
        )


class KneserNey:
    """An interpolated Kneser-Ney n-gram model.

    grams (int32, (n, at least order)): Distinct n-grams w1 w2 ...; only the last `order` words are used.
    counts (int, (n,)): Counts of the n-grams.
    n_words (int): Size of the vocabulary.
    order (int): Order of the model, at least 1.
    is_modified (bool): Whether each order has three discounts (modified Kneser-Ney, `kndiscount` of SRILM).
    RAISES (ValueError): If there are no n-grams, or 2^21 words or more, too many for 64-bit codes of trigrams.
    """

    def __init__(
        self, grams: np.ndarray, counts: np.ndarray, n_words: int, order: int, *, is_modified: bool = False
    ) -> None:
        if len(grams) == 0 or n_words**3 >= 2**63:
            raise ValueError(
                f"Expected n-grams, of fewer than {2**21} different words, but got {len(grams)} of {n_words} words. "
                "Take more text, or a larger `rare`, so that more words are unknown."
            )
        self.n_words = n_words
        grams, counts = _merged(grams[:, grams.shape[1] - order :], counts.astype(np.float64), n_words)
        self._orders = [_Order.of(grams, counts, n_words, is_modified=is_modified)]
        while grams.shape[1] > 1:
            grams, counts = _merged(grams[:, 1:], np.ones(len(grams)), n_words)
            self._orders.insert(0, _Order.of(grams, counts, n_words, is_modified=is_modified))

    def probabilities(self, grams: np.ndarray) -> np.ndarray:
        """Return p(last word | words before it) of n-grams, float64 (n,).

        grams (int, (n, at least order)): Word ids of the n-grams; only the last `order` words are used.
        """
        result = np.full(len(grams), 1.0 / self.n_words)
        for n, order in enumerate(self._orders, start=1):
            result = order.probabilities(grams[:, grams.shape[1] - n :], result, self.n_words)
        return result


def count_ngrams(grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count the distinct n-grams among the rows of an array.

    grams (int32, (n_rows, order)): An n-gram of word ids in each row.
    RETURNS (int32 (n, order), int32 (n,)): The distinct n-grams, and their counts.
    """
    n_words = int(grams.max(initial=0)) + 1
    grams, counts = _merged(grams, np.ones(len(grams)), n_words)
    return grams, counts.astype(np.int32)


def _merged(grams: np.ndarray, counts: np.ndarray, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    first, group_of = np.arange(len(grams)), np.zeros(len(grams), dtype=np.int64)
    for column in grams.T:
        _, first, group_of = np.unique(group_of.reshape(-1) * n_words + column, return_index=True, return_inverse=True)
    return grams[first], np.bincount(group_of.reshape(-1), weights=counts)


def _codes(grams: np.ndarray, n_words: int, beginnings: Sequence[np.ndarray]) -> np.ndarray:
    """Encode n-grams as int64 (n,) in lexicographic order; the code divided by `n_words` is the code of the context.

    beginnings (sequence of int64 (k_i,)): Codes of the known beginnings, as in `_Order`. A beginning of two or more
        words is replaced by its index among them, so that 64 bits are enough for any order; unknown beginnings share
        the next index.
    """
    codes = grams[:, 0].astype(np.int64)
    for i, column in enumerate(grams.T[1:]):
        if i > 0:
            indices = np.minimum(np.searchsorted(beginnings[i - 1], codes), len(beginnings[i - 1]) - 1)
            codes = np.where(beginnings[i - 1][indices] == codes, indices, len(beginnings[i - 1]))
        codes = codes * n_words + column
    return codes


def _look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray, otherwise: float) -> np.ndarray:
    """Return the values of the keys `wanted` in a table with sorted keys; `otherwise` for keys that it lacks."""
    indices = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[indices] == wanted, values[indices], otherwise)


def _discounts(counts: np.ndarray, *, is_modified: bool) -> np.ndarray:
    """Return the absolute discounts of n-grams seen once, twice, and so on; the last one is for all higher counts too.

    With `is_modified` there are three discounts (Chen and Goodman 1998), if n-grams of all counts from 1 to 4 exist.
    Otherwise there is one, n1 / (n1 + 2 n2) (Ney et al. 1994), where n1 n-grams are seen once and n2 twice; 0.5 if n1
    or n2 is 0.
    """
    n = [int(np.sum(counts == count)) for count in (1, 2, 3, 4)]
    single = n[0] / (n[0] + 2 * n[1]) if n[0] and n[1] else 0.5
    if not is_modified or not all(n):
        return np.array([single])
    discounts = [count - (count + 1) * single * n[count] / n[count - 1] for count in (1, 2, 3)]
    return np.clip(discounts, 0, None)  # which the estimates of few n-grams may be below
