"""Coarse anchors (groups of tags that share covariances): clusters of tags or word classes with similar neighbours.

Word pairs are counted in a table of covariances by the anchors of their tags. With these groups brackets are more
accurate than with the anchors of Parikh et al. (2014), the universal tags: the bracketer needs the covariance of the
two words given their anchors, and little of it is left if tags that alternate in the same slot are told apart.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.paper.anchors import grouping
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Chunk
from spacy_lpcfg.bracketing.tags import UNIVERSAL
from spacy_lpcfg.checks import COUNT


@dataclass(frozen=True)
class TagGroups:
    """Anchors that are groups of tags with similar neighbours, by agglomerative clustering.

    At first each tag is a group. Each step then merges the two groups whose merger loses the least mutual information
    between a tag and its neighbours on either side.

    n_groups (int): Number of groups.
    RAISES (ValueError): If `n_groups` is below 1.
    """

    n_groups: int = 5

    def __post_init__(self) -> None:
        COUNT(n_groups=self.n_groups)

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Cluster the universal tags of a text; return the group of each tag, numbered from 0, int32 (N_UNIVERSAL,).

        Tags that do not occur join the group of X, or the first group if X does not occur either.

        chunks (callable): Returns an iterable of the text; it is called once.
        """
        pairs = _pairs(chunks())
        tags = np.flatnonzero((pairs.sum(axis=0) + pairs.sum(axis=1))[:N_UNIVERSAL])
        groups = merge_groups(pairs, tags.tolist(), self.n_groups)
        default_group = next((k for k, group in enumerate(groups) if UNIVERSAL.index("X") in group), 0)
        group_of = {tag: k for k, group in enumerate(groups) for tag in group}
        return grouping([str(group_of.get(tag, default_group)) for tag in range(N_UNIVERSAL)])


def _pairs(chunks: Iterable[Chunk]) -> np.ndarray:
    """Count tag bigrams, float64 (N_UNIVERSAL + 1, N_UNIVERSAL + 1); the last id is the sentence boundary."""
    n = N_UNIVERSAL + 1
    pairs = np.zeros((n, n))
    for chunk in chunks:
        sentence = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        padded = np.full(len(chunk.universal) + len(chunk.offsets), N_UNIVERSAL)
        padded[np.arange(len(sentence)) + sentence + 1] = chunk.universal
        pairs += np.bincount(padded[:-1] * n + padded[1:], minlength=n * n).reshape(n, n)
    return pairs


def merge_groups(pairs: np.ndarray, classes: Sequence[int], n_groups: int) -> list[list[int]]:
    """Cluster classes: each step merges the two groups that lose the least mutual information with their neighbours.

    pairs (float, (n, n)): Bigram counts of the classes.
    classes (sequence of int): The classes to merge; other classes only count as neighbours.
    n_groups (int): Number of groups that remain.
    RETURNS (list of list of int): The classes of each group.
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
    """Return the sum of n log(n / N) over the last axis, where N is the sum of the counts n."""
    total = np.maximum(counts.sum(axis=-1), 1)
    return (counts * np.log(np.maximum(counts, 1))).sum(axis=-1) - total * np.log(total)
