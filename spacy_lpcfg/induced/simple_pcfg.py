"""Simple PCFGs, and their expected counts over all trees of sentences with weighted spans (inside-outside).

A state A of a simple PCFG chooses its left and its right child independently: A -> B C has the probability
left(B | A) right(C | A), where B and C are states or words (Liu, Yang, Kim and Tu 2023, "Simple hardware-efficient
PCFGs with independent left and right productions"; unlike there, no states emit words). So the inside values of a span
are sums of products of vectors over its splits, in O(n^3 m + n^2 m^2) for n words and m states.

Every span has a weight, and the probability of each tree with this span is multiplied by it. With weights of 0 and 1
this is the algorithm of Pereira and Schabes (1992) for partly bracketed text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.induced._splits import add_up, pass_down


class SimplePCFG(NamedTuple):
    """The probabilities of a simple PCFG with m states and v words.

    root (float64, (m,)): Probability of each state over a whole sentence.
    left, right (float64, (m, m + v)): Probability of each left child, and of each right child, of each state. Columns
        are the states, then the words; rows sum to 1.
    """

    root: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def random(cls, n_states: int, word_counts: np.ndarray, seed: int, noise: float = 0.3) -> SimplePCFG:
        """Draw a random grammar, from which EM can start.

        Except for the noise, a child is one of the states in half of the cases, all equally probable, and otherwise a
        word with a probability proportional to its count. All roots are equally probable.

        n_states (int): Number of states m.
        word_counts (float64, (v,)): Counts of the words, not all of them 0.
        seed (int): Seed of the noise.
        noise (float): Standard deviation of the logarithm of each probability before normalization.
        """
        draw = np.random.default_rng(seed)
        mean = np.concatenate([np.full(n_states, 0.5 / n_states), 0.5 * word_counts / word_counts.sum()])
        left, right = (mean * np.exp(draw.normal(0, noise, (n_states, len(mean)))) for _ in range(2))
        return cls(np.full(n_states, 1 / n_states), _normalized(left), _normalized(right))


class Counts(NamedTuple):
    """Expected counts of the parameters of a simple PCFG, over all trees of some sentences.

    root, left, right (float64): Counts of the probabilities in `SimplePCFG`, with the same shapes.
    log_likelihood (float): Log-likelihood of the sentences, in nats.
    """

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
        """Return the grammar of the counts' smoothed relative frequencies (M step).

        prior (float): Pseudo-count of each state; its children are distributed as the children of all states together.
        """
        left, right = (counts + prior * _normalized(counts.sum(axis=0) + 0.1) for counts in (self.left, self.right))
        return SimplePCFG(_normalized(self.root + 0.1), _normalized(left), _normalized(right))


def _normalized(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


class Inside(NamedTuple):
    """Inside probabilities of the spans of sentences of n >= 2 words; `_splits.pyx` defines the order of the spans.

    states (float64, (n_spans, m)): Inside probability of each span under each state; undefined for spans of one word.
    lefts, rights (float64, (n_spans, m)): Inside probability of each span as the left, or right, child of each state;
        undefined for whole sentences.
    """

    states: np.ndarray
    lefts: np.ndarray
    rights: np.ndarray


def expect(grammar: SimplePCFG, words: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Counts]:
    """Compute the posterior probabilities of all spans, and the expected counts (E step).

    grammar (SimplePCFG): The grammar.
    words (int, (n_sentences, n)): Ids of the words of sentences of the same length, of two words or more.
    weights (float64, (n_sentences, n + 1, n + 1)): At i, j the weight of the span [i, j), 0 or more; ignored for spans
        of one word. No tree with a span of weight 0 counts.
    RETURNS (float64 (n_sentences, n + 1, n + 1), Counts): The posterior of the span [i, j) at i, j, 0 for spans of less
        than two words; and the counts.
    RAISES (ValueError): If the probability of a sentence is 0, because no tree counts or, from hundreds of words, by
        underflow.
    """
    n_states, n_words = len(grammar.root), words.shape[1]
    leaves = grammar.left[:, n_states:].T[words], grammar.right[:, n_states:].T[words]
    scales = np.maximum(*leaves).max(axis=2, keepdims=True)  # keep products of many words within floats
    inside = _inside(grammar, leaves[0] / scales, leaves[1] / scales, weights)
    totals = inside.states[-len(words) :] @ grammar.root
    if not np.all(totals > 0):
        raise ValueError(f"Expected shorter sentences: the probability of one of {n_words} words underflows to 0.")
    posteriors, counts = _outside(grammar, inside, words, weights, totals)
    log_likelihood = float(np.log(totals).sum() + np.log(scales).sum())
    return posteriors, Counts(*counts, log_likelihood)


def _by_width(rows: np.ndarray, n_sentences: int, n_words: int) -> list[np.ndarray]:
    """Return views of the rows of all spans, one for each width from 1 on, (n_sentences, n_words - width + 1, m)."""
    first = np.cumsum(n_sentences * np.arange(n_words, 1, -1))
    return [block.reshape(n_sentences, -1, rows.shape[1]) for block in np.split(rows, first)]


def _inside(grammar: SimplePCFG, left_leaves: np.ndarray, right_leaves: np.ndarray, weights: np.ndarray) -> Inside:
    n_sentences, n_words, n_states = left_leaves.shape
    inside = Inside(*np.empty((3, n_sentences * n_words * (n_words + 1) // 2, n_states)))
    blocks = zip(*(_by_width(rows, n_sentences, n_words) for rows in inside), strict=True)
    _, lefts, rights = next(blocks)
    lefts[:], rights[:] = left_leaves, right_leaves
    for width, (states, lefts, rights) in enumerate(blocks, start=2):
        add_up(inside.lefts, inside.rights, weights, width, inside.states)
        if width < n_words:
            np.matmul(states, grammar.left[:, :n_states].T, out=lefts)
            np.matmul(states, grammar.right[:, :n_states].T, out=rights)
    return inside


def _outside(
    grammar: SimplePCFG, inside: Inside, words: np.ndarray, weights: np.ndarray, totals: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the posteriors, and the expected counts of roots, left and right children.

    Outside values are the derivatives of the log-likelihood by inside values.
    """
    from scipy import sparse  # takes long to import, and parsers by other models import this module too

    (n_sentences, n_words), n_states = words.shape, len(grammar.root)
    outside = np.zeros((2, *inside.lefts.shape))
    of_states, lefts, rights = (_by_width(rows, n_sentences, n_words) for rows in (inside.states, *outside))
    left, right = (np.zeros_like(children) for children in grammar[1:])
    posteriors = np.zeros((n_sentences, n_words + 1, n_words + 1))
    states = (grammar.root / totals[:, None])[:, None]
    root = (states * of_states[-1]).sum(axis=(0, 1))
    for width in range(n_words, 1, -1):
        starts, below = np.arange(n_words - width + 1), of_states[width - 1]
        if width < n_words:
            to_left, to_right = lefts[width - 1], rights[width - 1]
            states = to_left @ grammar.left[:, :n_states] + to_right @ grammar.right[:, :n_states]
            left[:, :n_states] += to_left.reshape(-1, n_states).T @ below.reshape(-1, n_states)
            right[:, :n_states] += to_right.reshape(-1, n_states).T @ below.reshape(-1, n_states)
        posteriors[:, starts, starts + width] = (states * below).sum(axis=2)
        pass_down(states, inside.lefts, inside.rights, weights, width, *outside)
    ids = words.ravel()
    indicator = sparse.csr_array((np.ones(ids.size), (ids, np.arange(ids.size))), (left.shape[1] - n_states, ids.size))
    for counts, children, of_leaves, values in (
        (left, grammar.left, outside[0], inside.lefts),
        (right, grammar.right, outside[1], inside.rights),
    ):
        counts[:, :n_states] *= children[:, :n_states]
        counts[:, n_states:] = (indicator @ (of_leaves[: ids.size] * values[: ids.size])).T
    return posteriors, (root, left, right)
