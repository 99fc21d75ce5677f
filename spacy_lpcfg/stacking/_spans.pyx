"""Features of labelled spans, the scores that a table of weights gives them, and the descent that learns it."""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

cdef enum:
    MAX_TAGS = 6             # as in templates.py
    N_ATOMS = 19             # length of ATOMS there
    N_PLACES = 8             # length of PLACES there
    KEY_BITS = 31
    NEIGHBOURS = 4           # keys that begin with the same bits, on average; they share a line of the cache

cdef uint64_t ODD = 0x9E3779B97F4A7C15


# Features ----------------------------------------------------------------------------------------


cdef inline uint64_t mixed(uint64_t state, uint64_t atom) noexcept nogil:
    state = (state ^ atom) * ODD
    return state ^ (state >> 32)


cdef inline uint64_t within(const int32_t[::1] texts, int place, int first, int last) noexcept nogil:
    """Of a word in [first, last); 0 outside."""
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
    """Of all tags of a span."""
    cdef uint64_t found = end - start
    cdef int k
    for k in range(start, end):
        found = mixed(found, tags[k])
    return found


def span_features(
    const int32_t[::1] words,
    const int32_t[::1] tags,
    const int32_t[:, ::1] bounds,
    const int32_t[::1] labels,
    const int32_t[::1] odds,
    const int32_t[::1] lengths,
    const int32_t[:, ::1] templates,
):
    """The hashed features of labelled spans.

    words, tags (int32, (n_words,)): hashes, above 0.
    bounds (int32, (n_spans, 2)): start and end of each span, half-open.
    labels, odds, lengths (int32, (n_spans,)): hashes of labels, and bins.
    templates (int32, (n_templates, n)): see `template_table`.
    RETURNS (int32, (n_spans, n_templates)): keys of `KEY_BITS` bits; -1 for a template that a span has no feature of.
    """
    cdef int n_spans = bounds.shape[0], n_templates = templates.shape[0], width = templates.shape[1]
    found = np.empty((n_spans, n_templates), dtype=np.int32)
    cdef int32_t[:, ::1] keys = found
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
    return found


def crossing_masses(const int32_t[:, ::1] bounds, const double[::1] p):
    """The sum of the probabilities p of the spans that cross each span, float64 (n_spans,)."""
    cdef int n = bounds.shape[0], i, j
    found = np.zeros(n)
    cdef double[::1] masses = found
    with nogil:
        for i in range(n):
            for j in range(n):
                if bounds[i, 0] < bounds[j, 0] < bounds[i, 1] < bounds[j, 1]:
                    masses[i] += p[j]
                    masses[j] += p[i]
    return found


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
        """Have what is needed to find n keys brought near, which takes longer than to find them."""
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
        """Of spans with these features, float64 (n_spans, n_kinds); keys that are not known weigh nothing."""
        cdef int i, t, k, place
        found = np.zeros((keys.shape[0], self.weights.shape[1]))
        cdef double[:, ::1] scores = found
        with nogil:
            for i in range(keys.shape[0]):
                if keys.shape[1]:
                    self.index.prepare(&keys[i, 0], keys.shape[1])
                for t in range(keys.shape[1]):
                    place = self.index.find(keys[i, t])
                    if place >= 0:
                        for k in range(self.weights.shape[1]):
                            scores[i, k] += self.weights[place, k]
        return found


# Learning ----------------------------------------------------------------------------------------


cdef struct Learned:
    double weight
    double drift             # of the weight, times the steps before each change
    double square            # what the squared gradients have added up to


cdef class SpanDescent:
    """AdaGrad (Duchi et al. 2011) for losses of the scores of candidates, of several kinds at once; averaged weights.

    keys (int32, (n_features,)): of the features that are learned, growing; of others there is nothing to learn.
    penalties (float64, (n_features,)): the loss of a candidate has half of this, times the squared weight, for each
        feature of it.
    dense (float64, (n_kinds, n_dense)): weights of the other inputs to begin with; features begin at 0.
    rate (float): a step is rate * gradient / sqrt(sum of squared gradients).
    start (float): of these sums.
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
        """Put in the place of each key that of its feature, -1 for none, as `scores` and `step` take them."""
        cdef int i, t
        with nogil:
            for i in range(keys.shape[0]):
                if keys.shape[1]:
                    self.index.prepare(&keys[i, 0], keys.shape[1])
                for t in range(keys.shape[1]):
                    keys[i, t] = self.index.find(keys[i, t])

    def scores(self, const int32_t[:, ::1] places, const float[:, ::1] inputs):
        """Of the candidates of a sentence, float64 (n, n_kinds).

        places (int32, (n, n_templates)): of features; inputs (float32, (n, n_dense)): see `Candidates`.
        """
        cdef int i, t, f, k
        cdef Learned* of_one
        found = np.zeros((places.shape[0], self.n_kinds))
        cdef double[:, ::1] scores = found
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
        return found

    def step(self, const int32_t[:, ::1] places, const float[:, ::1] inputs, const double[:, ::1] gradients):
        """One step for each candidate of a sentence, whose losses have these gradients by its scores."""
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
        """Means of the weights over all steps: float64 (n_features, n_kinds), and of other inputs (n_kinds, n_dense)."""
        return self._averages(self.features), np.ascontiguousarray(self._averages(self.dense).T)

    cdef _averages(self, const vector[Learned]& some):
        cdef double n = max(self.n_steps, 1)
        cdef size_t k
        found = np.empty(some.size())
        cdef double[::1] means = found
        for k in range(some.size()):
            means[k] = some[k].weight - some[k].drift / n
        return found.reshape(-1, self.n_kinds)
