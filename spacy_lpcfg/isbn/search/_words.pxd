cimport cython
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport Model


@cython.final
cdef class SentenceWords:
    cdef Networks networks
    cdef const Model* model
    cdef vector[int32_t] offsets              # (n_words + 1,): the candidates of word i are offsets[i]:offsets[i + 1]
    cdef vector[int32_t] tags                 # (n_candidates,)
    cdef vector[int32_t] outcomes
    cdef vector[float] log_factors
    cdef vector[int32_t] first_signature           # (n_candidates,), of signature_rows
    cdef vector[int32_t] end_signature
    cdef vector[int32_t] signature_rows
    cdef vector[int32_t] input_of             # (n_candidates,): number of its inputs, or NONE until they are wanted
    cdef vector[float] inputs                 # (n, n_decisions, width): sums of the rows of a Shift
    cdef void clear(self) noexcept nogil
    cdef void add(self, candidates)
    cdef void copy_to(self, SentenceWords new)
    cdef void compute_inputs(self, int candidate) noexcept nogil
    cdef void add_rows(self, float* sums, int candidate, int relation) noexcept nogil

    cdef inline const float* input(self, int candidate, int relation) noexcept nogil:
        """The sum of the rows of a Shift, which `compute_inputs` has made."""
        return &self.inputs[(<size_t>self.input_of[candidate] * self.model.n_decisions + relation) * self.model.width]
