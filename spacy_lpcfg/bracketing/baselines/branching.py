"""Trees that need no learning, and the best that a binary tree can do: what a learned bracketing is measured by.

All are binary and over the words that count, that is without punctuation, and come as the spans of two or more words in
pre-order: the whole sentence first, and no span for a sentence of one word.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln

from spacy_lpcfg.bracketing.baselines.binary_trees import Span, best_tree


def left_branching(n_words: int) -> list[Span]:
    """The tree whose spans all begin with the first word."""
    return [(0, end) for end in range(n_words, 1, -1)]


def right_branching(n_words: int, start: int = 0) -> list[Span]:
    """The tree whose spans all end with the last word, over the words from `start` on."""
    return [(first, n_words) for first in range(start, n_words - 1)]


def right_branching_inside_top(n_words: int, split: int) -> list[Span]:
    """Two right-branching trees side by side.

    n_words (int): Of the sentence.
    split (int): Words of the first tree; 0 and `n_words` give one tree.
    """
    if not 0 < split < n_words:
        return right_branching(n_words)
    return [(0, n_words), *right_branching(split), *right_branching(n_words, split)]


def random_branching(n_words: int, random: np.random.Generator) -> list[Span]:
    """A tree drawn from all binary trees, each as probable as any other (RANDOM in Klein and Manning 2002)."""
    spans: list[Span] = []
    stack = [(0, n_words)]
    while stack:
        start, end = stack.pop()
        if end - start > 1:
            spans.append((start, end))
            middle = start + 1 + random.choice(end - start - 1, p=_split_probabilities(end - start))
            stack += [(middle, end), (start, middle)]
    return spans


def _split_probabilities(n_words: int) -> np.ndarray:
    """The share of all binary trees that split after 1, 2, ... words: of products of Catalan numbers."""
    log_catalan = _log_catalan(np.arange(n_words - 1))
    log_products = log_catalan + log_catalan[::-1]
    weights = np.exp(log_products - log_products.max())
    return weights / weights.sum()


def _log_catalan(n: np.ndarray) -> np.ndarray:
    return gammaln(2 * n + 1) - gammaln(n + 1) - gammaln(n + 2)


def upper_bound(n_words: int, gold: Iterable[Span]) -> list[Span]:
    """The binary tree that has most of the gold brackets; of several, the one that splits its spans first.

    n_words (int): Of the sentence.
    gold (iterable of (start, end)): Half-open spans of its words.
    """
    weights = np.zeros((n_words + 1, n_words + 1))
    for start, end in set(gold):
        weights[start, end] = 1
    return best_tree(weights)
