"""Labelled spans of a sentence: their features, their scores by a table of weights, the descent that learns the table,
and the distribution over sets of spans that nest.
"""

import numpy as np

from libc.math cimport exp, expm1, fmax, log, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

cdef enum:
    MAX_TAGS = 6             # as in templates.py
    N_ATOMS = 19             # length of ATOMS there
    N_PLACES = 8             # length of PLACES there
    KEY_BITS = 31
    NEIGHBOURS = 4           # keys that begin with the same bits, on average; they share a line of the cache
    LARGE = 30               # log weights from which one more or less makes no difference

cdef uint64_t ODD = 0x9E3779B97F4A7C15


# Features ----------------------------------------------------------------------------------------


cdef inline uint64_t mixed(uint64_t state, uint64_t atom) noexcept nogil:
    state = (state ^ atom) * ODD
    return state ^ (state >> 32)


cdef inline uint64_t within(const int32_t[::1] texts, int place, int first, int last) noexcept nogil:
    """The hash at a place in [first, last); 0 outside."""
    return <uint64_t>texts[place] if first <= place < last else 0


cdef void around(const int32_t[::1] texts, int start, int end, uint64_t* atoms) noexcept nogil:
    """The atoms of the words or tags at `PLACES`."""
    cdef int n = texts.shape[0]
    atoms[0] = texts[start]
    atoms[1] = within(texts, start + 1, start, end)
    atoms[2] = within(texts, end - 2, start, end)
    atoms[3] = texts[end - 1]
    atoms[4] = within(texts, start - 2, 0, n)
    atoms[5] = within(texts, start - 1, 0, n)
    atoms[6] = within(texts, end, 0, n)
    atoms[7] = within(texts, end + 1, 0, n)


cdef uint64_t sequence(const int32_t[::1] tags, int start, int end) noexcept nogil:
    """A hash of all tags of a span."""
    cdef uint64_t state = end - start
    cdef int k
    for k in range(start, end):
        state = mixed(state, tags[k])
    return state


def span_features(
    const int32_t[::1] words,
    const int32_t[::1] tags,
    const int32_t[:, ::1] bounds,
    const int32_t[::1] labels,
    const int32_t[::1] odds,
    const int32_t[::1] lengths,
    const int32_t[:, ::1] templates,
):
    """Return the hashed features of labelled spans.

    words, tags (int32, (n_words,)): hashes, above 0.
    bounds (int32, (n_spans, 2)): start and end of each span, half-open.
    labels, odds, lengths (int32, (n_spans,)): hashes of labels, and bins.
    templates (int32, (n_templates, n)): see `template_table`.
    RETURNS (int32, (n_spans, n_templates)): keys of `KEY_BITS` bits; -1 for a template that a span has no feature of.
    """
    cdef int n_spans = bounds.shape[0], n_templates = templates.shape[0], width = templates.shape[1]
    keys_ = np.empty((n_spans, n_templates), dtype=np.int32)
    cdef int32_t[:, ::1] keys = keys_
    cdef uint64_t atoms[N_ATOMS]
    cdef uint64_t state
    cdef int i, t, k, start, end
    with nogil:
        for i in range(n_spans):
            start, end = bounds[i, 0], bounds[i, 1]
            atoms[0], atoms[1] = <uint64_t>(<int64_t>odds[i]), lengths[i]
            around(words, start, end, &atoms[2])
            around(tags, start, end, &atoms[2 + N_PLACES])
            atoms[N_ATOMS - 1] = sequence(tags, start, end) if end - start <= MAX_TAGS else 0
            for t in range(n_templates):
                state = mixed(t + 1, labels[i])
                for k in range(width):
                    if templates[t, k] < 0:
                        break
                    if templates[t, k] == N_ATOMS - 1 and end - start > MAX_TAGS:
                        state = 0
                        break
                    state = mixed(state, atoms[templates[t, k]])
                keys[i, t] = <int32_t>(state >> (64 - KEY_BITS)) if state else -1
    return keys_


def crossing_masses(const int32_t[:, ::1] bounds, const double[::1] p):
    """Return the sum of the probabilities p of the spans that cross each span, float64 (n_spans,)."""
    cdef int n = bounds.shape[0], i, j
    masses_ = np.zeros(n)
    cdef double[::1] masses = masses_
    with nogil:
        for i in range(n):
            for j in range(n):
                if bounds[i, 0] < bounds[j, 0] < bounds[i, 1] < bounds[j, 1]:
                    masses[i] += p[j]
                    masses[j] += p[i]
    return masses_


# Weights -----------------------------------------------------------------------------------------


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define lpcfg_prefetch(address) __builtin_prefetch(address)
    #else
    #define lpcfg_prefetch(address) ((void)0)
    #endif
    """
    void lpcfg_prefetch(const void* address) noexcept nogil


cdef class FeatureIndex:
    """Where each of many keys is; keys of the same first bits are neighbours, and few.

    keys (int32, (n,)): growing, not negative.
    """

    cdef const int32_t[::1] keys
    cdef int32_t[::1] firsts
    cdef int shift

    def __init__(self, const int32_t[::1] keys):
        cdef int bits = max(1, int(keys.shape[0] // NEIGHBOURS).bit_length())
        self.keys = keys
        self.shift = KEY_BITS - bits
        borders = np.arange(2**bits + 1, dtype=np.int64) << self.shift
        self.firsts = np.searchsorted(np.asarray(keys), borders).astype(np.int32)

    cdef void prepare(self, const int32_t* keys, int n) noexcept nogil:
        """Prefetch what is needed to find n keys, which takes longer than to find them."""
        cdef int k, first
        for k in range(n):
            if keys[k] >= 0:
                lpcfg_prefetch(&self.firsts[keys[k] >> self.shift])
        for k in range(n):
            if keys[k] >= 0:
                first = self.firsts[keys[k] >> self.shift]
                if first < <int>self.keys.shape[0]:
                    lpcfg_prefetch(&self.keys[first])

    cdef inline int find(self, int32_t key) noexcept nogil:
        """The place of a key; -1 if it is not there."""
        cdef int bucket, first, last, middle
        if key < 0:
            return -1
        bucket = key >> self.shift
        first, last = self.firsts[bucket], self.firsts[bucket + 1]
        while first < last:
            middle = (first + last) >> 1
            if self.keys[middle] < key:
                first = middle + 1
            elif self.keys[middle] > key:
                last = middle
            else:
                return middle
        return -1


cdef class SpanScorer:
    """Sums of the weights of features, of several kinds at once.

    keys (int32, (n_features,)): growing, not negative; weights (float32, (n_features, n_kinds)): of each.
    """

    cdef FeatureIndex index
    cdef const float[:, ::1] weights

    def __init__(self, const int32_t[::1] keys, const float[:, ::1] weights):
        self.index = FeatureIndex(keys)
        self.weights = weights

    def __reduce__(self):
        return SpanScorer, (np.asarray(self.index.keys), np.asarray(self.weights))

    def scores(self, const int32_t[:, ::1] keys):
        """Return the scores of spans with these features, float64 (n_spans, n_kinds); unknown keys weigh nothing."""
        cdef int i, t, k, place
        scores_ = np.zeros((keys.shape[0], self.weights.shape[1]))
        cdef double[:, ::1] scores = scores_
        with nogil:
            for i in range(keys.shape[0]):
                if keys.shape[1]:
                    self.index.prepare(&keys[i, 0], keys.shape[1])
                for t in range(keys.shape[1]):
                    place = self.index.find(keys[i, t])
                    if place >= 0:
                        for k in range(self.weights.shape[1]):
                            scores[i, k] += self.weights[place, k]
        return scores_


# Learning ----------------------------------------------------------------------------------------


cdef struct Learned:
    double weight
    double drift             # of the weight, times the steps before each change
    double square            # what the squared gradients have added up to


cdef class SpanDescent:
    """AdaGrad (Duchi et al. 2011) for losses of the scores of candidates, of several kinds at once; averaged weights.

    keys (int32, (n_features,)): of the features that are learned, growing; others are ignored.
    penalties (float64, (n_features,)): the loss of a candidate has half of this, times the squared weight, for each
        feature of it.
    dense (float64, (n_kinds, n_dense)): weights of the other inputs to begin with; features begin at 0.
    rate (float): a step is rate * gradient / sqrt(sum of squared gradients).
    start (float): the initial value of these sums.
    """

    cdef FeatureIndex index
    cdef const double[::1] penalties
    cdef vector[Learned] features    # those of one feature are neighbours, and so for `dense`
    cdef vector[Learned] dense
    cdef int n_kinds
    cdef int n_dense
    cdef double rate
    cdef long n_steps

    def __init__(self, const int32_t[::1] keys, const double[::1] penalties, const double[:, ::1] dense, double rate,
                 double start):
        cdef int f, k
        self.index = FeatureIndex(keys)
        self.penalties = penalties
        self.n_kinds, self.n_dense = dense.shape[0], dense.shape[1]
        self.rate = rate
        self.n_steps = 0
        self.features.assign(keys.shape[0] * self.n_kinds, Learned(0.0, 0.0, start))
        for f in range(self.n_dense):
            for k in range(self.n_kinds):
                self.dense.push_back(Learned(dense[k, f], 0.0, start))

    def places(self, int32_t[:, ::1] keys):
        """Replace each key by the index of its feature, -1 for none, in place, for `scores` and `step`."""
        cdef int i, t
        with nogil:
            for i in range(keys.shape[0]):
                if keys.shape[1]:
                    self.index.prepare(&keys[i, 0], keys.shape[1])
                for t in range(keys.shape[1]):
                    keys[i, t] = self.index.find(keys[i, t])

    def scores(self, const int32_t[:, ::1] places, const float[:, ::1] inputs):
        """Return the scores of the candidates of a sentence, float64 (n, n_kinds).

        places (int32, (n, n_templates)): of features; inputs (float32, (n, n_dense)): see `Candidates`.
        """
        cdef int i, t, f, k
        cdef Learned* of_one
        scores_ = np.zeros((places.shape[0], self.n_kinds))
        cdef double[:, ::1] scores = scores_
        with nogil:
            for i in range(places.shape[0]):
                for t in range(places.shape[1]):
                    if places[i, t] >= 0:
                        of_one = &self.features[places[i, t] * self.n_kinds]
                        for k in range(self.n_kinds):
                            scores[i, k] += of_one[k].weight
                for f in range(self.n_dense):
                    for k in range(self.n_kinds):
                        scores[i, k] += self.dense[f * self.n_kinds + k].weight * inputs[i, f]
        return scores_

    def step(self, const int32_t[:, ::1] places, const float[:, ::1] inputs, const double[:, ::1] gradients):
        """Take a step for each candidate of a sentence, given the gradients of its losses by its scores."""
        cdef int i, t, f, k, place
        with nogil:
            for i in range(places.shape[0]):
                for t in range(places.shape[1]):
                    place = places[i, t]
                    if place >= 0:
                        for k in range(self.n_kinds):
                            self.descend(self.features[place * self.n_kinds + k], gradients[i, k], self.penalties[place])
                for f in range(self.n_dense):
                    for k in range(self.n_kinds):
                        self.descend(self.dense[f * self.n_kinds + k], gradients[i, k] * inputs[i, f], 0)
                self.n_steps += 1

    cdef void descend(self, Learned& one, double gradient, double penalty) noexcept nogil:
        cdef double change
        gradient += penalty * one.weight
        one.square += gradient * gradient
        change = self.rate * gradient / sqrt(one.square)
        one.weight -= change
        one.drift -= change * self.n_steps

    def averages(self):
        """Return mean weights over all steps: float64 (n_features, n_kinds), and of dense inputs (n_kinds, n_dense)."""
        return self._averages(self.features), np.ascontiguousarray(self._averages(self.dense).T)

    cdef _averages(self, const vector[Learned]& learned):
        cdef double n = max(self.n_steps, 1)
        cdef size_t k
        means_ = np.empty(learned.size())
        cdef double[::1] means = means_
        for k in range(learned.size()):
            means[k] = learned[k].weight - learned[k].drift / n
        return means_.reshape(-1, self.n_kinds)


# Sets of brackets ---------------------------------------------------------------------------------


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
    """A distribution over the sets of brackets of a sentence that nest, by exact inside and outside sums.

    A set is any one of the candidates of which no two cross. Over the same words it may have none of the labels, one, or
    several: those are a chain, in the order in which the grammar stacks them, which does not count here. The log weight of
    a set is the sum of the scores of its brackets:

        ln P(set) = sum of scores(bracket) over the set - ln Z

    A span stands for its labels: it weighs product(1 + exp(score)) - 1, over its labels, in a set that has any of them.
    So each set is counted once: spans side by side, each with such a row of spans within.

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
        cdef double total
        for end in range(row.start + 1, row.end + 1):
            total = self.side_by_side(row, end)
            if own < row.last and self.spans[own].end == end:
                self.spans[own].log_inside = self.spans[own].log_any + total
                total += self.spans[own].log_free
                own += 1
            self.sums[row.offset + end - row.start] = total

    cdef void outside(self, Row row) noexcept nogil:
        """Pass the expectations of a row's spans on to the spans within; spans that begin earlier are complete.

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
        """Pass the share of [row.start, end) on to the terms of its sum."""
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
        """Return P(a set has the candidate) for each, float64 (n,): the gradient of ln Z by the scores."""
        cdef int k
        cdef Span* span
        p_ = np.empty(self.span_of.size())
        cdef double[::1] p = p_
        with nogil:
            for k in range(<int>self.spans.size()):
                self.spans[k].expected = 0
            for k in range(<int>self.rows.size() - 1, -1, -1):
                self.outside(self.rows[k])
            for k in range(<int>self.span_of.size()):
                span = &self.spans[self.span_of[k]]
                p[k] = span.expected * exp(self.log_p[k]) / -expm1(-span.log_free)
        return p_
