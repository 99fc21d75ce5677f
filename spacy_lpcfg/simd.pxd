from libc.stdint cimport int32_t


cdef extern from "simd.h" nogil:
    const int LANES
    ctypedef struct Sparse:
        const float* blocks
        const int32_t* places
        const float* rest[3]
        int n_blocks
        int n_parent
        int n_left
        int n_right
    float power_of_two(int exponent)
    void outer(float* pairs, const float* left, const float* right, float scale, int n_left, int n_right)
    void add_outer(float* pairs, const float* left, const float* right, float scale, int n_left, int n_right)
    void add_rows(float* out, const float* matrix, const float* weights, int n_rows, int n_cols)
    void mix_rows(float* out, const float* matrix, const float* weights, int n_rows, int n_cols)
    void add_sparse_rows(float* sums, const Sparse* t, const float* pairs, float* scratch)
    void add_sparse_last(float* sums, const Sparse* t, const float* pairs)
    void mix_sparse_rows(float* pairs, const Sparse* t, const float* weights)
    float pass_down(float* to_left, float* to_right, const float* pairs, const float* left, const float* right,
                    float scale, int n_left, int n_right)
