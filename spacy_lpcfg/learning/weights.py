"""Weights of trees: how much each tree of a treebank counts for a learner.

A learner that cannot count by halves reads the lightest trees once and heavier ones several times. Trees of the largest
weight are taken for annotated ones, and lighter trees for a parser's: what depends on single words and labels being
right is learned from annotated trees alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.learning.limits import is_learnable, log_left_out
from spacy_lpcfg.trees.tree import Tree


def weighted_trees(
    trees: Iterable[Tree], weights: Sequence[float] | None, prepare: Callable[[Tree], Tree | None]
) -> tuple[list[Tree], np.ndarray | None]:
    """Prepare each tree, and leave out trees of which nothing remains, or beyond `learning.limits`, with their weights.

    trees (Iterable[Tree]): Read once.
    weights (sequence of float or None): The weight of each tree; None if all count alike.
    prepare (callable): Gives the tree to learn from, such as `normalize`, or None.
    RETURNS (tuple[list[Tree], ndarray or None]): The prepared trees, and their weights, float64 (n_trees,).
    RAISES (ValueError): If there is not one weight for each tree, or if a weight is not finite and above 0.
    """
    trees, left_out = list(trees), Counter[str]()
    prepared = [prepare(tree) if is_learnable(tree, left_out) else None for tree in trees]
    log_left_out(left_out)
    usable = [tree for tree in prepared if tree is not None]
    if weights is None:
        return usable, None
    values = np.array(weights, dtype=float)
    if values.shape != (len(trees),):
        raise ValueError(f"Expected a weight for each of {len(trees)} trees, got {values.size}.")
    wrong = values[~(np.isfinite(values) & (values > 0))]
    if len(wrong):
        raise ValueError(f"Expected weights of trees that are finite and above 0, got {shown(float(wrong[0]))}.")
    return usable, values[[tree is not None for tree in prepared]]


def copies(weights: np.ndarray) -> np.ndarray:
    """Return how many times each tree counts where the lightest tree counts once, int64 (n_trees,)."""
    return np.rint(weights / weights.min(initial=np.inf)).astype(np.int64)


def is_annotated(weights: np.ndarray) -> np.ndarray:
    """Return whether each tree has the largest weight, bool (n_trees,)."""
    return np.asarray(weights == weights.max(initial=0.0))
