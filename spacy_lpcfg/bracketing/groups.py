"""Groups of tags or word classes with similar neighbours, by agglomerative clustering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def merge_groups(pairs: np.ndarray, classes: Sequence[int], n_groups: int) -> list[list[int]]:
    """Merge classes agglomeratively, each time the two that lose least information about their neighbours.

    pairs (float, (n, n)): Class bigram counts.
    classes (sequence of int): The classes to merge.
    n_groups (int): Number of groups that remain.
    """
    rows = np.concatenate([pairs, pairs.T], axis=1)[list(classes)]
    groups = [[class_] for class_ in classes]
    worth = np.array([_information(row) for row in rows])
    losses = np.full((len(groups), len(groups)), np.inf)
    for i in range(1, len(groups)):
        losses[i, :i] = worth[i] + worth[:i] - _information(rows[i] + rows[:i])
    while len(groups) > n_groups:
        i, j = map(int, np.unravel_index(np.argmin(losses), losses.shape))
        groups[j] += groups.pop(i)
        rows[j] += rows[i]
        rows, worth = np.delete(rows, i, axis=0), np.delete(worth, i)
        losses = np.delete(np.delete(losses, i, axis=0), i, axis=1)
        worth[j] = _information(rows[j])
        changed = worth[j] + worth - _information(rows[j] + rows)
        losses[j, :j], losses[j + 1 :, j] = changed[:j], changed[j + 1 :]
    return groups


def _information(counts: np.ndarray) -> np.ndarray:
    """Return the sum of n log(n / N) over the last axis."""
    total = np.maximum(counts.sum(axis=-1), 1)
    return (counts * np.log(np.maximum(counts, 1))).sum(axis=-1) - total * np.log(total)
