"""All binary trees over a sentence, each worth the product of the weights of its spans: their sum, and the best one.

A chart has a cell (i, j) for each span [i, j), and its mirror image (j, i), so that the parts of a span that begin where
it begins, and those that end where it ends, both lie in a row.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

ctypedef double (*Sum)(const vector[double]& terms, int n) noexcept nogil


cdef double maximum(const vector[double]& terms, int n) noexcept nogil:
    cdef double largest = -INFINITY
    cdef int k
    for k in range(n):
        largest = max(largest, terms[k])
    return largest


cdef double log_sum(const vector[double]& terms, int n) noexcept nogil:
    cdef double largest = maximum(terms, n), total = 0
    cdef int k
    if largest == -INFINITY:
        return largest
    for k in range(n):
        total += exp(terms[k] - largest)
    return largest + log(total)


cdef void inside(const double[:, ::1] log_weights, double[:, ::1] chart, vector[double]& terms, Sum add) noexcept nogil:
    """Fill the chart: inside(i, j) = weight(i, j) * sum over k of inside(i, k) * inside(k, j), in logarithms."""
    cdef int n = chart.shape[0] - 1, width, i, j, k
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            for k in range(i + 1, j):
                terms[k - i - 1] = chart[i, k] + chart[j, k]
            chart[i, j] = log_weights[i, j] + (add(terms, width - 1) if width > 1 else 0)
            chart[j, i] = chart[i, j]


cdef void flow_down(const double[:, ::1] log_weights, const double[:, ::1] chart,
                    double[:, ::1] marginals) noexcept nogil:
    """Give each span's marginal to its two parts, by the share of each split in the span's inside sum."""
    cdef int n = chart.shape[0] - 1, width, i, j, k
    cdef double below, share
    marginals[:, :] = 0
    marginals[0, n] = 1
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width
            if marginals[i, j] == 0:
                continue
            below = chart[i, j] - log_weights[i, j]
            for k in range(i + 1, j):
                share = marginals[i, j] * exp(chart[i, k] + chart[j, k] - below)
                marginals[i, k] += share
                marginals[k, j] += share


cdef int best_split(const double[:, ::1] chart, int i, int j) noexcept nogil:
    """The first of the best splits."""
    cdef int k, best = i + 1
    for k in range(i + 2, j):
        if chart[i, k] + chart[j, k] > chart[i, best] + chart[j, best]:
            best = k
    return best


cdef void follow_best(const double[:, ::1] chart, int32_t[:, ::1] spans) noexcept nogil:
    """Write the spans of the best tree in pre-order, those of one word left out."""
    cdef vector[int32_t] stack
    cdef int i, j, k, n = chart.shape[0] - 1, n_found = 0
    stack.push_back(0)
    stack.push_back(n)
    while stack.size():
        j = stack.back()
        stack.pop_back()
        i = stack.back()
        stack.pop_back()
        if j - i > 1:
            spans[n_found, 0], spans[n_found, 1] = i, j
            n_found += 1
            k = best_split(chart, i, j)
            stack.push_back(k)
            stack.push_back(j)
            stack.push_back(i)
            stack.push_back(k)


def marginals(const double[:, :, ::1] log_weights, double[:, :, ::1] chart, double[:, :, ::1] out):
    """Marginal probability of each span of sentences of equal length.

    log_weights (float64, (n_sentences, n + 1, n + 1)): finite; of [i, j) at i, j; the rest is not looked at.
    chart (float64, same shape): working memory. In the end log of the sum of all trees at 0, n.
    out (float64, same shape): written.
    """
    cdef int s
    cdef vector[double] terms
    terms.resize(chart.shape[1])
    with nogil:
        for s in range(log_weights.shape[0]):
            inside(log_weights[s], chart[s], terms, log_sum)
            flow_down(log_weights[s], chart[s], out[s])


def best_spans(const double[:, ::1] log_weights, double[:, ::1] chart, int32_t[:, ::1] out):
    """The spans of two or more words of the tree of largest weight, in pre-order; of equal ones that of first splits.

    log_weights (float64, (n + 1, n + 1)): finite; of [i, j) at i, j.
    chart (float64, same shape): working memory.
    out (int32, (n - 1, 2)): written.
    """
    cdef vector[double] terms
    terms.resize(chart.shape[0])
    with nogil:
        inside(log_weights, chart, terms, maximum)
        follow_best(chart, out)
