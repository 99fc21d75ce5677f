"""The interface of evidence: scores of spans and tags that a model outside the grammar computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

LARGEST_LOG_ODDS = float(np.log(1e6))
"""Limit on the absolute value of the log-odds of spans."""


class Evidence(NamedTuple):
    """The evidence for one sentence of n words.

    spans (float32, (n (n + 1) / 2, n_chains)): ln p(chain) - ln p(no bracket) of each unary chain over each span [i,
        j). Spans are in the order of `span_bounds`: (0, 1), (0, 2), ..., (0, n), (1, 2), ... Values are from
        -`LARGEST_LOG_ODDS` to `LARGEST_LOG_ODDS`.
    tags (float32, (n, n_tags)): ln p(tag | word) of each tag for each word.
    """

    spans: np.ndarray
    tags: np.ndarray

    def computed(self) -> Evidence:
        """Return the evidence itself, as an `EvidenceSource`."""
        return self

    def part(self, start: int, end: int) -> Evidence:
        """Return the evidence for the words [start, end) only; values are unchanged."""
        starts, ends = span_bounds(len(self.tags))
        return Evidence(self.spans[(starts >= start) & (ends <= end)], self.tags[start:end])


@runtime_checkable
class EvidenceModel(Protocol):
    """Interface of a model that computes evidence; threads may share a model.

    chains (tuple[tuple[str, ...], ...]): The unary chains of the columns of `Evidence.spans`: labels, outermost first.
        Chains over one word do not include its tag.
    tags (tuple[str, ...]): The tags of the columns of `Evidence.tags`.
    """

    @property
    def chains(self) -> tuple[tuple[str, ...], ...]: ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    def evidence(self, sentences: Sequence[Sequence[str]]) -> list[Evidence]:
        """Return the evidence for each sentence.

        sentences (sequence of sequence of str): The words of each sentence in the spelling of the treebank.
        """
        ...


class EvidenceSource(Protocol):
    """Interface of evidence for one sentence that may be computed lazily, since it takes much memory."""

    def computed(self) -> Evidence:
        """Compute the evidence, or return it if it is computed already."""
        ...

    def part(self, start: int, end: int) -> EvidenceSource:
        """Return the source for the words [start, end)."""
        ...


def span_bounds(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and the ends of all spans over n words in the order of `Evidence.spans`, int64 (n_spans,)."""
    return np.triu_indices(n + 1, 1)
