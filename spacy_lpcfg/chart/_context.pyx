"""Pruning before a chart is built: of the symbols of words by a classifier."""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.vectors cimport fill


def emissions(
    const float[:, ::1] scores,
    const double[:, ::1] tag_factors,
    const double[:, ::1] extra,
    const int32_t[::1] terminals,
    double threshold,
    lexicon,
    const int32_t[::1] tag_of,
    const int32_t[::1] tag_terminals,
):
    """Return the rows of the lexicon that emit each word, their factors, and posteriors of tags.

    scores (float32, (n, n_preterminals or more)): logarithms, up to a constant, of P(symbol | context).
    tag_factors (float64, (n, n_tags)): of the emissions of the words' terminals; 0 rules a tag out.
    extra (float64, (n, n_tags)): factors of the emissions of tags that no row of a word's terminal has; 0 for none.
    terminals (int32, (n,)): of the words.
    threshold (float): symbols whose posterior is lower are left out, but for each word's best.
    lexicon (Lexicon): its rows are the symbols that emit a terminal.
    tag_of (int32, (n_preterminals,)), tag_terminals (int32, (n_tags,)): the terminal that stands for any word of a tag.
    RETURNS (tuple): int32 (n + 1,), where the rows of each word begin; int32 (n_rows,), the rows; float64 (n_rows,),
        their factors; float64 (n, n_tags), the posteriors.
    """
    cdef const int32_t[::1] offsets = lexicon.offsets, symbols = lexicon.symbols
    cdef int n = terminals.shape[0], n_tags = tag_factors.shape[1]
    posteriors_, first_ = np.zeros((n, n_tags)), np.zeros(n + 1, dtype=np.int32)
    cdef double[:, ::1] posteriors = posteriors_
    cdef int32_t[::1] first = first_
    cdef vector[int32_t] rows, candidates
    cdef vector[double] factors, weights, shares
    cdef vector[char] has_tag
    cdef int i, r, t
    cdef size_t k
    cdef double total, largest
    for i in range(n):
        candidates.clear()
        weights.clear()
        fill(has_tag, n_tags, False)
        for r in range(offsets[terminals[i]], offsets[terminals[i] + 1]):
            t = tag_of[symbols[r]]
            has_tag[t] = True
            if tag_factors[i, t] > 0:
                candidates.push_back(r)
                weights.push_back(tag_factors[i, t])
        for t in range(n_tags):
            if extra[i, t] > 0 and not has_tag[t]:
                for r in range(offsets[tag_terminals[t]], offsets[tag_terminals[t] + 1]):
                    candidates.push_back(r)
                    weights.push_back(extra[i, t])
        shares.clear()
        largest, total = -INFINITY, 0
        for k in range(candidates.size()):
            shares.push_back(scores[i, symbols[candidates[k]]] + log(weights[k]))
            largest = max(largest, shares[k])
        for k in range(candidates.size()):
            shares[k] = exp(shares[k] - largest)
            total += shares[k]
        for k in range(candidates.size()):
            posteriors[i, tag_of[symbols[candidates[k]]]] += shares[k] / total
            if shares[k] == 1 or shares[k] / total >= threshold:
                rows.push_back(candidates[k])
                factors.push_back(weights[k])
        first[i + 1] = <int32_t>rows.size()
    return first_, np.array(rows, dtype=np.int32), np.array(factors, dtype=np.float64), posteriors_
