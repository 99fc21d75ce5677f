"""Kernels of the log-linear classifier: keys of features, and sums of their weights."""

import numpy as np

from libc.stdint cimport int32_t, uint16_t, uint64_t
from libcpp.vector cimport vector

cdef uint64_t PRIME = 0x9E3779B97F4A7C15ULL


cdef struct Rows:
    int32_t word
    int32_t first
    int32_t end


def window_keys(const uint64_t[:, ::1] parts, const int32_t[:, :, ::1] templates, int reach):
    """Keys of the features of a sentence's n words, int32 (n, n_templates), none of them negative.

    parts (uint64, (n + 2 * reach, n_parts)): of the words, between rows for what is beyond the sentence's edges.
    templates (int32, (n_templates, most pairs, 2)): place, counted from `reach` words before, and part; -1 for none.
    """
    cdef int n = parts.shape[0] - 2 * reach, n_templates = templates.shape[0], most = templates.shape[1]
    keys_ = np.empty((n, n_templates), dtype=np.int32)
    cdef int32_t[:, ::1] keys = keys_
    cdef int i, t, j
    cdef uint64_t key
    with nogil:
        for i in range(n):
            for t in range(n_templates):
                key = <uint64_t>(t + 1)
                for j in range(most):
                    if templates[t, j, 0] >= 0:
                        key = (key ^ parts[i + templates[t, j, 0], templates[t, j, 1]]) * PRIME
                        key ^= key >> 29
                keys[i, t] = <int32_t>((key * PRIME) >> 33)
    return keys_


def sum_weights(
    const int32_t[:, ::1] keys,
    const int32_t[::1] features,
    const int32_t[::1] buckets,
    int shift,
    const int32_t[::1] offsets,
    const uint16_t[::1] outputs,
    const float[::1] weights,
    int n_outputs,
):
    """Sums of the weights of each word's features, float32 (n_words, n_outputs).

    keys (int32, (n_words, n_templates)): features of each word; those that are not known weigh nothing.
    features (int32, (n_features,)): keys of the known features, sorted.
    buckets (int32, (n_buckets + 1,)): features whose key, shifted right, is b are `buckets[b]:buckets[b + 1]`.
    offsets, outputs, weights: rows of the features, as in `Classifier`.
    """
    sums_ = np.zeros((keys.shape[0], n_outputs), dtype=np.float32)
    cdef float[:, ::1] sums = sums_
    cdef vector[Rows] known
    cdef Rows rows
    cdef int i, t, f, w
    with nogil:
        for i in range(keys.shape[0]):        # all are found first: the look-ups wait for memory side by side
            for t in range(keys.shape[1]):
                for f in range(buckets[keys[i, t] >> shift], buckets[(keys[i, t] >> shift) + 1]):
                    if features[f] == keys[i, t]:
                        rows.word, rows.first, rows.end = i, offsets[f], offsets[f + 1]
                        known.push_back(rows)
        for rows in known:
            for w in range(rows.first, rows.end):
                sums[rows.word, outputs[w]] += weights[w]
    return sums_
