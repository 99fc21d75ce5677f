# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What the scores of a classifier leave of the emissions of a sentence's words."""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libcpp.vector cimport vector


def emission_weights(
    const float[:, ::1] scores,
    const double[:, ::1] tag_factors,
    const int32_t[::1] terminals,
    const int32_t[::1] tags,
    double tag_weight,
    double threshold,
    lexicon,
    const int32_t[::1] tag_of,
    const int32_t[::1] tag_terminals,
):
    """Factors of each word's emissions under the symbols that emit it, and posteriors of tags.

    scores (float32, (n, n_preterminals or more)): logarithms, up to a constant, of P(symbol | window).
    tag_factors (float64, (n, n_tags)): of the emissions of the words' terminals.
    terminals, tags (int32, (n,)): of the words; a tag of -1 is none.
    tag_weight (float): factor of a word's emissions under another tag than the given one.
    threshold (float): symbols whose posterior is lower get 0, but for each word's best.
    lexicon (Lexicon): its rows are the symbols that emit a terminal.
    tag_of (int32, (n_preterminals,)), tag_terminals (int32, (n_tags,)): a given tag that no row of a word's terminal
        has brings the rows of its own terminal.
    RETURNS (tuple): float64 (n, n_preterminals), 0 for symbols that do not emit the word; float64 (n, n_tags).
    """
    cdef const int32_t[::1] offsets = lexicon.offsets, symbols = lexicon.symbols
    cdef int n = terminals.shape[0]
    weights_, posteriors_ = np.zeros((n, tag_of.shape[0])), np.zeros((n, tag_factors.shape[1]))
    cdef double[:, ::1] weights = weights_, posteriors = posteriors_
    cdef vector[int32_t] candidates
    cdef vector[double] shares
    cdef int i, r
    cdef size_t k
    cdef bint lacks_tag
    cdef double total, largest
    for i in range(n):
        candidates.clear()
        lacks_tag = tags[i] >= 0
        for r in range(offsets[terminals[i]], offsets[terminals[i] + 1]):
            candidates.push_back(symbols[r])
            lacks_tag &= tag_of[symbols[r]] != tags[i]
        if lacks_tag:
            for r in range(offsets[tag_terminals[tags[i]]], offsets[tag_terminals[tags[i]] + 1]):
                candidates.push_back(symbols[r])
        shares.assign(candidates.size(), -INFINITY)
        largest, total = -INFINITY, 0
        for k in range(candidates.size()):
            r = candidates[k]
            weights[i, r] = tag_factors[i, tag_of[r]] * (1 if tags[i] < 0 or tag_of[r] == tags[i] else tag_weight)
            if weights[i, r] > 0:
                shares[k] = scores[i, r] + log(weights[i, r])
            largest = max(largest, shares[k])
        for k in range(candidates.size()):
            shares[k] = exp(shares[k] - largest)
            total += shares[k]
        for k in range(candidates.size()):
            posteriors[i, tag_of[candidates[k]]] += shares[k] / total
            if shares[k] < 1 and shares[k] / total < threshold:
                weights[i, candidates[k]] = 0
    return weights_, posteriors_
