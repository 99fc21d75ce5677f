cimport cython
from libc.stdint cimport int32_t, uint32_t, uint8_t
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._networks cimport LEAF, NONE, ROOT, Model, Networks, Scorer, SentenceWords


cdef struct Cell:
    int32_t label
    int32_t fields[5]        # branches
    int32_t below            # a cell


cdef struct Branch:
    int32_t previous         # the branch before
    int32_t action
    int32_t candidate        # of Shift: the number of a tag of a word
    int32_t slot             # of its means; of the position's, where no decision changes them


cdef struct State:
    int32_t branch           # the last one
    int32_t cell             # the top of the stack
    int32_t last_shift       # a branch
    int32_t n_projected      # nodes projected in a row
    int32_t slot             # of the means before any decision
    int32_t theta            # where the means belong to branches: number of their logits before any decision


cdef struct Hypothesis:
    double log_probability
    State state


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
    cdef int start(self, Hypothesis& start) except -1 nogil
    cdef void copy_to(self, History new, const vector[Hypothesis]& beam)
    cdef int32_t new_branch(self, int32_t previous, int32_t action, int32_t candidate, int32_t slot) except -1 nogil
    cdef int after(self, const State& state, int action, int32_t candidate, int32_t slot, State& new) except -1 nogil
    cdef int32_t new_cell(self, const Cell& cell) except -1 nogil
    cdef int32_t stack_word(self, int32_t top, int32_t branch) except -1 nogil
    cdef int32_t apply(self, int32_t top, int action, int32_t branch) except -1 nogil
    cdef int32_t resolve(self, const State& state, int depth, int field) noexcept nogil
    cdef int32_t new_slot(self) except -1 nogil
    cdef int give_back_slots(self, const vector[Hypothesis]& beam) except -1 nogil
    cdef int find_live_slots(self, const vector[Hypothesis]& beam) except -1 nogil
    cdef void find_live(self, int32_t branch) noexcept nogil
    cdef bint lacks_product(self, int32_t slot, int32_t product) noexcept nogil

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


@cython.final
cdef class Positions:
    cdef const Model* model
    cdef SentenceWords words
    cdef History history
    cdef Scorer scorer
    cdef vector[State] states
    cdef vector[float] thetas                 # (n, width)
    cdef int n_thetas
    cdef vector[const float*] summands
    cdef vector[const float*] sources
    cdef vector[float*] targets
    cdef vector[int32_t] related              # branches, by relation
    cdef vector[pair[int32_t, int32_t]] wanted  # slots, and products of the means there
    cdef vector[float] theta                  # (width,), and so all that follow: scratch
    cdef vector[float] means
    cdef vector[float] log_probabilities      # (max_outcomes,)
    cdef void begin(self) noexcept nogil
    cdef int of_hypothesis(self, const Hypothesis& hypothesis) except -1 nogil
    cdef int after(self, int parent, int action) except -1 nogil
    cdef int add(self, State& state, int parent) except -1 nogil
    cdef const float* means_of(self, int s) noexcept nogil
    cdef int32_t new_theta(self) except -1 nogil
    cdef int compute(self, State& state) except -1 nogil
    cdef int find_summands(self, const State& state) except -1 nogil
    cdef int add_products(self, const State& state) except -1 nogil
    cdef int find_products(self, const State& state) except -1 nogil
    cdef int want(self, int32_t branch, int32_t product) except -1 nogil
    cdef int make_products(self, int product, const int32_t* slots, int n) except -1 nogil
    cdef int add_inputs(self, const State& state) except -1 nogil
    cdef int32_t unsettled_slot(self, const float* theta) except -1 nogil
    cdef int settle_branch(self, int32_t branch, int parent) except -1 nogil
    cdef int settle_action(self, int32_t branch, int parent) except -1 nogil
    cdef int settle_word(self, int32_t branch) except -1 nogil

    cdef inline float* theta_at(self, int32_t number) noexcept nogil:
        return &self.thetas[<size_t>number * self.model.width]


cdef tuple constituents_of(History history, SentenceWords words, int32_t branch, tuple labels)
