# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Posteriors of the tags of a sentence under a bigram model, a cheap look at the context of every word."""

import numpy as np


def tag_posteriors(double[:, ::1] emissions, const double[:, ::1] bigrams):
    """P(tag_i | sentence) by the forward-backward algorithm, float64 (n_words, n_tags).

    emissions (float64, (n_words, n_tags)): P(word | tag), each row up to a factor and not all zero.
    bigrams (float64, (n_tags + 1, n_tags + 1)): P(next | tag); the last tag is the sentence's edge.
    """
    cdef int n = emissions.shape[0], n_tags = emissions.shape[1]
    forward_ = np.empty((n, n_tags))
    backward_ = np.empty((n, n_tags))
    cdef double[:, ::1] forward = forward_, backward = backward_
    cdef int i, s, t
    cdef double total, value
    with nogil:
        for i in range(n):
            total = 0
            if i == 0:
                for t in range(n_tags):
                    forward[0, t] = bigrams[n_tags, t]
            else:
                for t in range(n_tags):
                    forward[i, t] = 0
                for s in range(n_tags):
                    value = forward[i - 1, s]
                    if value > 0:
                        for t in range(n_tags):
                            forward[i, t] += value * bigrams[s, t]
            for t in range(n_tags):
                forward[i, t] *= emissions[i, t]
                total += forward[i, t]
            for t in range(n_tags):
                forward[i, t] /= total
        for t in range(n_tags):
            backward[n - 1, t] = bigrams[t, n_tags]
        for i in range(n - 2, -1, -1):
            total = 0
            for s in range(n_tags):
                value = 0
                if forward[i, s] > 0:
                    for t in range(n_tags):
                        value += bigrams[s, t] * emissions[i + 1, t] * backward[i + 1, t]
                backward[i, s] = value
                total += value
            for s in range(n_tags):
                backward[i, s] /= total
        for i in range(n):
            total = 0
            for t in range(n_tags):
                forward[i, t] *= backward[i, t]
                total += forward[i, t]
            for t in range(n_tags):
                forward[i, t] /= total
    return forward_
