cimport cython
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport Model, NetworkTable

cdef extern from "mean_field.h" namespace "isbn" nogil:
    cppclass Choice[Real]:
        const Real* weights
        const Real* biases
        const uint8_t* allowed
        int n_outcomes
        int n_states
    cppclass Workspace[Real]:
        Real forcing
        Real negligible


@cython.final
cdef class Scorer:
    cdef Networks networks
    cdef const Model* model
    cdef float tolerance
    cdef Workspace[float] workspace
    cdef vector[float] logits                 # (max_outcomes,)
    cdef vector[float] q                      # (3, max_outcomes): of each decision of a step, if there is one network alone
    cdef vector[float] spare_q
    cdef vector[float] spare_means
    cdef long n_word_softmaxes, n_word_outcomes
    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil
    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil
    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil
    cdef void add_all_logits(self, int first, int end, const uint8_t* allowed, const float* means,
                             float* logits) noexcept nogil
    cdef void update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                     const float* means) noexcept nogil


@cython.final
cdef class Tangents:
    cdef Networks networks
    cdef const Model* model
    cdef int first
    cdef vector[int32_t] number_of            # (n_candidates of the word,): of its tangents, or NONE
    cdef vector[float] slopes                 # (n, 2, width): of the word; of tag and word together
    cdef vector[double] intercepts            # (n, 2)
    cdef vector[float] tag_weights            # (n_tags,)
    cdef void begin(self, int first, int end) noexcept nogil
    cdef double bound(self, int candidate, int which, const float* means) noexcept nogil
    cdef void draw(self, int candidate, int tag, int outcome, const float* means, double log_word,
                   const float* word_weights, const float* log_tags) noexcept nogil
    cdef void slope(self, float* slope, int outcome, int first, int end, const float* weights) noexcept nogil

    cdef inline bint are_drawn(self, int candidate) noexcept nogil:
        return self.number_of[candidate - self.first] >= 0
