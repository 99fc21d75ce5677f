"""Classes of words that make a class bigram model of a text likely (Brown et al. 1992), found by exchange.

Differs from Brown et al.: words are exchanged between classes (Martin, Liermann and Ney 1998), which ends at a better
likelihood than their mergers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.words._brown import exchange

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def neighbours(ids: np.ndarray, offsets: np.ndarray, n_words: int, distance: int = 1) -> csr_array:
    """How often each word stands so many words before each other in a text, (n_words + 1, n_words + 1).

    ids (int, (n,)): the words of the sentences, one after the other, each less than n_words; offsets (int,
        (n_sentences + 1,)): where these begin. What is beyond their edges counts as the word `n_words`, but not beside
        itself.
    """
    from scipy.sparse import coo_array  # it takes 0.1 s to import, and classes that are there do not need it

    bounded = np.full(len(ids) + distance * len(offsets), n_words, dtype=np.int64)
    sentence = np.repeat(np.arange(1, len(offsets)), np.diff(offsets))
    bounded[np.arange(len(ids)) + distance * sentence] = ids
    first, second = bounded[:-distance], bounded[distance:]
    is_pair = (first < n_words) | (second < n_words)
    pairs = (first[is_pair], second[is_pair])
    return coo_array((np.ones(len(pairs[0])), pairs), shape=(n_words + 1, n_words + 1)).tocsr()


def cluster(counts: csr_array, n_clusters: int, n_sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of words, and how often they follow each other.

    counts ((V + 1, V + 1)): how often each word stands before each other; the last one is the boundary of sentences.
    RETURNS (tuple): int32 (V + 1,), of which the boundary has class C; int64 (C + 1, C + 1).
    """
    n = counts.shape[0]
    usage = counts.sum(axis=1)[:-1] + counts.sum(axis=0)[:-1]
    classes = np.full(n, n_clusters, dtype=np.int32)
    classes[np.argsort(-usage, kind="stable")] = np.arange(n - 1) % n_clusters
    coo = counts.tocoo()
    pairs = np.zeros((n_clusters + 1, n_clusters + 1), dtype=np.int64)
    np.add.at(pairs, (classes[coo.row], classes[coo.col]), coo.data.astype(np.int64))
    first, second = pairs.sum(axis=1), pairs.sum(axis=0)
    for _ in range(n_sweeps):
        if not exchange(*_rows(counts), *_rows(counts.T.tocsr()), classes, pairs, first, second, n_clusters):
            break
    return classes, pairs


def log_likelihood(pairs: np.ndarray) -> float:
    """That of a text's classes, up to what does not depend on them: sum of N(g, h) log(N(g, h) / (N(g) N(h)))."""
    return n_log_n(pairs).sum() - n_log_n(pairs.sum(axis=0)).sum() - n_log_n(pairs.sum(axis=1)).sum()


def n_log_n(counts: np.ndarray) -> np.ndarray:
    """n log n of counts, 0 of none."""
    counts = np.asarray(counts, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1))


def _rows(counts: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return counts.indptr.astype(np.int32), counts.indices.astype(np.int32), counts.data.astype(np.int64)
