cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport LEAF, NONE, ROOT, Branch, Cell, Hypothesis, Model, State


@cython.final
cdef class History:
    cdef Networks networks
    cdef const Model* model
    cdef size_t stride                        # floats of a slot
    cdef vector[Cell] cells
    cdef vector[Branch] branches
    cdef vector[float] slots                  # (n_slots, 1 + n_products, width): means, and their products
    cdef vector[uint32_t] in_slot             # bits: 1 << p: product p is there
    cdef vector[uint8_t] is_live
    cdef vector[int32_t] free_slots
    cdef vector[int32_t] seen                 # of each cell: when its slots were last found live
    cdef int now
    cdef Hypothesis start(self) noexcept nogil
    cdef void copy_to(self, History new, const vector[Hypothesis]& beam)
    cdef int32_t new_branch(self, int32_t previous, int32_t action, int32_t candidate, int32_t slot) noexcept nogil
    cdef int32_t new_cell(self, const Cell& cell) noexcept nogil
    cdef int32_t stack_word(self, int32_t top, int32_t branch) noexcept nogil
    cdef int32_t apply(self, int32_t top, int action, int32_t branch) noexcept nogil
    cdef int32_t resolve(self, const State& state, int depth, int field) noexcept nogil
    cdef int32_t new_slot(self) noexcept nogil
    cdef void give_back_slots(self, const vector[Hypothesis]& beam) noexcept nogil
    cdef void find_live_slots(self, const vector[Hypothesis]& beam) noexcept nogil
    cdef void find_live(self, int32_t branch) noexcept nogil

    cdef inline float* means(self, int32_t slot) noexcept nogil:
        return &self.slots[slot * self.stride]

    cdef inline bint is_last(self, int32_t cell) noexcept nogil:
        """Whether nothing but the root is below the top of the stack."""
        return self.cells[self.cells[cell].below].label == ROOT

    cdef inline const uint8_t* mask(self, int32_t cell) noexcept nogil:
        """Which actions are allowed where a cell is on top; NULL where it is the root's, since none is decided on."""
        cdef int below = self.cells[cell].below
        if below == NONE:
            return NULL
        return self.model.masks + self.model.n_actions * (
            2 * (self.cells[cell].label - LEAF) + (self.cells[below].label == ROOT))
