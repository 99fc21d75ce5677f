"""Anchors: groups of tags that share covariances (section 3.4 of Parikh, Cohen and Xing 2014).

The paper's anchors are the universal tags of Petrov et al. Coarser groups are more accurate, since conditioning on tags
that alternate in the same slot removes the covariance that the method depends on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from spacy_lpcfg.bracketing.groups import merge_groups
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Chunk
from spacy_lpcfg.bracketing.tags import COARSE, UNIVERSAL


@runtime_checkable
class TagAnchors(Protocol):
    """A grouping of the universal tags."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the group of each universal tag from 0, int32 (N_UNIVERSAL,)."""
        ...


@dataclass(frozen=True)
class PaperAnchors:
    """The universal tags of Petrov, Das and McDonald (2012)."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the paper's groups, which do not depend on the text."""
        return grouping([COARSE.get(tag, tag) for tag in UNIVERSAL])


@dataclass(frozen=True)
class TagGroups:
    """Groups of tags with similar neighbours, by agglomerative clustering.

    Starts with one group a tag, and repeatedly merges the two groups whose merger loses least mutual information
    between a tag and its neighbours on either side.

    n_groups (int): Number of groups.
    """

    n_groups: int = 5

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Cluster the tags of a text; tags that do not occur join the group of X, or else the first group."""
        pairs = _pairs(chunks())
        tags = np.flatnonzero((pairs.sum(axis=0) + pairs.sum(axis=1))[:N_UNIVERSAL])
        groups = merge_groups(pairs, tags.tolist(), self.n_groups)
        default_group = next((k for k, group in enumerate(groups) if UNIVERSAL.index("X") in group), 0)
        group_of = {tag: k for k, group in enumerate(groups) for tag in group}
        return grouping([str(group_of.get(tag, default_group)) for tag in range(N_UNIVERSAL)])


def grouping(names: Sequence[str]) -> np.ndarray:
    """Number groups from 0 in the order of their first members, int32 (n,)."""
    order: dict[str, int] = {}
    return np.array([order.setdefault(name, len(order)) for name in names], dtype=np.int32)


def _pairs(chunks: Iterable[Chunk]) -> np.ndarray:
    """Count the pairs of adjacent tags, float64 (N + 1, N + 1); the last is the boundary of a sentence."""
    n = N_UNIVERSAL + 1
    pairs = np.zeros((n, n))
    for chunk in chunks:
        sentence = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        padded = np.full(len(chunk.universal) + len(chunk.offsets), N_UNIVERSAL)
        padded[np.arange(len(sentence)) + sentence + 1] = chunk.universal
        pairs += np.bincount(padded[:-1] * n + padded[1:], minlength=n * n).reshape(n, n)
    return pairs
