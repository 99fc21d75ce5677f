"""Distances for particular tag sequences, estimated from their own sentences (algorithm 1, shrunk towards the kernel).

Only these estimates are consistent, since the kernel shares covariances between pairs of positions with different paths
in their trees. They need frequent sequences, so they are shrunk towards the shared covariances.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.paper.covariances import sequence_covariances, shrink
from spacy_lpcfg.bracketing.paper.embeddings import Embedding
from spacy_lpcfg.bracketing.paper.metric import log_volume
from spacy_lpcfg.bracketing.sentences import Chunk

_LONGEST = 12  # words of a sequence


@dataclass(frozen=True)
class SequenceSettings:
    """Settings for the tag sequences that have their own distances.

    prior (float): Number of sentences that the shared covariances count as; 0 for no shrinkage.
    min_count (int): Minimum number of sentences of a sequence; without a prior at least m are needed.
    """

    prior: float = 100.0
    min_count: int = 20


def sequence_distances(
    chunks: Callable[[], Iterable[Chunk]],
    embedding: Embedding,
    shared: Callable[[np.ndarray], np.ndarray],
    m: int,
    settings: SequenceSettings,
) -> dict[bytes, np.ndarray]:
    """Estimate distances (float64, (n, n)) of frequent tag sequences, by their universal tags as bytes.

    Sequences whose covariances have a smaller rank than m are left out.

    chunks (callable): Returns the text anew at every call.
    shared (callable): Maps universal tags (int, (n,)) to the shared covariances, (n, n, p, p).
    """
    counts = Counter(key for chunk in chunks() for key, _, _ in _short(chunk))
    rows: dict[bytes, list[np.ndarray]] = {k: [] for k, n in counts.items() if n >= settings.min_count and len(k) > 2}
    for chunk in chunks():
        ids = embedding.vocabulary.ids(chunk)
        for key, start, end in _short(chunk):
            if key in rows:
                rows[key].append(ids[start:end])
    distances = {}
    for key, sentences in rows.items():
        specific = sequence_covariances(embedding.vectors[np.stack(sentences)])
        mixed = shrink(specific, len(sentences), shared(np.frombuffer(key, dtype=np.uint8)), settings.prior)
        volumes = log_volume(mixed, m)
        np.fill_diagonal(volumes, 0.0)
        if np.all(np.isfinite(volumes)):
            distances[key] = -(volumes + volumes.T) / 2
    return distances


def _short(chunk: Chunk) -> Iterable[tuple[bytes, int, int]]:
    """Yield tags, begin and end of the sentences of at most `_LONGEST` words."""
    tags = chunk.universal.astype(np.uint8)
    for start, end in zip(chunk.offsets[:-1].tolist(), chunk.offsets[1:].tolist(), strict=True):
        if end - start <= _LONGEST:
            yield tags[start:end].tobytes(), start, end
