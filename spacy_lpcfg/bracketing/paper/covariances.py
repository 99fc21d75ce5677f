"""Covariances of the word vectors at two positions, shared by all pairs of positions with equal anchors and distance.

The anchors are groups of tags (`anchors.py`). The kernel of section 4.1 depends only on the two anchors, their order
and the distance. So the sums of algorithm 1 over all sentences are computed once, in a table over (distance, left
anchor, right anchor).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.paper.embeddings import Embedding
from spacy_lpcfg.bracketing.sentences import Chunk
from spacy_lpcfg.parallel import in_order


class Covariances(NamedTuple):
    """Sums over pairs of words, by their distance (1 to D) and the anchors (groups) of their tags.

    sums (float32, (D, A, A, p, p)): Sums of the outer products of the left and the right word's vector.
    counts (float64, (D, A, A)): Numbers of pairs.
    """

    sums: np.ndarray
    counts: np.ndarray

    @classmethod
    def zeros(cls, max_distance: int, n_anchors: int, p: int) -> Covariances:
        shape = (max_distance, n_anchors, n_anchors)
        return cls(np.zeros((*shape, p, p), np.float32), np.zeros(shape, np.float64))


def covariances(
    chunks: Iterable[Chunk],
    embedding: Embedding,
    groups: np.ndarray,
    max_distance: int = 60,
    n_jobs: int | None = None,
) -> Covariances:
    """Sum the covariances of a text, one chunk at a time.

    chunks (iterable of Chunk): The text.
    embedding (Embedding): The word vectors.
    groups (int32, (N_UNIVERSAL,)): The anchor of every universal tag.
    max_distance (int): The largest distance D.
    n_jobs (int or None): Number of joblib workers; None for the number of `joblib.parallel_config`, or 1.
    """
    n, vectors = int(groups.max()) + 1, embedding.vectors
    table = Covariances.zeros(max_distance, n, vectors.shape[1])
    calls = (
        (vectors, embedding.vocabulary.ids(chunk), groups[chunk.universal], chunk.offsets, max_distance, n)
        for chunk in chunks
    )
    for of_chunk in in_order(_of_chunk, calls, n_jobs=n_jobs):
        table.sums[:] += of_chunk.sums
        table.counts[:] += of_chunk.counts
    return table


def _of_chunk(
    vectors: np.ndarray, ids: np.ndarray, anchors: np.ndarray, offsets: np.ndarray, max_distance: int, n_anchors: int
) -> Covariances:
    """Sum the covariances of one chunk, whose words have the vectors `vectors[ids]`."""
    table = Covariances.zeros(max_distance, n_anchors, vectors.shape[1])
    add_pairs(table, vectors[ids], anchors, offsets)
    return table


def add_pairs(table: Covariances, vectors: np.ndarray, anchors: np.ndarray, offsets: np.ndarray) -> None:
    """Add all pairs of words within sentences to a table, in place.

    table (Covariances): The table.
    vectors (float32, (n, p)), anchors (int32, (n,)): Vectors and anchors of the words.
    offsets (int64, (n_sentences + 1,)): Sentence s has the words `offsets[s]:offsets[s + 1]`.
    """
    n_anchors = table.counts.shape[1]
    left_to_go = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(vectors))
    positions = np.arange(len(vectors))
    for distance in range(1, len(table.counts) + 1):
        positions = positions[left_to_go[positions] > distance]
        if len(positions) == 0:
            break
        cells = anchors[positions] * n_anchors + anchors[positions + distance]
        order = np.argsort(cells, kind="stable")
        left, right = vectors[positions[order]], vectors[positions[order] + distance]
        bounds = np.searchsorted(cells[order], np.arange(n_anchors**2 + 1))
        for cell in np.flatnonzero(np.diff(bounds)):
            a, b = divmod(int(cell), n_anchors)
            pairs = slice(bounds[cell], bounds[cell + 1])
            table.sums[distance - 1, a, b] += left[pairs].T @ right[pairs]
            table.counts[distance - 1, a, b] += bounds[cell + 1] - bounds[cell]
