"""The log-linear classifier of words in their windows: keys of features, sums of their weights, and stochastic gradients
with a learning rate of its own for every weight (AdaGrad).
"""

import numpy as np

from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, int8_t, uint16_t, uint64_t
from libcpp.vector cimport vector


# Features and scores ------------------------------------------------------------------------------


cdef uint64_t PRIME = 0x9E3779B97F4A7C15ULL


cdef struct Rows:
    int32_t word
    int32_t first
    int32_t end


def window_keys(const uint64_t[:, ::1] parts, const int32_t[:, :, ::1] templates, int reach):
    """Hash the window features of a sentence's n words to keys, int32 (n, n_templates), none of them negative.

    parts (uint64, (n + 2 * reach, n_parts)): Attributes of the words, with `reach` rows for each edge of the sentence.
    templates (int32, (n_templates, most pairs, 2)): Pairs of position + reach and attribute; -1 for no pair.
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
    """Sum the weights of each word's features, float32 (n_words, n_outputs).

    keys (int32, (n_words, n_templates)): Features of each word; unknown ones have no weight.
    features (int32, (n_features,)): Keys of the known features, sorted.
    buckets (int32, (n_buckets + 1,)): The features with `key >> shift == b` are `buckets[b]:buckets[b + 1]`.
    offsets, outputs, weights: Rows of the features, as in `Classifier`.
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


# Learning -----------------------------------------------------------------------------------------


cdef float LEAST_GRADIENT = 1e-4     # of a score; smaller ones change no weight


cdef struct Weights:
    float* values        # (n_features, n_outputs)
    float* squares       # (n_features, n_outputs): sums of squared gradients
    int n_outputs
    float rate


cdef float score(const Weights& weights, const vector[int32_t]& features, int output) noexcept nogil:
    cdef float total = 0
    cdef size_t k
    for k in range(features.size()):
        total += weights.values[<size_t>features[k] * weights.n_outputs + output]
    return total


cdef void descend(Weights& weights, const vector[int32_t]& features, int output, float gradient) noexcept nogil:
    """Take an AdaGrad step for each weight of a score, by the gradient of the loss with respect to the score."""
    cdef size_t k, w
    if -LEAST_GRADIENT < gradient < LEAST_GRADIENT:
        return
    for k in range(features.size()):
        w = <size_t>features[k] * weights.n_outputs + output
        weights.squares[w] += gradient * gradient
        weights.values[w] -= weights.rate * gradient / sqrt(weights.squares[w])


cdef double learn_symbol(Weights& weights, const vector[int32_t]& features, const int32_t[::1] candidates,
                         vector[float]& scores, int symbol) noexcept nogil:
    """Take a step for the loss -log P(symbol | window), P a softmax over candidates with the symbol; return it."""
    cdef int k, n = candidates.shape[0], own = 0
    cdef float largest = -1e30
    cdef double total = 0
    for k in range(n):
        scores[k] = score(weights, features, candidates[k])
        largest = max(largest, scores[k])
        if candidates[k] == symbol:
            own = k
    cdef double loss = largest - scores[own]
    for k in range(n):
        scores[k] = exp(scores[k] - largest)
        total += scores[k]
    for k in range(n):
        descend(weights, features, candidates[k], scores[k] / <float>total - (k == own))
    return loss + log(total)


cdef double learn_boundary(Weights& weights, const vector[int32_t]& features, int output,
                           bint happens) noexcept nogil:
    """Take a step for the loss -log P(happens | window), or of the opposite, P logistic; return it."""
    cdef double odds = exp(-score(weights, features, output))
    descend(weights, features, output, <float>(1 / (1 + odds)) - happens)
    return log(1 + (odds if happens else 1 / odds))


def adagrad_epoch(
    const int32_t[:, ::1] features,
    const int32_t[::1] terminals,
    const int32_t[::1] symbols,
    const int8_t[:, ::1] boundaries,
    const int32_t[::1] row_offsets,
    const int32_t[::1] row_symbols,
    float[:, ::1] weights,
    float[:, ::1] squares,
    float rate,
):
    """Take a step of AdaGrad (Duchi et al. 2011) at each of n words in turn; return the sum of losses before each step.

    features (int32, (n, n_templates)): Features of each word; -1 for none.
    terminals, symbols (int32, (n,)): Of each word; a symbol that does not emit its terminal is skipped.
    boundaries (int8, (n, 2)): Whether spans begin, and end.
    row_offsets, row_symbols (int32): The symbols that emit each terminal, as in `Lexicon`.
    weights (float32, (n_features, n_symbols + 2)): Changed in place.
    squares (float32, (n_features, n_symbols + 2)): Sums of squared gradients so far, above 0; changed in place.
    rate (float): A step is rate * gradient / sqrt(squares).
    """
    cdef Weights table
    cdef vector[int32_t] active
    cdef vector[float] scores
    cdef int i, t, k, first, last
    cdef bint is_candidate
    cdef double loss = 0
    table.values, table.squares, table.rate, table.n_outputs = &weights[0, 0], &squares[0, 0], rate, weights.shape[1]
    scores.resize(table.n_outputs)
    with nogil:
        for i in range(features.shape[0]):
            active.clear()
            for t in range(features.shape[1]):
                if features[i, t] >= 0:
                    active.push_back(features[i, t])
            first, last = row_offsets[terminals[i]], row_offsets[terminals[i] + 1]
            is_candidate = False
            for k in range(first, last):
                is_candidate |= row_symbols[k] == symbols[i]
            if is_candidate:
                loss += learn_symbol(table, active, row_symbols[first:last], scores, symbols[i])
            for k in range(2):
                loss += learn_boundary(table, active, table.n_outputs - 2 + k, boundaries[i, k])
    return loss
