"""Word vectors made from Brown clusters (Brown et al. 1992).

Differs from Brown et al.: the clusters are found by the exchange algorithm (Martin, Liermann and Ney 1998), which
reaches a higher likelihood than merging, and only then merged into a binary tree.
"""

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.paper.embeddings import (
    MIN_COUNT,
    Chunks,
    Embedding,
    EmbeddingVocabulary,
    context_counts,
)
from spacy_lpcfg.words.brown import cluster, n_log_n

_VOCABULARY_SIZE = 20_000  # most words with a cluster; others are represented by their tag


@dataclass(frozen=True)
class Brown:
    """Learner of word vectors from Brown clusters (section 4.1 of Parikh, Cohen and Xing 2014).

    A word's vector is the first log2(C) bits of its cluster's path in the binary tree of clusters, followed by the
    one-hot vector of the cluster.

    n_clusters (int): Number of clusters C, a power of two.
    """

    n_clusters: int = 64

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Learn word vectors from text.

        chunks (callable): Returns an iterable of the text, anew at every call.
        seed (int): Ignored, since clustering is deterministic.
        RAISES (ValueError): If there are fewer frequent words than clusters, or C is not a power of two.
        """
        n_bits = int(self.n_clusters).bit_length() - 1
        if self.n_clusters < 2 or 1 << n_bits != self.n_clusters:
            raise ValueError(f"Expected a power of two as the number of clusters, got {self.n_clusters}.")
        vocabulary = EmbeddingVocabulary.learn(chunks(), min_count=MIN_COUNT, size=_VOCABULARY_SIZE)
        if len(vocabulary.words) < self.n_clusters:
            raise ValueError(
                f"Expected at least {self.n_clusters} different words that occur {MIN_COUNT} times or more, for "
                f"as many clusters; got {len(vocabulary.words)}. Give more text, or a smaller `n_clusters`."
            )
        (counts,) = context_counts(chunks(), vocabulary, 1)
        classes, pairs = cluster(counts, self.n_clusters)
        bits = np.array([_bits(path, n_bits) for path in merge_paths(pairs[:-1, :-1])], dtype=np.float32)
        vectors = np.concatenate([bits, np.eye(self.n_clusters, dtype=np.float32)], axis=1)
        return Embedding(vocabulary, vectors[classes[:-1]])


def merge_paths(pairs: np.ndarray) -> list[str]:
    """Merge classes into a binary tree, each time the two classes whose merger loses the least likelihood.

    pairs (int, (C, C)): Bigram counts of the classes.
    RETURNS (list of str): The path from the root to each class, such as "0110".
    """
    table = pairs.astype(np.float64)
    members = [[k] for k in range(len(table))]
    paths = [""] * len(table)
    while len(members) > 1:
        i, j = _cheapest(table)
        for bit, side in (("0", i), ("1", j)):
            for k in members[side]:
                paths[k] = bit + paths[k]
        members[i] += members.pop(j)
        table[i] += table[j]
        table[:, i] += table[:, j]
        table = np.delete(np.delete(table, j, axis=0), j, axis=1)
    return paths


def _cheapest(table: np.ndarray) -> tuple[int, int]:
    """Return the two classes i < j whose merger loses the least likelihood of the bigrams."""
    n = len(table)
    i, j = np.triu_indices(n, 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    worth = n_log_n(table)
    separate = worth.sum(axis=1) + worth.sum(axis=0) - np.diag(worth) - n_log_n(rows) - n_log_n(columns)
    merged_rows, merged_columns = table[i] + table[j], table[:, i].T + table[:, j].T
    positions = np.arange(len(i))
    corner = merged_rows[positions, i] + merged_rows[positions, j]
    for side in (merged_rows, merged_columns):
        side[positions, i] = side[positions, j] = 0
    together = n_log_n(merged_rows).sum(axis=1) + n_log_n(merged_columns).sum(axis=1) + n_log_n(corner)
    together -= n_log_n(rows[i] + rows[j]) + n_log_n(columns[i] + columns[j])
    apart = separate[i] + separate[j] - worth[i, j] - worth[j, i]
    best = int(np.argmin(apart - together))
    return int(i[best]), int(j[best])


def _bits(path: str, n: int) -> list[int]:
    """Return the first n bits of a path such as "0110", padded with zeros."""
    return [int(bit) for bit in path[:n].ljust(n, "0")]
