"""Covariances of the words at two positions, shared by all pairs of positions with the same anchors and distance.

The kernel of section 4.1 depends on the two tags, the direction and the distance alone, so that the sums of algorithm 1
over all sentences need to be taken but once, into a table over (left anchor, right anchor, distance).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.embeddings import Embedding
from spacy_lpcfg.bracketing.sentences import Chunk
from spacy_lpcfg.parallel import in_order


class Covariances(NamedTuple):
    """Sums over pairs of words, by the groups of their tags and their distance from 1 to D.

    sums (float32, (D, A, A, p, p)): of the outer products of their vectors.
    counts (float64, (D, A, A)): of the pairs.
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
    """The table of a text, in memory that does not grow with it.

    groups (int32, (N_UNIVERSAL,)): the anchor of every universal tag.
    n_jobs (int or None): as in joblib, whose `parallel_config` chooses where chunks are summed; None for its own, or 1.
    """
    n, vectors = int(groups.max()) + 1, embedding.vectors
    table = Covariances.zeros(max_distance, n, vectors.shape[1])
    calls = (
        (vectors, embedding.vocabulary.ids(chunk), groups[chunk.universal], chunk.offsets, max_distance, n)
        for chunk in chunks
    )
    for part in in_order(_of_chunk, calls, n_jobs=n_jobs):
        table.sums[:] += part.sums
        table.counts[:] += part.counts
    return table


def _of_chunk(
    vectors: np.ndarray, ids: np.ndarray, anchors: np.ndarray, offsets: np.ndarray, max_distance: int, n_anchors: int
) -> Covariances:
    """The table of a chunk, whose words have these ids."""
    table = Covariances.zeros(max_distance, n_anchors, vectors.shape[1])
    add_pairs(table, vectors[ids], anchors, offsets)
    return table


def add_pairs(table: Covariances, vectors: np.ndarray, anchors: np.ndarray, offsets: np.ndarray) -> None:
    """Add all pairs of words of some sentences to a table, in place.

    vectors (float32, (n, p)), anchors (int32, (n,)), offsets (int64): of the words and sentences, as in `Chunk`.
    """
    n_anchors = table.counts.shape[1]
    left_to_go = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(vectors))
    places = np.arange(len(vectors))
    for distance in range(1, len(table.counts) + 1):
        places = places[left_to_go[places] > distance]
        if len(places) == 0:
            break
        cells = anchors[places] * n_anchors + anchors[places + distance]
        order = np.argsort(cells, kind="stable")
        left, right = vectors[places[order]], vectors[places[order] + distance]
        bounds = np.searchsorted(cells[order], np.arange(n_anchors**2 + 1))
        for cell in np.flatnonzero(np.diff(bounds)):
            a, b = divmod(int(cell), n_anchors)
            pairs = slice(bounds[cell], bounds[cell + 1])
            table.sums[distance - 1, a, b] += left[pairs].T @ right[pairs]
            table.counts[distance - 1, a, b] += bounds[cell + 1] - bounds[cell]


def sequence_covariances(vectors: np.ndarray) -> np.ndarray:
    """Those of sentences with one and the same tags, float64 (n, n, p, p): the estimate that is consistent.

    vectors (float, (N, n, p)): of N sentences of n words.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    return np.einsum("sip,sjq->ijpq", vectors, vectors, optimize=True) / len(vectors)


def shared_covariances(means: np.ndarray, groups: np.ndarray, tags: np.ndarray) -> np.ndarray:
    """Those of a sentence by the table, float64 (n, n, p, p); those of a word with itself are left at 0.

    means (float64, (D, A, A, p, p)): see `smooth`. groups (int32, (N_UNIVERSAL,)): the anchors of tags.
    tags (int, (n,)): universal tags of the words.
    """
    n, anchors = len(tags), groups[tags]
    out = np.zeros((n, n, *means.shape[-2:]))
    left, right = np.triu_indices(n, 1)
    out[left, right] = means[np.minimum(right - left, len(means)) - 1, anchors[left], anchors[right]]
    out[right, left] = np.swapaxes(out[left, right], -1, -2)
    return out


def shrink(own: np.ndarray, n: float, shared: np.ndarray, prior: float) -> np.ndarray:
    """The covariances of n sentences of their own, drawn to the shared ones as by `prior` sentences more."""
    return (n * own + prior * shared) / (n + prior)
