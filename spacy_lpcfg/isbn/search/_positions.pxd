cimport cython
from libc.stdint cimport int32_t
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport Hypothesis, Model, State
from spacy_lpcfg.isbn.search._words cimport SentenceWords


@cython.final
cdef class Positions:
    cdef Networks networks
    cdef const Model* model
    cdef SentenceWords words
    cdef History history
    cdef Scorer scorer
    cdef vector[State] states
    cdef vector[float] thetas                 # (n, width)
    cdef int n_thetas
    cdef long n_products
    cdef vector[const float*] summands
    cdef vector[int32_t] related              # branches, by relation
    cdef vector[pair[int32_t, int32_t]] wanted  # slots, and products of the means there
    cdef vector[float] theta                  # (width,), and so all that follow: scratch
    cdef vector[float] means
    cdef vector[float] log_probabilities      # (max_outcomes,)
    cdef void begin(self) noexcept nogil
    cdef int of_hypothesis(self, const Hypothesis& hypothesis) noexcept nogil
    cdef int after(self, int parent, int action) noexcept nogil
    cdef int add(self, State& state, int parent) noexcept nogil
    cdef const float* means_of(self, int s) noexcept nogil
    cdef int32_t new_theta(self) noexcept nogil
    cdef void compute(self, State& state) noexcept nogil
    cdef void find_summands(self, const State& state) noexcept nogil
    cdef void add_products(self, const State& state) noexcept nogil
    cdef void find_products(self, const State& state) noexcept nogil
    cdef void want(self, int32_t branch, int32_t product) noexcept nogil
    cdef void add_inputs(self, const State& state) noexcept nogil
    cdef const float* product(self, int slot, int p) noexcept nogil
    cdef int32_t unsettled_slot(self, const float* theta) noexcept nogil
    cdef void settle_branch(self, int32_t branch, int parent) noexcept nogil
    cdef void settle_action(self, int32_t branch, int parent) noexcept nogil
    cdef void settle_word(self, int32_t branch) noexcept nogil

    cdef inline float* theta_at(self, int32_t number) noexcept nogil:
        return &self.thetas[<size_t>number * self.model.width]
