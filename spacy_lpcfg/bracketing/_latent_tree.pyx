"""The minimal projective latent tree with a given top bracket (section 3.3 of Parikh, Cohen and Xing 2014).

An edge hangs above a span [i, j) whose parent ends at x (x > j: the sibling is [j, x)) or begins there (x < i: the
sibling is [x, i)). Its length is the mean of equation 3 or 4 over leaves: for a span of A = [i, k) and B = [k, j), its
sibling G and the rest H, 1/4 (AG + AH + BG + BH) - 1/2 (AB + GH), where XY is the mean distance between the leaves of X
and Y; for a leaf i, 1/2 (iG + iH - GH). The best subtree below the edge depends on i, j and x alone.

As functions of x, the terms with G and H are linear in the prefix sums Q[x] of the mean rows of A and B, so that the
loop over x for fixed i, k, j is a plain one over contiguous numbers.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef struct Distances:
    const double* sums      # (n + 1, n + 1): two-dimensional prefix sums
    int n


cdef inline double rectangle(const Distances* d, int a, int b, int c, int e) noexcept nogil:
    """Return the sum of the distances between [a, b) and [c, e)."""
    cdef const double* s = d.sums
    cdef size_t w = d.n + 1
    return s[b * w + e] - s[a * w + e] - s[b * w + c] + s[a * w + c]


cdef inline double mean(const Distances* d, int a, int b, int c, int e) noexcept nogil:
    return rectangle(d, a, b, c, e) / (<double>(b - a) * (e - c))


cdef inline double mean_outside(const Distances* d, int a, int b, int c, int e) noexcept nogil:
    """Return the mean distance between [a, b) and the words outside of [c, e), of which there are some."""
    cdef double total = rectangle(d, a, b, 0, d.n) - rectangle(d, a, b, c, e)
    return total / (<double>(b - a) * (d.n - (e - c)))


cdef inline double edge(const Distances* d, int i, int k, int j, int x) noexcept nogil:
    """Return the length of the edge above [i, j) with children [i, k) and [k, j), or above a leaf if j = i + 1."""
    cdef int g = j if x > j else x, h = x if x > j else i          # the sibling
    cdef int a = i if x > j else x, b = x if x > j else j          # the parent
    cdef double apart = mean_outside(d, g, h, a, b)
    if j == i + 1:
        return 0.5 * (mean(d, i, j, g, h) + mean_outside(d, i, j, a, b) - apart)
    return 0.25 * (
        mean(d, i, k, g, h) + mean_outside(d, i, k, a, b) + mean(d, k, j, g, h) + mean_outside(d, k, j, a, b)
    ) - 0.5 * (mean(d, i, k, k, j) + apart)


cdef inline double root_edge(const Distances* d, int k, int split, int m) noexcept nogil:
    """Return the length of the edge between the halves [0, k), [k, split) and [split, m), [m, n).

    A half of one word has k = 0 or m = n.
    """
    cdef int n = d.n
    if split == 1:
        return 0.5 * (mean(d, 0, 1, 1, m) + mean(d, 0, 1, m, n) - mean(d, 1, m, m, n))
    if split == n - 1:
        return 0.5 * (mean(d, split, n, 0, k) + mean(d, split, n, k, split) - mean(d, 0, k, k, split))
    return 0.25 * (
        mean(d, 0, k, split, m) + mean(d, 0, k, m, n) + mean(d, k, split, split, m) + mean(d, k, split, m, n)
    ) - 0.5 * (mean(d, 0, k, k, split) + mean(d, split, m, m, n))


cdef inline size_t place(int h, int i, int j, int x) noexcept nogil:
    """Return the index of (i, j, x), counted from the beginning of a half of h words, in its table."""
    return (<size_t>i * (h + 1) + j) * (h + 1) + x


cdef class Workspace:
    """The best subtrees of a sentence, and scratch memory."""

    cdef vector[double] best        # (h + 1, h + 1, h + 1) of the one half of the sentence, then of the other
    cdef vector[double] inverse     # 1 / length
    cdef vector[double] slopes, offsets, levels, sums

    def __init__(self, int n, int split):
        """Allocate memory for n words with a given top split.

        RAISES (MemoryError): If there is not enough.
        """
        cdef int length
        self.best.resize(<size_t>(split + 1) ** 3 + <size_t>(n - split + 1) ** 3)
        for length in range(n + 1):
            self.inverse.push_back(1.0 / max(length, 1))

    cdef double minimal(self, const Distances* d, int split, vector[int]& spans, vector[double]& edges) except? -1 nogil:
        """Return the cost of the best tree of n >= 2 words, and collect its spans in pre-order.

        spans: Filled with i, j of every span of two or more words but the whole sentence.
        edges: Filled with the length of the edge above each.
        """
        cdef int n = d.n, k = 0, m = n
        cdef double cost
        cdef double* left = self.best.data()
        cdef double* right = left + <size_t>(split + 1) ** 3
        spans.clear()
        edges.clear()
        if n == 2:
            return rectangle(d, 0, 1, 1, 2)
        self.half(d, 0, split, left)
        self.half(d, split, n, right)
        cost = self.root(d, split, left, right, &k, &m)
        self.trace_half(d, left, 0, split, k, root_edge(d, k, split, m), spans, edges)
        self.trace_half(d, right, split, n, m, root_edge(d, k, split, m), spans, edges)
        return cost

    cdef double root(self, const Distances* d, int split, const double* left, const double* right,
                     int* best_k, int* best_m) noexcept nogil:
        """Return the cost of the best tree, and set k and m, at which its halves [0, split) and [split, n) split."""
        cdef int n = d.n, l = split, r = n - split, k, m
        cdef double least = INFINITY, below, cost
        for k in range(min(1, l - 1), max(l, 1)):
            below = left[place(l, 0, k, l)] + left[place(l, k, l, 0)] if l > 1 else 0
            for m in range(split + 1, max(n, split + 2)):
                if r == 1:
                    cost = below + root_edge(d, k, split, n)
                else:
                    cost = (below + root_edge(d, k, split, m) + right[place(r, 0, m - split, r)]
                            + right[place(r, m - split, r, 0)])
                if cost < least:
                    least = cost
                    best_k[0], best_m[0] = k, m
        return least

    cdef int trace_half(self, const Distances* d, const double* best, int s, int t, int k, double length,
                        vector[int]& spans, vector[double]& edges) except -1 nogil:
        """Collect the spans of a half [s, t), which splits at k, below an edge of this length."""
        if t - s < 2:
            return 0
        spans.push_back(s)
        spans.push_back(t)
        edges.push_back(length)
        self.trace(d, best, s, t, s, k, t, spans, edges)
        self.trace(d, best, s, t, k, t, s, spans, edges)

    cdef int half(self, const Distances* d, int s, int t, double* best) except -1 nogil:
        """Compute the costs of the best subtrees within [s, t), with the edge above them, for every parent."""
        cdef int h = t - s, length, i, j, x
        self.slopes.resize(h + 1)
        self.offsets.resize(h + 1)
        self.levels.resize(h + 1)
        self.sums.resize(d.n + 1)
        for i in range(s, t):
            for x in range(s, t + 1):
                if x < i or x > i + 1:
                    best[place(h, i - s, i - s + 1, x - s)] = edge(d, i, i, i + 1, x)
        for length in range(2, h):
            for i in range(s, t - length + 1):
                self.cell(d, best, s, t, i, i + length)

    cdef void cell(self, const Distances* d, double* best, int s, int t, int i, int j) noexcept nogil:
        """Compute the costs of the best subtree of [i, j) for all parents at once; arrays over x count from s."""
        cdef int n = d.n, h = t - s, k, x
        cdef size_t w = n + 1
        cdef double below, total, weight_a, weight_b
        cdef double* out = best + place(h, i - s, j - s, 0)
        cdef double* q = self.sums.data() + s
        cdef const double* row_i = d.sums + i * w
        cdef const double* row_k
        cdef const double* row_j = d.sums + j * w
        self.factors(d, s, t, i, j)
        for x in range(h + 1):
            out[x] = INFINITY
        for k in range(i + 1, j):
            row_k = d.sums + k * w
            weight_a, weight_b = self.inverse[k - i], self.inverse[j - k]
            for x in range(h + 1):
                q[x] = weight_a * (row_k[s + x] - row_i[s + x]) + weight_b * (row_j[s + x] - row_k[s + x])
            total = weight_a * (row_k[n] - row_i[n]) + weight_b * (row_j[n] - row_k[n])
            below = (best[place(h, i - s, k - s, j - s)] + best[place(h, k - s, j - s, i - s)]
                     - 0.5 * mean(d, i, k, k, j))
            right_of(out, self.slopes.data(), self.offsets.data(), self.levels.data(), q, self.inverse.data(),
                     i - s, j - s, h, total, below)
            left_of(out, self.slopes.data(), self.offsets.data(), self.levels.data(), q, self.inverse.data(),
                    i - s, j - s, total, below)

    cdef void factors(self, const Distances* d, int s, int t, int i, int j) noexcept nogil:
        """For all parents of [i, j), compute the factors of Q[x] and of a whole row's sum, and the terms without k."""
        cdef int n = d.n, x
        cdef double* slope = self.slopes.data()
        cdef double* offset = self.offsets.data()
        cdef double* level = self.levels.data()
        cdef const double* inverse = self.inverse.data()
        for x in range(j + 1, t + 1):
            slope[x - s] = 0.25 * (inverse[x - j] - inverse[n - x + i])
            offset[x - s] = 0.25 * inverse[n - x + i]
            level[x - s] = -0.5 * mean_outside(d, j, x, i, x)
        for x in range(s, i):
            slope[x - s] = 0.25 * (inverse[n - j + x] - inverse[i - x])
            offset[x - s] = 0.25 * inverse[n - j + x]
            level[x - s] = -0.5 * mean_outside(d, x, i, x, j)

    cdef int trace(self, const Distances* d, const double* best, int s, int t, int i, int j, int x,
                   vector[int]& spans, vector[double]& edges) except -1 nogil:
        """Collect the spans of the best subtree of [i, j) below the parent x, in pre-order."""
        cdef int h = t - s, k, chosen = i + 1
        cdef double least = INFINITY, cost
        if j == i + 1:
            return 0
        for k in range(i + 1, j):
            cost = edge(d, i, k, j, x) + best[place(h, i - s, k - s, j - s)] + best[place(h, k - s, j - s, i - s)]
            if cost < least:
                least, chosen = cost, k
        spans.push_back(i)
        spans.push_back(j)
        edges.push_back(edge(d, i, chosen, j, x))
        self.trace(d, best, s, t, i, chosen, j, spans, edges)
        self.trace(d, best, s, t, chosen, j, i, spans, edges)


cdef void right_of(double* out, const double* slope, const double* offset, const double* level, const double* q,
                   const double* inverse, int i, int j, int h, double total, double below) noexcept nogil:
    """Lower the costs of [i, j) with one split below the parents [i, x), x > j."""
    cdef int x
    cdef double to_outside = total + q[i], value
    for x in range(j + 1, h + 1):
        value = slope[x] * q[x] - 0.25 * inverse[x - j] * q[j] + offset[x] * to_outside + level[x] + below
        out[x] = min(out[x], value)


cdef void left_of(double* out, const double* slope, const double* offset, const double* level, const double* q,
                  const double* inverse, int i, int j, double total, double below) noexcept nogil:
    """Lower the costs of [i, j) with one split below the parents [x, j), x < i."""
    cdef int x
    cdef double to_outside = total - q[j], value
    for x in range(i):
        value = slope[x] * q[x] + 0.25 * inverse[i - x] * q[i] + offset[x] * to_outside + level[x] + below
        out[x] = min(out[x], value)


def minimal_by_table(
    const int32_t[::1] anchors, const int32_t[::1] segments, const double[:, :, ::1] table, double apart, int split
):
    """Return the minimal tree of a sentence by a table of distances; same results as `minimal`.

    anchors (int32, (n,)), segments (int32, (n,)): Of n >= 2 words; a segment is a stretch without punctuation.
    table (float64, (A, A, D)): Distances by the anchors of two words and their offset from 1 to D.
    apart (float): Distance that is added between words of different segments.
    """
    cdef int n = anchors.shape[0], i, j, most = table.shape[2]
    cdef vector[double] sums
    cdef double distance
    sums.resize(<size_t>(n + 1) * (n + 1))
    with nogil:
        for i in range(n):
            for j in range(n):
                distance = 0
                if i < j:
                    distance = table[anchors[i], anchors[j], min(j - i, most) - 1]
                elif j < i:
                    distance = table[anchors[j], anchors[i], min(i - j, most) - 1]
                if segments[i] != segments[j]:
                    distance += apart
                sums[(i + 1) * (n + 1) + j + 1] = (
                    distance + sums[i * (n + 1) + j + 1] + sums[(i + 1) * (n + 1) + j] - sums[i * (n + 1) + j]
                )
    return minimal(<double[: n + 1, : n + 1]> sums.data(), split)


def minimal(const double[:, ::1] sums, int split):
    """Return the cost, spans and edges of the minimal tree.

    sums (float64, (n + 1, n + 1)): Prefix sums of the distances, n >= 2.
    split (int): Position of the top split, 0 < split < n.
    RETURNS (tuple): Cost (float); spans (int32, (n_spans, 2)) of two or more words but the whole sentence, in
        pre-order; lengths of the edges above them (float64, (n_spans,)).
    """
    cdef Workspace workspace = Workspace(<int>sums.shape[0] - 1, split)
    cdef Distances d
    cdef vector[int] spans
    cdef vector[double] edges
    cdef double cost
    d.sums, d.n = &sums[0, 0], sums.shape[0] - 1
    with nogil:
        cost = workspace.minimal(&d, split, spans, edges)
    return cost, np.array(spans, dtype=np.int32).reshape(-1, 2), np.array(edges, dtype=np.float64)
