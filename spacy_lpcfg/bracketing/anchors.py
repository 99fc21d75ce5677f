"""Anchors: what two positions must have in common to share a covariance (section 3.4 of Parikh, Cohen and Xing 2014).

The paper's are the universal tags of Petrov et al. Coarser ones are better, since tags that alternate in one slot take
away the very covariance that the method reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.bracketing.tags import COARSE, UNIVERSAL


def coarse_anchors() -> np.ndarray:
    """The paper's: the group of each universal tag, int32 (N_UNIVERSAL,), after Petrov et al."""
    return grouping([COARSE.get(tag, tag) for tag in UNIVERSAL])


def grouping(names: Sequence[str]) -> np.ndarray:
    """Numbers from 0 of groups by name, in the order of their first members, int32."""
    order: dict[str, int] = {}
    return np.array([order.setdefault(name, len(order)) for name in names], dtype=np.int32)
