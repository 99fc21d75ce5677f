"""The learned metric as a frozen table of distances, and the trees that are minimal in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spacy_lpcfg.bracketing._latent_tree import minimal, minimal_by_table
from spacy_lpcfg.bracketing.latent_tree import prefix_sums


@dataclass(frozen=True, eq=False)
class MetricModel:
    """Distances between words by their tags.

    groups (int32, (N_UNIVERSAL,)): the anchor of each universal tag.
    distances (float64, (A, A, D)): by the anchors of two words and by how far apart they are, from 1; the last column
        is that of all larger distances.
    apart (float): what is added between words that punctuation separates.
    sequences (mapping): from the universal tags of a sentence, as bytes, to its own distances (float64, (n, n)).
    """

    groups: np.ndarray
    distances: np.ndarray
    apart: float = 0.0
    sequences: Mapping[bytes, np.ndarray] = field(default_factory=dict)

    def matrix(self, tags: np.ndarray) -> np.ndarray:
        """Distances by the table between words with universal tags (int, (n,)), without those of punctuation."""
        anchors, n = self.groups[tags], len(tags)
        left, right = np.triu_indices(n, 1)
        matrix = np.zeros((n, n))
        matrix[left, right] = self.distances[
            anchors[left], anchors[right], np.minimum(right - left, self.distances.shape[2]) - 1
        ]
        return matrix + matrix.T

    def tree(self, tags: np.ndarray, segments: np.ndarray, split: int) -> tuple[np.ndarray, np.ndarray]:
        """Spans without the whole sentence (int32, (n_spans, 2)) in pre-order, and the lengths of the edges above them.

        tags, segments (int32, (n,)): of two words or more; split (int): the top bracket.
        """
        own = self.sequences.get(tags.astype(np.uint8).tobytes()) if self.sequences else None
        if own is None:
            _, spans, edges = minimal_by_table(self.groups[tags], segments, self.distances, self.apart, split)
        else:
            is_apart = segments[:, None] != segments[None, :]
            _, spans, edges = minimal(prefix_sums(own + self.apart * is_apart), None, split)
        return spans, edges
