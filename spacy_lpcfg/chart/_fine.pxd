cimport cython
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_lpcfg.simd cimport Sparse


cdef struct Tensor:
    bint is_factored
    bint is_sparse
    int states[3]                 # of parent, left and right child
    int sizes[3]                  # of the vectors that the core takes; the last in whole blocks
    const float* core             # exact, or of a factored tensor
    const float* factors[3]
    Sparse sparse


@cython.final
cdef class FineGrammar:
    cdef object layout            # owns what the tensors point to
    cdef vector[Tensor] tensors
    cdef const int32_t[::1] n_states
    cdef const int64_t[::1] state_offsets
    cdef const float[::1] root_vectors
    cdef const float[::1] row_vectors
    cdef const int64_t[::1] row_offsets
    cdef int max_states          # in whole blocks
    cdef read_tensors(self, tensors)


cdef int in_blocks(int n) noexcept nogil
cdef void apply_core(float* sums, const Tensor& tensor, const float* pairs, float* scratch) noexcept nogil
