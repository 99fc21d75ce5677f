"""Anchors: what two positions must have in common to share a covariance (section 3.4 of Parikh, Cohen and Xing 2014).

The paper's are the universal tags of Petrov et al. Coarser ones are better, since tags that alternate in one slot take
away the very covariance that the method reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Chunk
from spacy_lpcfg.bracketing.tags import COARSE, UNIVERSAL


class TagAnchors(Protocol):
    """A grouping of the universal tags."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """The group of each universal tag from 0, int32 (N_UNIVERSAL,)."""
        ...


@dataclass(frozen=True)
class PaperAnchors:
    """The universal tags of Petrov, Das and McDonald (2012)."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """The same for all text."""
        return grouping([COARSE.get(tag, tag) for tag in UNIVERSAL])


@dataclass(frozen=True)
class TagGroups:
    """Groups of the tags that stand between the same tags, by agglomeration.

    Begins with one group a tag and merges the two whose merger loses least of the mutual information between a tag and
    its neighbours on either side.

    n_groups (int): that remain.
    """

    n_groups: int = 5

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Learn from text; tags that it does not have are with X, or else with the first tag."""
        counts = _neighbours(chunks())
        groups = [[int(tag)] for tag in np.flatnonzero(counts.sum(axis=1))]
        while len(groups) > self.n_groups:
            groups = _merge_two(groups, counts)
        rest = next((k for k, group in enumerate(groups) if UNIVERSAL.index("X") in group), 0)
        of = {tag: k for k, group in enumerate(groups) for tag in group}
        return grouping([str(of.get(tag, rest)) for tag in range(N_UNIVERSAL)])


def grouping(names: Sequence[str]) -> np.ndarray:
    """Numbers from 0 of groups by name, in the order of their first members, int32."""
    order: dict[str, int] = {}
    return np.array([order.setdefault(name, len(order)) for name in names], dtype=np.int32)


def _neighbours(chunks: Iterable[Chunk]) -> np.ndarray:
    """How often each tag has each one, or the boundary, before and after it, float64 (N, 2 * (N + 1))."""
    n = N_UNIVERSAL + 1
    pairs = np.zeros((n, n))
    for chunk in chunks:
        sentence = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        padded = np.full(len(chunk.universal) + len(chunk.offsets), N_UNIVERSAL)
        padded[np.arange(len(sentence)) + sentence + 1] = chunk.universal
        pairs += np.bincount(padded[:-1] * n + padded[1:], minlength=n * n).reshape(n, n)
    return np.concatenate([pairs[:-1], pairs[:, :-1].T], axis=1)


def _merge_two(groups: list[list[int]], counts: np.ndarray) -> list[list[int]]:
    """Merge the two groups that lose least information."""
    sums = [counts[group].sum(axis=0) for group in groups]
    losses = {
        _information(sums[i]) + _information(sums[j]) - _information(sums[i] + sums[j]): (i, j)
        for j in range(len(groups))
        for i in range(j)
    }
    i, j = losses[min(losses)]
    return [groups[i] + groups[j] if k == i else group for k, group in enumerate(groups) if k != j]


def _information(counts: np.ndarray) -> float:
    """Sum of n log(n / N)."""
    positive = counts[counts > 0]
    return float((positive * np.log(positive / counts.sum())).sum())
