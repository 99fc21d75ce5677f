"""The learned metric as a frozen table of distances, and its minimal trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal_by_table


@dataclass(frozen=True, eq=False)
class MetricModel:
    """Distances between words by the anchors of their tags.

    groups (int32, (N_UNIVERSAL,)): The anchor of each universal tag.
    distances (float64, (A, A, D)): Distances by the anchors of two words and their offset from 1 to D; the last column
        also holds for larger offsets.
    apart (float): Distance that is added between words with punctuation between them.
    """

    groups: np.ndarray
    distances: np.ndarray
    apart: float = 0.0

    def matrix(self, tags: np.ndarray) -> np.ndarray:
        """Return the distances between words, float64 (n, n), without `apart` for punctuation.

        tags (int, (n,)): Universal tags of the words.
        """
        anchors, n = self.groups[tags], len(tags)
        left, right = np.triu_indices(n, 1)
        matrix = np.zeros((n, n))
        matrix[left, right] = self.distances[
            anchors[left], anchors[right], np.minimum(right - left, self.distances.shape[2]) - 1
        ]
        return matrix + matrix.T

    def tree(self, tags: np.ndarray, segments: np.ndarray, split: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute the minimal tree of a sentence: its spans in pre-order, and the lengths of the edges above them.

        tags, segments (int32, (n,)): Universal tags and segments of two or more words, as in `Plain`.
        split (int): Position of the top split.
        RETURNS (int32 (n_spans, 2), float64 (n_spans,)): Spans without the whole sentence; edge lengths.
        """
        _, spans, edges = minimal_by_table(self.groups[tags], segments, self.distances, self.apart, split)
        return spans, edges
