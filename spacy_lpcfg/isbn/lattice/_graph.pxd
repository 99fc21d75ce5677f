cimport cython
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._types cimport Arc, Vertex
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._types cimport State


@cython.final
cdef class Graph:
    cdef History history
    cdef bint merges
    cdef vector[Vertex] vertices
    cdef vector[Arc] arcs                     # to the vertices, in their order
    cdef vector[Vertex] groups                # scratch: vertices that are not there yet
    cdef vector[Arc] best                     # of each group
    cdef vector[int32_t] group_of             # of each arc
    cdef vector[int32_t] order
    cdef void start(self, const Vertex& first) noexcept nogil
    cdef void merge(self, const vector[Arc]& arcs, int width, double nats, double least) noexcept nogil
    cdef bint is_kept(self, int n, double nats, double least) noexcept nogil
    cdef void group(self, const vector[Arc]& arcs) noexcept nogil
    cdef int find_group(self, const Arc& arc) noexcept nogil
    cdef void add_vertex(self, int group) noexcept nogil
    cdef State after(self, const Arc& arc) noexcept nogil
