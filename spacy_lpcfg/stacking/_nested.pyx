"""A distribution over sets of brackets that nest, by exact inside and outside sums over the candidates of a sentence.

A set is any one of the candidates of which no two cross. Over the same words it may have none of the labels, one, or
several: those are a chain, in the order in which the grammar stacks them, which does not count here. The log weight of
a set is the sum of the scores of its brackets:

    ln P(set) = sum of scores(bracket) over the set - ln Z

A span stands for its labels: it weighs product(1 + exp(score)) - 1, over its labels, in a set that has any of them.
So each set is counted once: spans side by side, each with such a row of spans within.
"""

import numpy as np

from libc.math cimport exp, expm1, fmax, log, log1p
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

cdef enum:
    LARGE = 30               # log weights from which one more or less makes no difference


cdef struct Span:
    int start
    int end
    double log_free          # ln product(1 + exp(score)): with any of its labels, or none
    double log_any           # the same, less 1: with at least one
    double log_inside        # with at least one, and all rows of spans within
    double expected          # P(a set has at least one)


cdef struct Row:
    int start
    int end                  # of the longest span that begins there, or of the sentence
    int first                # of its spans, which are in the order of their ends
    int last                 # after the last one
    int offset               # of its sums


cdef inline double softplus(double x) noexcept nogil:
    """ln(1 + exp(x))."""
    return fmax(x, 0) + log1p(exp(-x if x > 0 else x))


cdef class NestedSets:
    """The sets of nested brackets of one sentence.

    bounds (int32, (n, 2)): start and end of each candidate, half-open, in any order.
    scores (float64, (n,)): of each, from -50 to 50.
    """

    cdef int n_words
    cdef vector[Span] spans      # by falling start, then growing end
    cdef vector[int] span_of     # of each candidate
    cdef vector[double] log_p    # ln sigmoid(score) of each candidate: where no other crosses it
    cdef vector[Row] rows        # by falling start; the last one is the whole sentence's
    cdef vector[int] by_end      # spans by growing end, then falling start
    cdef vector[int] first_of_end
    cdef vector[double] sums     # ln of what may stand side by side in [row.start, place), for each place
    cdef vector[double] shares   # of one row: how much of a set's probability goes by each place

    def __init__(self, const int32_t[:, ::1] bounds, const double[::1] scores):
        cdef int k
        self.n_words = 0
        for k in range(bounds.shape[0]):
            self.n_words = max(self.n_words, bounds[k, 1])
        self.shares.resize(self.n_words + 1)
        self.gather(bounds, scores)
        self.sort_by_end()
        self.make_rows()
        for k in range(<int>self.rows.size()):
            self.inside(self.rows[k])

    # Structure

    cdef void gather(self, const int32_t[:, ::1] bounds, const double[::1] scores) noexcept nogil:
        """Spans, with the weights of their labels."""
        cdef vector[pair[int64_t, int]] order
        cdef int64_t place, last = -1
        cdef int k
        cdef Span* span
        for k in range(<int>bounds.shape[0]):
            place = <int64_t>(self.n_words - bounds[k, 0]) * (self.n_words + 1) + bounds[k, 1]
            order.push_back(pair[int64_t, int](place, k))
        sort(order.begin(), order.end())
        self.span_of.resize(order.size())
        self.log_p.resize(order.size())
        for entry in order:
            k = entry.second
            if entry.first != last:
                self.spans.push_back(Span(bounds[k, 0], bounds[k, 1], 0, 0, 0, 0))
                last = entry.first
            span = &self.spans[self.spans.size() - 1]
            span.log_free += softplus(scores[k])
            self.span_of[k] = <int>self.spans.size() - 1
            self.log_p[k] = -softplus(-scores[k])
        for k in range(<int>self.spans.size()):
            span = &self.spans[k]
            span.log_any = log(expm1(span.log_free)) if span.log_free < LARGE else span.log_free

    cdef void sort_by_end(self) noexcept nogil:
        cdef vector[int] places
        cdef int k
        self.first_of_end.assign(self.n_words + 2, 0)
        for k in range(<int>self.spans.size()):
            self.first_of_end[self.spans[k].end + 1] += 1
        for k in range(self.n_words + 1):
            self.first_of_end[k + 1] += self.first_of_end[k]
        places = self.first_of_end
        self.by_end.resize(self.spans.size())
        for k in range(<int>self.spans.size()):
            self.by_end[places[self.spans[k].end]] = k
            places[self.spans[k].end] += 1

    cdef void make_rows(self) noexcept nogil:
        cdef int k = 0, n = self.spans.size(), first, offset = 0
        while k < n:
            first = k
            while k < n and self.spans[k].start == self.spans[first].start:
                k += 1
            self.rows.push_back(Row(self.spans[first].start, self.spans[k - 1].end, first, k, offset))
            offset += self.spans[k - 1].end - self.spans[first].start + 1
        if n and self.spans[n - 1].start > 0:
            self.rows.push_back(Row(0, 0, n, n, offset))
        if n:
            self.rows[self.rows.size() - 1].end = self.n_words
            offset = self.rows[self.rows.size() - 1].offset + self.n_words + 1
        self.sums.assign(offset, 0)

    # Sums

    cdef double side_by_side(self, Row row, int end) noexcept nogil:
        """ln of what may stand in [row.start, end), without a span over all of it."""
        cdef double* sums = &self.sums[row.offset]
        cdef double before = sums[end - 1 - row.start], most = before, total
        cdef int k, last = self.first_of_end[end]
        cdef Span* span
        while last < self.first_of_end[end + 1] and self.spans[self.by_end[last]].start > row.start:
            span = &self.spans[self.by_end[last]]
            most = fmax(most, sums[span.start - row.start] + span.log_inside)
            last += 1
        total = exp(before - most)
        for k in range(self.first_of_end[end], last):
            span = &self.spans[self.by_end[k]]
            total += exp(sums[span.start - row.start] + span.log_inside - most)
        return most + log(total)

    cdef void inside(self, Row row) noexcept nogil:
        """The sums of a row, and the spans that begin with it; those that begin later are done."""
        cdef int end, own = row.first
        cdef double found
        for end in range(row.start + 1, row.end + 1):
            found = self.side_by_side(row, end)
            if own < row.last and self.spans[own].end == end:
                self.spans[own].log_inside = self.spans[own].log_any + found
                found += self.spans[own].log_free
                own += 1
            self.sums[row.offset + end - row.start] = found

    cdef void outside(self, Row row) noexcept nogil:
        """Hand what is expected of a row's spans on to those within; of those that begin earlier it is known.

        The derivative of ln Z by the logarithm of each sum, from the last place to the first.
        """
        cdef int end, own = row.last - 1
        cdef double whole, share
        cdef double* sums = &self.sums[row.offset]
        for end in range(row.end - row.start + 1):
            self.shares[end] = 0
        if row.start == 0:
            self.shares[self.n_words] = 1
        for end in range(row.end, row.start, -1):
            whole, share = sums[end - row.start], self.shares[end - row.start]
            if own >= row.first and self.spans[own].end == end:
                self.spans[own].expected += share * exp(self.spans[own].log_inside - whole)
                whole -= self.spans[own].log_free
                share = share * exp(-self.spans[own].log_free) + self.spans[own].expected
                own -= 1
            if share > 0:
                self.hand_on(row, end, whole, share)

    cdef void hand_on(self, Row row, int end, double whole, double share) noexcept nogil:
        """The share of [row.start, end) to what it is the sum of."""
        cdef double* sums = &self.sums[row.offset]
        cdef double part
        cdef int k
        cdef Span* span
        self.shares[end - 1 - row.start] += share * exp(sums[end - 1 - row.start] - whole)
        for k in range(self.first_of_end[end], self.first_of_end[end + 1]):
            span = &self.spans[self.by_end[k]]
            if span.start <= row.start:
                break
            part = share * exp(sums[span.start - row.start] + span.log_inside - whole)
            self.shares[span.start - row.start] += part
            span.expected += part

    # Results

    @property
    def log_partition(self):
        """ln Z, over all sets; 0 without candidates."""
        return self.sums.back() if self.sums.size() else 0.0

    def marginals(self):
        """P(a set has each candidate), float64 (n,): the gradient of ln Z by the scores."""
        cdef int k
        cdef Span* span
        found = np.empty(self.span_of.size())
        cdef double[::1] p = found
        with nogil:
            for k in range(<int>self.spans.size()):
                self.spans[k].expected = 0
            for k in range(<int>self.rows.size() - 1, -1, -1):
                self.outside(self.rows[k])
            for k in range(<int>self.span_of.size()):
                span = &self.spans[self.span_of[k]]
                p[k] = span.expected * exp(self.log_p[k]) / -expm1(-span.log_free)
        return found
