"""Distances of whole tag sequences, from the sentences that have them (algorithm 1 without smoothing, and with).

Only these estimates are consistent: the kernel shares covariances between pairs of positions that have the same tags
and distance but other paths in their trees. A sequence must be frequent for them, so they are shrunk towards the shared
ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.covariances import sequence_covariances, shrink
from spacy_lpcfg.bracketing.embeddings import Embedding
from spacy_lpcfg.bracketing.metric import log_volume
from spacy_lpcfg.bracketing.sentences import Chunk


@dataclass(frozen=True)
class SequenceSettings:
    """Which tag sequences get distances of their own.

    prior (float): sentences that the shared covariances count for; 0 for none.
    min_count (int): sentences of a sequence, at least; at least m of the metric are needed without a prior.
    max_length (int): words of a sequence, at most.
    """

    prior: float = 100.0
    min_count: int = 20
    max_length: int = 12


def sequence_distances(
    chunks: Callable[[], Iterable[Chunk]],
    embedding: Embedding,
    shared: Callable[[np.ndarray], np.ndarray],
    m: int,
    settings: SequenceSettings,
) -> dict[bytes, np.ndarray]:
    """Distances (float64, (n, n)) by the universal tags of a sentence, as bytes; none of too small a rank.

    shared (callable): from universal tags (int, (n,)) to the shared covariances, (n, n, p, p).
    """
    counts = Counter(key for chunk in chunks() for key, _, _ in _short(chunk, settings.max_length))
    rows: dict[bytes, list[np.ndarray]] = {k: [] for k, n in counts.items() if n >= settings.min_count and len(k) > 2}
    for chunk in chunks():
        ids = embedding.vocabulary.ids(chunk)
        for key, start, end in _short(chunk, settings.max_length):
            if key in rows:
                rows[key].append(ids[start:end])
    found = {}
    for key, sentences in rows.items():
        own = sequence_covariances(embedding.vectors[np.stack(sentences)])
        mixed = shrink(own, len(sentences), shared(np.frombuffer(key, dtype=np.uint8)), settings.prior)
        volumes = log_volume(mixed, m)
        np.fill_diagonal(volumes, 0.0)
        if np.all(np.isfinite(volumes)):
            found[key] = -(volumes + volumes.T) / 2
    return found


def _short(chunk: Chunk, max_length: int) -> Iterable[tuple[bytes, int, int]]:
    """Tags, begin and end of the sentences of at most `max_length` words."""
    tags = chunk.universal.astype(np.uint8)
    for start, end in zip(chunk.offsets[:-1].tolist(), chunk.offsets[1:].tolist(), strict=True):
        if end - start <= max_length:
            yield tags[start:end].tobytes(), start, end
