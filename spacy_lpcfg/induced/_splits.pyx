"""Sums over the splits of spans, for the inside-outside algorithm of simple PCFGs.

A chart of sentences of n words has a row of m states for each span: first the spans of one word, sentence by sentence
and from left to right, then those of two words, and so on.
"""

from libcpp.vector cimport vector


cdef inline Py_ssize_t row(Py_ssize_t n_sentences, Py_ssize_t n_words, Py_ssize_t width, Py_ssize_t sentence,
                           Py_ssize_t start) noexcept nogil:
    """Return the row of the span of `width` words that begins at `start`."""
    return n_sentences * ((width - 1) * (2 * n_words + 2 - width) // 2) + sentence * (n_words - width + 1) + start


def add_up(const double[:, ::1] lefts, const double[:, ::1] rights, const double[:, :, ::1] weights, Py_ssize_t width,
           double[:, ::1] states):
    """Compute the inside values of all spans of `width` words: weighted sums over splits of products of two children.

    lefts, rights (float64, (n_spans, m)): Values of the spans as children; those of fewer words are read.
    weights (float64, (n_sentences, n + 1, n + 1)): Weight of each span.
    states (float64, (n_spans, m)): Values of the spans, those of `width` words filled in place.
    """
    cdef Py_ssize_t n_sentences = weights.shape[0], n_words = weights.shape[1] - 1, m = states.shape[1]
    cdef Py_ssize_t sentence, start, split, h
    cdef const double* left
    cdef const double* right
    cdef double* span
    with nogil:
        for sentence in range(n_sentences):
            for start in range(n_words - width + 1):
                span = &states[row(n_sentences, n_words, width, sentence, start), 0]
                for h in range(m):
                    span[h] = 0
                for split in range(1, width):
                    left = &lefts[row(n_sentences, n_words, split, sentence, start), 0]
                    right = &rights[row(n_sentences, n_words, width - split, sentence, start + split), 0]
                    for h in range(m):
                        span[h] += left[h] * right[h]
                for h in range(m):
                    span[h] *= weights[sentence, start, start + width]


def pass_down(const double[:, :, ::1] states, const double[:, ::1] lefts, const double[:, ::1] rights,
              const double[:, :, ::1] weights, Py_ssize_t width, double[:, ::1] to_lefts, double[:, ::1] to_rights):
    """Add the outside values of all spans of `width` words, times the inside values of a child, to those of the other.

    states (float64, (n_sentences, n - width + 1, m)): Outside values of these spans, without their weights.
    lefts, rights (float64, (n_spans, m)): Inside values of the spans as children.
    weights (float64, (n_sentences, n + 1, n + 1)): Weight of each span.
    to_lefts, to_rights (float64, (n_spans, m)): Outside values of the spans as children, added to in place.
    """
    cdef Py_ssize_t n_sentences = weights.shape[0], n_words = weights.shape[1] - 1, m = states.shape[2]
    cdef Py_ssize_t sentence, start, split, left, right, h
    cdef const double* of_left
    cdef const double* of_right
    cdef double* to_left
    cdef double* to_right
    cdef vector[double] weighted
    weighted.resize(m)
    cdef double* span = weighted.data()
    with nogil:
        for sentence in range(n_sentences):
            for start in range(n_words - width + 1):
                for h in range(m):
                    span[h] = states[sentence, start, h] * weights[sentence, start, start + width]
                for split in range(1, width):
                    left = row(n_sentences, n_words, split, sentence, start)
                    right = row(n_sentences, n_words, width - split, sentence, start + split)
                    of_left, of_right = &lefts[left, 0], &rights[right, 0]
                    to_left, to_right = &to_lefts[left, 0], &to_rights[right, 0]
                    for h in range(m):
                        to_left[h] += span[h] * of_right[h]
                    for h in range(m):
                        to_right[h] += span[h] * of_left[h]
