cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._scores cimport Scores
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc, Node, Vertex
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._types cimport Model


@cython.final
cdef class LevelExpansion:
    cdef Graph graph
    cdef Stacks stacks
    cdef Scores scores
    cdef History history
    cdef const Model* model
    cdef int unary_cap, max_depth
    cdef double nats
    cdef vector[Arc] arcs                     # to vertices that are not there yet
    cdef vector[int32_t] last_of              # (max_depth + 1, unary_cap + 1): the last arc of each level, or NONE
    cdef vector[double] best_of               # of each level: log-probability of an arc
    cdef vector[Arc] level                    # the arcs of one level
    cdef vector[Arc] shifts                   # that are still without a tag
    cdef vector[Arc] ends                     # of the sentence
    cdef double best                          # log-probability of these
    cdef void begin(self, int first, int end) noexcept nogil
    cdef void take_level(self, int depth, int n_projected) noexcept nogil
    cdef void expand(self, int first, int end) noexcept nogil
    cdef void follow(self, int v, const float* logs) noexcept nogil
    cdef void close(self, int v, const float* logs) noexcept nogil
    cdef void project(self, int v, const float* logs) noexcept nogil
    cdef void put(self, size_t level, int v, int action, float log_action, int32_t stack) noexcept nogil
    cdef void leave(self, vector[Arc]& arcs, int v, int action, float log_action) noexcept nogil
    cdef Arc arc_of(self, int v, int action, float log_action, int32_t stack) noexcept nogil

    cdef inline double least(self) noexcept nogil:
        """The log-probability below which nothing within the word is followed."""
        return self.best - self.nats

    cdef inline bint may_enter(self, size_t level, double log_probability) noexcept nogil:
        """Whether an arc is worth following."""
        return (log_probability > -INFINITY and log_probability >= self.least()
                and log_probability >= self.best_of[level] - self.nats)
