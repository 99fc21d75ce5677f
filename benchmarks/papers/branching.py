"""Baseline trees that need no learning, and the upper bound for binary trees.

All trees are binary, over the words without punctuation, and are returned as the spans of two or more words in
pre-order: the whole sentence first, and no span for a sentence of one word.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_lpcfg.bracketing.paper.binary_trees import Span, best_tree


def left_branching(n_words: int) -> list[Span]:
    """Return the tree whose spans all begin with the first word."""
    return [(0, end) for end in range(n_words, 1, -1)]


def right_branching(n_words: int, start: int = 0) -> list[Span]:
    """Return the tree whose spans all end with the last word, over the words from `start` on."""
    return [(first, n_words) for first in range(start, n_words - 1)]


def right_branching_inside_top(n_words: int, split: int) -> list[Span]:
    """Return the tree of a top split with a right-branching tree on either side.

    n_words (int): Number of words in the sentence.
    split (int): Number of words in the first tree; 0 or `n_words` for one right-branching tree.
    """
    if not 0 < split < n_words:
        return right_branching(n_words)
    return [(0, n_words), *right_branching(split), *right_branching(n_words, split)]


def random_branching(n_words: int, random: np.random.Generator) -> list[Span]:
    """Draw a binary tree from the top, each split of a span being as likely, which makes balanced trees likelier."""
    spans: list[Span] = []
    stack = [(0, n_words)]
    while stack:
        start, end = stack.pop()
        if end - start > 1:
            spans.append((start, end))
            middle = int(random.integers(start + 1, end))
            stack += [(middle, end), (start, middle)]
    return spans


def upper_bound(n_words: int, gold: Iterable[Span]) -> list[Span]:
    """Return the binary tree with the most gold brackets; ties are broken by the leftmost split.

    n_words (int): Number of words in the sentence.
    gold (iterable of (start, end)): Half-open spans of its words.
    """
    weights = np.zeros((n_words + 1, n_words + 1))
    for start, end in set(gold):
        weights[start, end] = 1
    return best_tree(weights)
