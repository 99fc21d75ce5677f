"""The learned metric as an immutable table of distances, and the minimal trees that it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal_by_table


@dataclass(frozen=True, eq=False)
class MetricModel:
    """Distances between words, which depend on the anchors (groups) of their tags and on their offset.

    groups (int32, (N_UNIVERSAL,)): The anchor of each universal tag.
    distances (float64, (A, A, D)): Distance for the anchors of the left and the right word and their offset from 1 to
        D; the last column also holds for larger offsets.
    apart (float): Distance that is added between words with punctuation between them.
    """

    groups: np.ndarray
    distances: np.ndarray
    apart: float = 0.0

    def tree(self, tags: np.ndarray, segments: np.ndarray, split: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute the minimal tree of a sentence.

        tags, segments (int32, (n,)): Universal tags and segments of two or more words, as in `Plain`.
        split (int): The top split is before the word at this position, 0 < split < n.
        RETURNS (int32 (n_spans, 2), float64 (n_spans,)): Spans in pre-order, without the whole sentence; and the length
            of the edge above each span.
        """
        _, spans, edges = minimal_by_table(self.groups[tags], segments, self.distances, self.apart, split)
        return spans, edges
