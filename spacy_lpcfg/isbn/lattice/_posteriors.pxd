cimport cython
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks


cdef struct Closing:         # of a bracket
    int32_t start, end, label
    double posterior
    double height            # nodes over the same words below it, less any right above it, times its posterior


@cython.final
cdef class LatticePosteriors:
    cdef Graph graph
    cdef Stacks stacks
    cdef vector[double] of_vertices
    cdef vector[double] of_candidates
    cdef vector[Closing] closings
    cdef void compute(self, int first_end, int n_candidates) noexcept nogil
    cdef void share(self, int first_end) noexcept nogil
    cdef void close(self, int32_t v, int32_t action, double posterior) noexcept nogil
    cdef void close_bracket(self, int start, int end, int label, double posterior, int height) noexcept nogil
    cdef void sum_up(self) noexcept nogil
