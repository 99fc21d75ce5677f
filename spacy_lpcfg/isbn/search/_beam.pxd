cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._types cimport Item, Shifted


@cython.final
cdef class Beam:
    cdef int size
    cdef double margin
    cdef double best_shift                    # log P of a Shift with its tag and word, at most
    cdef vector[Item] agenda                  # a heap with the best in front
    cdef vector[Shifted] shifted              # a heap with the worst in front
    cdef void begin(self) noexcept nogil
    cdef void put(self, double log_probability, int32_t state, int32_t action) noexcept nogil
    cdef Item pop(self) noexcept nogil
    cdef int32_t make_room(self) noexcept nogil
    cdef void keep(self, const Shifted& new) noexcept nogil
    cdef void sort_shifted(self) noexcept nogil

    cdef inline bint is_full(self) noexcept nogil:
        return <int>self.shifted.size() == self.size

    cdef inline double threshold(self) noexcept nogil:
        """What a hypothesis must exceed to enter the beam."""
        return self.shifted.front().log_probability if self.is_full() else -INFINITY

    cdef inline bint may_enter(self, double log_probability) noexcept nogil:
        """Whether a hypothesis that has not shifted yet is worth following."""
        return log_probability > -INFINITY and not (
            log_probability + self.best_shift + self.margin < self.threshold())
