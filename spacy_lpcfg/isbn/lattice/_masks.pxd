cimport cython
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector


@cython.final
cdef class Masks:
    cdef int n_words, n_labels, n_blocks
    cdef vector[uint64_t] closings            # (n_words, n_words + 1, n_blocks): bits of labels
    cdef vector[int32_t] ends                 # (n_words, n_labels): the last end of brackets from a word on
    cdef void allow(self, int start, int end, int label) noexcept nogil

    cdef inline bint may_close(self, int start, int end, int label) noexcept nogil:
        """Whether a bracket is allowed."""
        cdef size_t place = (<size_t>start * (self.n_words + 1) + end) * self.n_blocks + label // 64
        return self.closings[place] >> (label % 64) & 1

    cdef inline int32_t last_end(self, int start, int label) noexcept nogil:
        """The last end of an allowed bracket with a label from a word on; 0 for none."""
        return self.ends[<size_t>start * self.n_labels + label]
