cimport cython
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._types cimport Vertex
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport Model
from spacy_lpcfg.isbn.search._words cimport SentenceWords


@cython.final
cdef class Scores:
    cdef Positions positions
    cdef Scorer scorer
    cdef const Model* model
    cdef bint exact
    cdef vector[vector[int32_t]] slots        # of each product: where it is still to be made
    cdef vector[const float*] means           # of the vertices at hand
    cdef vector[const float*] sources
    cdef vector[float*] targets
    cdef int n_outcomes                       # of the decision at hand
    cdef vector[float] logits                 # (n, n_outcomes)
    cdef vector[float] log_probabilities      # (max_outcomes,)
    cdef void compute_means(self, vector[Vertex]& vertices, int first, int end) noexcept nogil
    cdef void collect_products(self, const Vertex& vertex) noexcept nogil
    cdef void make_products(self, int product) noexcept nogil
    cdef void add_all_logits(self, int first, int end) noexcept nogil
    cdef const float* decide(self, int number, const uint8_t* allowed) noexcept nogil
    cdef double log_word(self, int tag, int outcome, const float* means) noexcept nogil
    cdef double log_normalizer(self, int tag, const float* means) noexcept nogil
    cdef double logit(self, int outcome, const float* means) noexcept nogil
