"""Simple PCFGs, and their expected counts over all trees of sentences with weighted spans (inside-outside).

A state A of a simple PCFG chooses its left and its right child independently: A -> B C has the probability
left(B | A) right(C | A), where B and C are states or words (Liu, Yang, Kim and Tu 2023, "Simple hardware-efficient
PCFGs with independent left and right productions"; their states that emit words are left out here). So the inside
values of a span are sums of products of vectors over its splits, in O(n^3 m + n^2 m^2) for n words and m states.

Every span has a weight, by which each tree with that span is multiplied. With weights of 0 and 1 this is the algorithm
of Pereira and Schabes (1992) for partly bracketed text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SimplePCFG(NamedTuple):
    """Probabilities of a simple PCFG with m states and v words.

    root (float64, (m,)): Probability of each state over a whole sentence.
    left, right (float64, (m, m + v)): Probabilities of each state's left and right child: the states, then the words.
    """

    root: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def random(cls, n_states: int, word_counts: np.ndarray, seed: int, noise: float = 0.3) -> SimplePCFG:
        """Draw a grammar near the one whose children are states half the time, and words by their frequency otherwise.

        word_counts (float64, (v,)): Counts of the words, not all of them 0.
        noise (float): Standard deviation of the logarithm of each probability before normalization.
        """
        draw = np.random.default_rng(seed)
        mean = np.concatenate([np.full(n_states, 0.5 / n_states), 0.5 * word_counts / word_counts.sum()])
        left, right = (mean * np.exp(draw.normal(0, noise, (n_states, len(mean)))) for _ in range(2))
        return cls(np.full(n_states, 1 / n_states), _normalized(left), _normalized(right))


class Counts(NamedTuple):
    """Expected counts of the parameters of a grammar, shaped as in `SimplePCFG`, and the log-likelihood in nats."""

    root: np.ndarray
    left: np.ndarray
    right: np.ndarray
    log_likelihood: float

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(
            self.root + other.root,
            self.left + other.left,
            self.right + other.right,
            self.log_likelihood + other.log_likelihood,
        )

    def maximize(self, prior: float) -> SimplePCFG:
        """Return the grammar of the counts (M step).

        prior (float): Pseudo-count of each state, distributed over children as the counts of all states together.
        """
        left, right = (counts + prior * _normalized(counts.sum(axis=0) + 0.1) for counts in (self.left, self.right))
        return SimplePCFG(_normalized(self.root + 0.1), _normalized(left), _normalized(right))


def _normalized(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


class Inside(NamedTuple):
    """Inside probabilities of sentences of n >= 2 words; each list has an entry for every width of spans from 0 to n.

    states (list of float64 (n_sentences, n - width + 1, m)): Those of spans by state; empty for widths below 2.
    lefts, rights (lists of the same): Those of spans as left and right child of each state; empty for widths 0 and n.
    """

    states: list[np.ndarray]
    lefts: list[np.ndarray]
    rights: list[np.ndarray]


def expect(grammar: SimplePCFG, words: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Counts]:
    """Return the posteriors of all spans, and the expected counts (E step).

    words (int, (n_sentences, n)): Ids of the words of sentences of the same length, of two words or more.
    weights (float64, (n_sentences, n + 1, n + 1)): At i, j the weight of the span [i, j), above 0.
    RETURNS (tuple): Posteriors, float64 (n_sentences, n + 1, n + 1), 0 for spans of less than two words; the counts.
    RAISES (ValueError): If the probability of a sentence underflows to 0, which may happen from hundreds of words.
    """
    n_states, n_words = len(grammar.root), words.shape[1]
    leaves = grammar.left[:, n_states:].T[words], grammar.right[:, n_states:].T[words]
    scales = np.maximum(*leaves).max(axis=2, keepdims=True)  # keep products of many words within floats
    inside = _inside(grammar, leaves[0] / scales, leaves[1] / scales, weights)
    totals = inside.states[n_words][:, 0] @ grammar.root
    if not np.all(totals > 0):
        raise ValueError(f"Expected shorter sentences: the probability of one of {n_words} words underflows to 0.")
    posteriors, counts = _outside(grammar, inside, words, weights, totals)
    log_likelihood = float(np.log(totals).sum() + np.log(scales).sum())
    return posteriors, Counts(*counts, log_likelihood)


def _inside(grammar: SimplePCFG, left_leaves: np.ndarray, right_leaves: np.ndarray, weights: np.ndarray) -> Inside:
    n_words, n_states = left_leaves.shape[1:]
    none = np.zeros((0, 0, 0))
    inside = Inside([none, none], [none, left_leaves], [none, right_leaves])
    for width in range(2, n_words + 1):
        starts = np.arange(n_words - width + 1)
        sums = np.zeros((len(weights), len(starts), n_states))
        for split in range(1, width):
            sums += inside.lefts[split][:, : len(starts)] * inside.rights[width - split][:, split:][:, : len(starts)]
        sums *= weights[:, starts, starts + width, None]
        inside.states.append(sums)
        inside.lefts.append(sums @ grammar.left[:, :n_states].T)
        inside.rights.append(sums @ grammar.right[:, :n_states].T)
    return inside


def _outside(
    grammar: SimplePCFG, inside: Inside, words: np.ndarray, weights: np.ndarray, totals: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the posteriors, and the expected counts of roots, left and right children.

    Outside values are the derivatives of the log-likelihood by inside values.
    """
    from scipy import sparse  # takes long to import, and parsers by other models import this module too

    (n_sentences, n_words), n_states = words.shape, len(grammar.root)
    lefts, rights = ([np.zeros_like(values) for values in lists] for lists in inside[1:])
    left, right = (np.zeros_like(children) for children in grammar[1:])
    posteriors = np.zeros((n_sentences, n_words + 1, n_words + 1))
    states = (grammar.root / totals[:, None])[:, None]
    root = (states * inside.states[n_words]).sum(axis=(0, 1))
    for width in range(n_words, 1, -1):
        starts = np.arange(n_words - width + 1)
        if width < n_words:
            states = lefts[width] @ grammar.left[:, :n_states] + rights[width] @ grammar.right[:, :n_states]
            below = inside.states[width].reshape(-1, n_states)
            left[:, :n_states] += lefts[width].reshape(-1, n_states).T @ below
            right[:, :n_states] += rights[width].reshape(-1, n_states).T @ below
        posteriors[:, starts, starts + width] = (states * inside.states[width]).sum(axis=2)
        states = states * weights[:, starts, starts + width, None]
        for split in range(1, width):
            lefts[split][:, : len(starts)] += states * inside.rights[width - split][:, split:][:, : len(starts)]
            rights[width - split][:, split:][:, : len(starts)] += states * inside.lefts[split][:, : len(starts)]
    ids = words.ravel()
    indicator = sparse.csr_array((np.ones(ids.size), (ids, np.arange(ids.size))), (left.shape[1] - n_states, ids.size))
    for counts, children, outside, values in (
        (left, grammar.left, lefts[1], inside.lefts[1]),
        (right, grammar.right, rights[1], inside.rights[1]),
    ):
        counts[:, :n_states] *= children[:, :n_states]
        counts[:, n_states:] = (indicator @ (outside * values).reshape(-1, n_states)).T
    return posteriors, (root, left, right)
