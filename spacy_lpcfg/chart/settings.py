"""Settings of chart parsing: pruning, and which marginals are decoded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from spacy_lpcfg.checks import FLAG, SHARE, whole
from spacy_lpcfg.variants import Variants

APPLICATION_BYTES = 48
"""Bytes of a rule application in a chart, at the moment when its buffer is doubled."""
MOST_CELL_BYTES = 200_000_000
"""Limit on the bytes of a chart's cells, whose number grows with the square of the words; beyond it, a sentence is cut
in two before its chart is allocated."""
_APPLICATIONS = whole(0, sys.maxsize)
_SHARES = (
    "threshold",
    "edge_threshold",
    "beam",
    "tag_threshold",
    "boundary_threshold",
    "prefix_threshold",
)


@dataclass(frozen=True)
class ChartSettings(Variants):
    """Settings of chart parsing: pruning, and which marginals are decoded.

    The variant "2013", which is also "paper", prunes as Cohen et al. (2013) do: only by the marginals of items under
    the treebank PCFG.

    threshold (float): Minimum marginal of an item (symbol a over the words [i, j)) under the treebank PCFG.
    edge_threshold (float): Minimum marginal of an edge (a -> b c over [i, k) and [k, j)) under the treebank PCFG.
    beam (float): Items below this share of the best score over the same words are pruned; 0 for no pruning.
    tag_threshold (float): Minimum posterior of a preterminal symbol (a tag with the labels that span only its word)
        given the context of the word; 0 for no pruning.
    boundary_threshold (float): Minimum posterior, given the context, of the beginning of a span and of the end of a
        constituent of several words; 0 for no pruning.
    boundary_merit (bool): Whether the scores that the beam compares also tell how well items fit between the words
        around them (Caraballo and Charniak 1998), in addition to inside and prior probabilities.
    retry_beam (float or None): If pruning left no tree, or with evidence only one, the chart is built again with `beam`
        multiplied by this, and without pruning by context; None to use the back-off rules at once.
    prefix_threshold (float): Minimum posterior of a constituent, given the words up to its end, for `Parser.surprisal`
        and `Parser.log_probability`.
    absolute (bool): Whether to decode absolute marginals (section 3.3 of Cohen et al. 2013) instead of signed ones.
    max_applications (int): Limit on the rule applications of a coarse chart, and so on its memory, at
        `APPLICATION_BYTES` each; state vectors of the forest have the same limit. Larger sentences are cut in two.
    RAISES (ValueError): If a setting is of another type or out of range.
    """

    threshold: float = 5e-5
    edge_threshold: float = 2e-5
    beam: float = 1e-3
    tag_threshold: float = 0.01
    boundary_threshold: float = 0.01
    boundary_merit: bool = True
    retry_beam: float | None = 1e-4
    prefix_threshold: float = 1e-6
    absolute: bool = True
    max_applications: int = 4_000_000

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "2013": {
                "threshold": 5e-5,
                "edge_threshold": 0.0,
                "beam": 0.0,
                "tag_threshold": 0.0,
                "boundary_threshold": 0.0,
                "boundary_merit": False,
                "retry_beam": None,
            }
        }
    )

    def __post_init__(self) -> None:
        SHARE(**{name: getattr(self, name) for name in _SHARES})
        SHARE.optional(retry_beam=self.retry_beam)
        FLAG(boundary_merit=self.boundary_merit, absolute=self.absolute)
        _APPLICATIONS(max_applications=self.max_applications)


EXHAUSTIVE = ChartSettings(
    threshold=0.0,
    edge_threshold=0.0,
    beam=0.0,
    tag_threshold=0.0,
    boundary_threshold=0.0,
    prefix_threshold=0.0,
)
