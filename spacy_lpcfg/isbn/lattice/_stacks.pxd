cimport cython
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._masks cimport Masks
from spacy_lpcfg.isbn.lattice._types cimport Node


@cython.final
cdef class Stacks:
    cdef Masks masks
    cdef vector[Node] nodes
    cdef vector[int32_t] table                # of a power of two: nodes by their hashes, or NONE
    cdef int32_t start(self) noexcept nogil
    cdef int32_t shift(self, int32_t stack, int n_words, int tag) noexcept nogil
    cdef int32_t attach(self, int32_t stack) noexcept nogil
    cdef int32_t modify(self, int32_t stack) noexcept nogil
    cdef int32_t project(self, int32_t stack, int label) noexcept nogil
    cdef int32_t number_of(self, Node node) noexcept nogil
    cdef size_t place_of(self, const Node& node) noexcept nogil
    cdef void grow(self) noexcept nogil

    cdef inline int32_t as_child(self, const Node& node) noexcept nogil:
        """The label or tag of a node as a child."""
        return node.label if node.label >= 0 else node.first

    cdef inline bint may_close(self, const Node& node, int end) noexcept nogil:
        """Whether a node may end there."""
        return node.label < 0 or self.masks.may_close(node.start, end, node.label)

    cdef inline bint is_alive(self, int32_t stack, int n_words) noexcept nogil:
        """Whether a stack may go on after so many words: by another word, or by closing its top."""
        return self.nodes[stack].reach > n_words or self.may_close(self.nodes[stack], n_words)
