cimport cython
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._beam cimport Beam
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer, Tangents
from spacy_lpcfg.isbn.search._types cimport Model
from spacy_lpcfg.isbn.search._words cimport SentenceWords


@cython.final
cdef class Expansion:
    cdef Networks networks
    cdef const Model* model
    cdef SentenceWords words
    cdef History history
    cdef Scorer scorer
    cdef Positions positions
    cdef Beam beam
    cdef Tangents tangents
    cdef int branching, unary_cap
    cdef int first, end                       # candidates of the next word
    cdef double log_shift                     # of the state at hand
    cdef long n_tag_softmaxes
    cdef vector[float] log_actions            # (n_actions,)
    cdef vector[float] log_tags               # (n_tags,)
    cdef vector[int32_t] order                # of the candidates
    cdef vector[float] action_theta           # (width,), and so the rest: after the action
    cdef vector[float] action_means
    cdef vector[float] tag_theta              # after action and tag
    cdef vector[float] tag_means
    cdef void begin(self, int first, int end) noexcept nogil
    cdef void expand(self, int s, double log_probability, bint is_end) noexcept nogil
    cdef void follow_actions(self, int s, double log_probability) noexcept nogil
    cdef void score_actions(self, int s, const float* means, bint is_end) noexcept nogil
    cdef int best_action(self) noexcept nogil
    cdef void shift(self, int s, double log_probability, const float* means, const uint8_t* mask) noexcept nogil
    cdef bint may_shift(self, double log_probability, const float* means) noexcept nogil
    cdef void order_candidates(self) noexcept nogil
    cdef void shift_as(self, int s, int c, double log_probability, const float* means) noexcept nogil
    cdef void shift_by_tangents(self, int s, int c, double log_probability, const float* means) noexcept nogil
    cdef void shift_by_decisions(self, int s, int c, double log_probability, const float* means) noexcept nogil
    cdef void keep(self, int s, int c, double log_probability, double log_word, const float* theta) noexcept nogil

    cdef inline double with_factor(self, int candidate) noexcept nogil:
        """log P of a candidate's tag, and of the word as one of those that its outcome stands for."""
        return self.log_tags[self.words.tags[candidate]] + <double>self.words.log_factors[candidate]
