from libcpp.vector cimport vector


cdef struct Distances:
    const double* sums      # (n + 1, n + 1): two-dimensional prefix sums
    const double* scores    # (n + 1, n + 1): what a span adds to the tree's score; or NULL
    int n


cdef class Workspace:
    cdef double* best               # (h + 1, h + 1, h + 1) of the one half of the sentence, then of the other
    cdef size_t size
    cdef bint reserve(self, size_t size) noexcept nogil
    cdef vector[double] inverse     # 1 / length
    cdef vector[double] slopes, offsets, levels, sums
    cdef double minimal(self, const Distances* d, int split, vector[int]& spans, vector[double]& edges) noexcept nogil
    cdef double* half(self, const Distances* d, int start, int end, double* best) noexcept nogil
    cdef void cell(self, const Distances* d, double* best, int s, int t, int i, int j) noexcept nogil
    cdef void trace(self, const Distances* d, const double* best, int s, int t, int i, int j, int x,
                    vector[int]& spans, vector[double]& edges) noexcept nogil
