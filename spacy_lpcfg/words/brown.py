"""Brown clustering: word classes that maximize the likelihood of a class bigram model (Brown et al. 1992).

Words are clustered by the exchange algorithm (Martin, Liermann and Ney 1998) instead of by merging as in Brown et al.,
since it reaches a higher likelihood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.words._brown import exchange

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def neighbours(ids: np.ndarray, offsets: np.ndarray, n_words: int, distance: int = 1) -> csr_array:
    """Count the pairs of words (w1, w2) in which w2 follows w1 at a distance, as a sparse matrix.

    ids (int, (n,)): The numbers of the words of all sentences, concatenated, each from 0 to `n_words` - 1.
    offsets (int, (n_sentences + 1,)): Where each sentence begins in `ids`, then the length of `ids`. Positions outside
        a sentence count as the word `n_words`; pairs of two such positions do not count.
    n_words (int): Size of the vocabulary.
    distance (int): Distance of the two words; 1 for bigrams.
    RETURNS (csr_array of float64, (n_words + 1, n_words + 1)): The counts, rows by w1 and columns by w2.
    """
    from scipy.sparse import coo_array  # imported late: it takes 0.1 s, and is not needed for using learned classes

    bounded = np.full(len(ids) + distance * len(offsets), n_words, dtype=np.int64)
    sentence = np.repeat(np.arange(1, len(offsets)), np.diff(offsets))
    bounded[np.arange(len(ids)) + distance * sentence] = ids
    first, second = bounded[:-distance], bounded[distance:]
    is_pair = (first < n_words) | (second < n_words)
    pairs = (first[is_pair], second[is_pair])
    return coo_array((np.ones(len(pairs[0])), pairs), shape=(n_words + 1, n_words + 1)).tocsr()


_N_SWEEPS = 10  # most passes over the vocabulary; they end when no word moves


def cluster(counts: csr_array, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Cluster words by the exchange algorithm, in at most ten passes over the vocabulary.

    counts (csr_array, (V + 1, V + 1)): Bigram counts of V words; the last row and column are the sentence boundary.
    n_clusters (int): Number of classes C.
    RETURNS (int32 (V + 1,), int64 (C + 1, C + 1)): The class of each word, where the boundary has class C; the class
        bigram counts.
    """
    n = counts.shape[0]
    usage = counts.sum(axis=1)[:-1] + counts.sum(axis=0)[:-1]
    classes = np.full(n, n_clusters, dtype=np.int32)
    classes[np.argsort(-usage, kind="stable")] = np.arange(n - 1) % n_clusters
    coo = counts.tocoo()
    pairs = np.zeros((n_clusters + 1, n_clusters + 1), dtype=np.int64)
    np.add.at(pairs, (classes[coo.row], classes[coo.col]), coo.data.astype(np.int64))
    first, second = pairs.sum(axis=1), pairs.sum(axis=0)
    for _ in range(_N_SWEEPS):
        if not exchange(*_rows(counts), *_rows(counts.T.tocsr()), classes, pairs, first, second, n_clusters):
            break
    return classes, pairs


def n_log_n(counts: np.ndarray) -> np.ndarray:
    """Return n log n for each count, and 0 for a count of 0."""
    counts = np.asarray(counts, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1))


def _rows(counts: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return counts.indptr.astype(np.int32), counts.indices.astype(np.int32), counts.data.astype(np.int64)
