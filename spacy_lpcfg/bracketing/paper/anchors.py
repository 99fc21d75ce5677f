"""Anchors: groups of tags that share covariances (section 3.4 of Parikh, Cohen and Xing 2014)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from spacy_lpcfg.bracketing.sentences import Chunk
from spacy_lpcfg.bracketing.tags import COARSE, UNIVERSAL


@runtime_checkable
class TagAnchors(Protocol):
    """Interface of methods that group the universal tags, such as `PaperAnchors` and `TagGroups`."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the group of each universal tag from 0, int32 (N_UNIVERSAL,)."""
        ...


@dataclass(frozen=True)
class PaperAnchors:
    """Anchors of the paper: each universal tag of Petrov, Das and McDonald (2012) is a group of its own."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the group of each universal tag, int32 (N_UNIVERSAL,); the text is not read."""
        return grouping([COARSE.get(tag, tag) for tag in UNIVERSAL])


def grouping(names: Sequence[str]) -> np.ndarray:
    """Return the number of each name, int32 (n,); distinct names are numbered from 0 by first occurrence."""
    order: dict[str, int] = {}
    return np.array([order.setdefault(name, len(order)) for name in names], dtype=np.int32)
