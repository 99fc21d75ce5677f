"""Keys of the yields and contexts of spans, their scores, and the binary trees of the best scores.

The spans of two or more words of a sentence of n words lie in a row: [0, 2), [0, 3), ... [0, n), [1, 3), ...; those of
many sentences lie one after the other. Symbols are numbers from 1 to 255, and 0 is the boundary of the sentence.
"""

import numpy as np

from libc.math cimport INFINITY, exp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_lpcfg.vectors cimport fill

# Bits of the flags of a symbol or word, by which `is_flat` finds brackets that treebanks do not annotate.
cpdef enum:
    NOMINAL = 1
    MODIFIER = 2
    OPENS_NONE = 4
    ADVERB = 8
    VERB = 16


# Keys ---------------------------------------------------------------------------------------------


cdef inline size_t row(int n, int i) noexcept nogil:
    """Return the index of [i, i + 2) in the row of a sentence of n words."""
    return <size_t>i * (n - 1) - <size_t>i * (i - 1) // 2


cdef inline double at(const double* chart, int n, int i, int j) noexcept nogil:
    return chart[row(n, i) + j - i - 2] if j - i > 1 else 0


cdef inline int length_class(int length) noexcept nogil:
    """Return 1 to 5 for themselves, then a class for 6 and 7, 8 to 10, 11 to 15, 16 to 23, and more."""
    if length < 6:
        return length
    if length < 11:
        return 6 if length < 8 else 7
    return 8 if length < 16 else 9 if length < 24 else 10


cdef inline int64_t yield_key(const uint8_t* symbols, const int32_t* segments, int i, int j) noexcept nogil:
    """Encode a yield: all symbols up to five, else the first and the last; length; whether there is punctuation."""
    cdef int64_t key = 2 * length_class(j - i) + (segments[j - 1] != segments[i])
    cdef int k
    if j - i > 5:
        return (key << 16) | (symbols[i] << 8) | symbols[j - 1]
    for k in range(i, j):
        key = (key << 8) | symbols[k]
    return key


cdef inline int64_t context_key(const uint8_t* symbols, const int32_t* segments, int n, int i, int j) noexcept nogil:
    """Encode a context: a symbol and whether there is punctuation, on either side; below zero."""
    cdef int64_t left = 1, right = 1
    if i > 0:
        left = 2 * <int64_t>symbols[i - 1] + (segments[i] != segments[i - 1])
    if j < n:
        right = 2 * <int64_t>symbols[j] + (segments[j] != segments[j - 1])
    return -1 - ((left << 9) | right)


def span_keys(const int32_t[::1] lengths, const uint8_t[::1] symbols, const int32_t[::1] segments):
    """Return the keys of the yield and of the context of every span.

    lengths (int32, (n_sentences,)): Number of words of each sentence.
    symbols (uint8, (n,)), segments (int32, (n,)): Of all words; a segment is a stretch without punctuation.
    RETURNS (tuple): Keys of yields and of contexts, each int64 (n_spans,); no key is in both.
    """
    cdef size_t span = 0, word = 0, total = 0
    cdef int s, n, i, j
    for s in range(lengths.shape[0]):
        total += <size_t>lengths[s] * (lengths[s] - 1) // 2
    yields_array, contexts_array = np.empty(total, np.int64), np.empty(total, np.int64)
    cdef int64_t[::1] yields = yields_array, contexts = contexts_array
    with nogil:
        for s in range(lengths.shape[0]):
            n = lengths[s]
            for i in range(n - 1):
                for j in range(i + 2, n + 1):
                    yields[span] = yield_key(&symbols[word], &segments[word], i, j)
                    contexts[span] = context_key(&symbols[word], &segments[word], n, i, j)
                    span += 1
            word += n
    return yields_array, contexts_array


# Best trees ---------------------------------------------------------------------------------------


cdef void best_below(const double* scores, double* chart, double* ends, int n, int start, int end) noexcept nogil:
    """Compute the scores of the best trees of all spans within [start, end).

    ends: The same scores as in chart, but with those of the same end side by side, (n + 1, n + 1).
    """
    cdef int i, j, k
    cdef size_t w = n + 1
    cdef double best
    cdef double* out
    cdef const double* by_end
    for i in range(end - 1, start - 1, -1):
        out = chart + row(n, i) - i - 2
        ends[(i + 1) * w + i] = 0
        for j in range(i + 2, end + 1):
            by_end = ends + j * w
            best = by_end[i + 1]
            for k in range(i + 2, j):
                best = max(best, out[k] + by_end[k])
            out[j] = best + scores[row(n, i) + j - i - 2]
            ends[j * w + i] = out[j]


cdef int best_split(const double* chart, int n, int i, int j) noexcept nogil:
    """Return the best position at which to split [i, j), the first of several."""
    cdef int k, chosen = i + 1
    cdef double best = -INFINITY, total
    for k in range(i + 1, j):
        total = at(chart, n, i, k) + at(chart, n, k, j)
        if total > best:
            best, chosen = total, k
    return chosen


cdef int top_split(const double* scores, double* chart, double* ends, int n, int split) noexcept nogil:
    """Fill the chart, and return the top split: the given one or, if that is 0, the best."""
    if split > 0:
        best_below(scores, chart, ends, n, 0, split)
        best_below(scores, chart, ends, n, split, n)
        return split
    best_below(scores, chart, ends, n, 0, n)
    return best_split(chart, n, 0, n)


cdef void mark(const double* chart, uint8_t* chosen, int n, int i, int j) noexcept nogil:
    """Mark the spans of the best tree of [i, j)."""
    cdef int split
    if j - i < 2:
        return
    chosen[row(n, i) + j - i - 2] = 1
    split = best_split(chart, n, i, j)
    mark(chart, chosen, n, i, split)
    mark(chart, chosen, n, split, j)


def best_trees(const int32_t[::1] lengths, const double[::1] scores, const int32_t[::1] splits):
    """Find the tree of each sentence that maximises the sum of the scores of its spans.

    lengths (int32, (n_sentences,)): Number of words of each sentence, two or more.
    scores (float64, (n_spans,)): Of all spans.
    splits (int32, (n_sentences,)): Positions of the top splits, or 0 for the best one.
    RETURNS (uint8, (n_spans,)): Whether each span is in its sentence's tree.
    """
    cdef int s, n, split
    cdef size_t span = 0
    cdef vector[double] chart, ends
    chosen_array = np.zeros(scores.shape[0], np.uint8)
    cdef uint8_t[::1] chosen = chosen_array
    with nogil:
        for s in range(lengths.shape[0]):
            n = lengths[s]
            chart.resize(max(chart.size(), row(n, n)))
            ends.resize(max(ends.size(), <size_t>(n + 1) * (n + 1)))
            split = top_split(&scores[span], chart.data(), ends.data(), n, splits[s])
            chosen[span + n - 2] = 1
            mark(chart.data(), &chosen[span], n, 0, split)
            mark(chart.data(), &chosen[span], n, split, n)
            span += row(n, n)
    return chosen_array


cdef inline bint is_left_out(const uint8_t* flags, int i, int j, int start, int end) noexcept nogil:
    if flags[i] & OPENS_NONE or (flags[i] & ADVERB and flags[i + 1] & VERB):
        return True
    if start == i - 1 and flags[i - 1] & MODIFIER and flags[i] & NOMINAL:
        return True
    return end == j + 1 and (flags[j - 1] & flags[j] & NOMINAL) != 0


def is_flat(bytes flags, int i, int j, int start, int end):
    """Return whether treebanks have no bracket where a binary tree has [i, j), of two words or more, below [start, end).

    They have none that begins with a word that OPENS_NONE, none that begins with an ADVERB and a VERB, none that begins
    with a NOMINAL word after a sister of one MODIFIER, and none that ends with a NOMINAL word before a sister of one
    NOMINAL word.

    flags (bytes of length n): The flags of the words of the sentence.
    """
    return is_left_out(flags, i, j, start, end)


cdef class SpanScores:
    """A hash table of the scores of yields and contexts, with the flags of symbols for brackets to leave out."""

    cdef vector[int64_t] keys
    cdef vector[float] values
    cdef vector[uint8_t] used
    cdef uint64_t mask
    cdef double unseen_yield, unseen_context
    cdef uint8_t flags[256]

    def __init__(self, const int64_t[::1] keys, const float[::1] values, double unseen_yield, double unseen_context,
                 const uint8_t[::1] flags):
        """Build the table.

        keys (int64, (n,)), values (float32, (n,)): Scores of yields and contexts by their keys.
        unseen_yield, unseen_context (float): Scores of unseen ones.
        flags (uint8, (256,)): Of symbols; see `is_flat`.
        """
        cdef size_t size = 16, place
        cdef int k
        while size < 2 * <size_t>keys.shape[0]:
            size *= 2
        self.mask = size - 1
        fill(self.keys, size, 0)
        fill(self.values, size, 0)
        fill(self.used, size, 0)
        self.unseen_yield, self.unseen_context = unseen_yield, unseen_context
        for k in range(256):
            self.flags[k] = flags[k]
        for k in range(keys.shape[0]):
            place = self.find(keys[k])
            self.keys[place], self.values[place], self.used[place] = keys[k], values[k], 1

    cdef size_t find(self, int64_t key) noexcept nogil:
        """Return the slot of a key, or the free one where it belongs."""
        cdef uint64_t hashed = <uint64_t>key * <uint64_t>0x9E3779B97F4A7C15
        cdef size_t place = (hashed ^ (hashed >> 32)) & self.mask
        while self.used[place] and self.keys[place] != key:
            place = (place + 1) & self.mask
        return place

    cdef double value(self, int64_t key) noexcept nogil:
        cdef size_t place = self.find(key)
        if self.used[place]:
            return self.values[place]
        return self.unseen_context if key < 0 else self.unseen_yield

    cdef void score(self, const uint8_t* symbols, const int32_t* segments, int n, double* scores) noexcept nogil:
        cdef int i, j
        for i in range(n - 1):
            for j in range(i + 2, n + 1):
                scores[row(n, i) + j - i - 2] = (
                    self.value(yield_key(symbols, segments, i, j)) + self.value(context_key(symbols, segments, n, i, j))
                )

    cdef int outline(self, const double* scores, const double* chart, const uint8_t* flags, int n, int i, int j,
                     int start, int end, vector[int]& spans, vector[double]& span_scores) except -1 nogil:
        """Collect the spans of the best tree of [i, j), whose parent is [start, end), in pre-order, with scores."""
        cdef int split
        if j - i < 2:
            return 0
        if not is_left_out(flags, i, j, start, end):
            spans.push_back(i)
            spans.push_back(j)
            span_scores.push_back(scores[row(n, i) + j - i - 2])
        split = best_split(chart, n, i, j)
        self.outline(scores, chart, flags, n, i, split, i, j, spans, span_scores)
        self.outline(scores, chart, flags, n, split, j, i, j, spans, span_scores)

    def decode(self, bytes symbols, const int32_t[::1] segments, int split):
        """Return the best tree of n >= 2 words, without brackets to leave out and without the whole sentence.

        symbols (bytes of length n), segments (int32, (n,)): Of the words; split (int): See `best_trees`.
        RETURNS (tuple): Spans (list of (int, int)) in pre-order; the logistic function of their scores (list of float).
        """
        cdef const uint8_t* text = symbols
        cdef int n = segments.shape[0]
        cdef vector[double] scores, chart, ends, span_scores
        cdef vector[int] spans
        cdef vector[uint8_t] flags
        cdef size_t k
        with nogil:
            flags.resize(n)
            for k in range(n):
                flags[k] = self.flags[text[k]]
            scores.resize(row(n, n))
            chart.resize(row(n, n))
            ends.resize(<size_t>(n + 1) * (n + 1))
            self.score(text, &segments[0], n, scores.data())
            split = top_split(scores.data(), chart.data(), ends.data(), n, split)
            self.outline(scores.data(), chart.data(), flags.data(), n, 0, split, 0, n, spans, span_scores)
            self.outline(scores.data(), chart.data(), flags.data(), n, split, n, 0, n, spans, span_scores)
        return (
            [(spans[2 * k], spans[2 * k + 1]) for k in range(span_scores.size())],
            [1 / (1 + exp(-span_scores[k])) for k in range(span_scores.size())],
        )
