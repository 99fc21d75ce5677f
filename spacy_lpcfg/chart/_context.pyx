"""Pruning before a chart is built: of the symbols of words by a classifier, of cells by likely brackets."""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector


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
        has_tag.assign(n_tags, False)
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


def bracket_cells(brackets, int n_words, dict labels, const uint64_t[:, ::1] of_symbols, const char[::1] intermediate):
    """Return the cells and rows of the `CellMask` that allows given brackets and their binarisation from the left.

    brackets (iterable of (start, end, label)): of the sentence; labels may be unknown.
    labels (dict of str to int): numbers of the known ones.
    of_symbols (uint64, (n_blocks, n_symbols)): the labels of each symbol's brackets, as bits by number.
    intermediate (int8, (n_symbols,)): whether a symbol is of binarisation; such stand where a longer bracket begins.
    RETURNS (int32 (n_words + 1, n_words + 1), int8 (n_rows, n_symbols)): each cell with labels has a row of its own.
    """
    cdef int n_blocks = of_symbols.shape[0], n_rows = OPEN + 1
    cdef vector[uint64_t] bits = vector[uint64_t](n_rows * n_blocks, 0)   # (n_rows, n_blocks): the labels of rows
    cdef vector[int32_t] furthest = vector[int32_t](n_words, 0)           # the end of the longest bracket, by start
    cells_ = np.zeros((n_words + 1, n_words + 1), dtype=np.int32)
    cdef int32_t[:, ::1] cells = cells_
    cdef char[:, ::1] rows
    cdef int start, end, label
    for start, end, name in brackets:
        furthest[start] = max(furthest[start], end)
        label = labels.get(name, -1)
        if label >= 0 and cells[start, end] == 0:
            cells[start, end], n_rows = n_rows, n_rows + 1
            bits.resize(n_rows * n_blocks, 0)
        if label >= 0:
            bits[cells[start, end] * n_blocks + label // 64] |= <uint64_t>1 << (label % 64)
    rows_ = np.zeros((n_rows, of_symbols.shape[1]), dtype=np.int8)
    rows = rows_
    with nogil:
        fill_row(rows[BARE], &bits[0], False, of_symbols, intermediate)
        fill_row(rows[OPEN], &bits[0], True, of_symbols, intermediate)
        for start in range(n_words):
            for end in range(start + 1, n_words + 1):
                if cells[start, end]:
                    fill_row(rows[cells[start, end]], &bits[cells[start, end] * n_blocks], end < furthest[start],
                             of_symbols, intermediate)
                elif end < furthest[start]:
                    cells[start, end] = OPEN
                elif end == start + 1:
                    cells[start, end] = BARE
    return cells_, rows_


cdef enum:
    BARE = 1    # the row of words without brackets
    OPEN = 2    # that of cells without labels where a longer bracket begins


cdef void fill_row(char[::1] row, const uint64_t* bits, bint is_open, const uint64_t[:, ::1] of_symbols,
                   const char[::1] intermediate) noexcept nogil:
    """Allow the symbols whose labels are all among given ones, as bits; those of binarisation if `is_open`."""
    cdef int block, symbol
    cdef uint64_t others
    for symbol in range(row.shape[0]):
        row[symbol] = not intermediate[symbol] or is_open
    for block in range(of_symbols.shape[0]):
        others = ~bits[block]
        for symbol in range(row.shape[0]):
            row[symbol] &= intermediate[symbol] or not (of_symbols[block, symbol] & others)
