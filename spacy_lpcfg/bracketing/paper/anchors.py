"""Anchors: groups of tags that share covariances (section 3.4 of Parikh, Cohen and Xing 2014)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from spacy_lpcfg.bracketing.sentences import Chunk
from spacy_lpcfg.bracketing.tags import COARSE, UNIVERSAL


@runtime_checkable
class TagAnchors(Protocol):
    """Interface of anchors, which group the universal tags that share covariances: `PaperAnchors` or `TagGroups`."""

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the group of each universal tag, numbered from 0, int32 (N_UNIVERSAL,).

        chunks (callable): Returns an iterable of the text, anew at every call.
        """
        ...


@dataclass(frozen=True)
class PaperAnchors:
    """The paper's anchors: each tag of Petrov, Das and McDonald (2012) is a group.

    Tags of a group share covariances.
    """

    def fit(self, chunks: Callable[[], Iterable[Chunk]]) -> np.ndarray:
        """Return the group of each universal tag, int32 (N_UNIVERSAL,); `chunks` is not called."""
        return grouping([COARSE.get(tag, tag) for tag in UNIVERSAL])


def grouping(names: Sequence[str]) -> np.ndarray:
    """Number distinct names from 0 in the order of their first occurrence; return each name's number, int32 (n,)."""
    order: dict[str, int] = {}
    return np.array([order.setdefault(name, len(order)) for name in names], dtype=np.int32)
