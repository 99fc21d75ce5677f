from libc.stdint cimport int32_t, uint8_t

cdef enum:
    FEED_FORWARD, MEAN_FIELD, MEAN_FIELD_STEP    # as in `network.APPROXIMATIONS`


cdef extern from "mean_field.h" namespace "isbn" nogil:
    const float EXACT
    cppclass Choice:
        const float* weights
        const float* biases
        const uint8_t* allowed
        int n_outcomes
        int n_states
    cppclass Workspace:
        float forcing
        float negligible
        void fit(const Choice& choice) except +   # before a choice of a new size; the functions below allocate nothing
    int padded(int n_states)
    void sigmoid(float* means, const float* theta, int n_states)
    void add_products(float*const* targets, const float* matrix, const float*const* sources, int n_pairs, int n_rows,
                      int n_states)
    void add_averages(float*const* sums, const float*const* weights, const float* matrix, int n_pairs, int n_rows,
                      int n_states)
    void mix(float* sum, const float* weights, const float* matrix, int n_rows, int n_states)
    void add_outer_products(float* sums, const float*const* coefficients, const float*const* vectors, int n_pairs,
                            int n_rows, int n_states)
    void add_inputs(float* theta, const float* table, const int32_t* rows, int n_rows, int n_states)
    void add_to_rows(float* table, const int32_t* rows, const float* vector, int n_rows, int n_states)
    float log_sum_exp(float* logits, int n)
    float normalise(float* logits, float* q, const Choice& choice)
    float softmax(float* logits, float* q, const float* means, const Choice& choice)
    void add_logits(float* logits, const float* means, float scale, const Choice& choice, float* scratch)
    void step(float* theta, const float* q, const Choice& choice, int chosen, Workspace& workspace)
    int settle(float* theta, float* means, float* logits, float* q, const Choice& choice, int chosen, float tolerance,
               Workspace& workspace)
    void choose_adjoint(float* g, const float* means, const float* q, const Choice& choice, int chosen,
                        Workspace& workspace)
    void step_adjoint(float* g, float* turns, const float* means, const float* q, const Choice& choice,
                      Workspace& workspace)
    void settle_adjoint(float* g, float* turns, const float* means, const float* q, const Choice& choice,
                        Workspace& workspace)
    void sum_vectors(float* sum, const float*const* vectors, int n_vectors, int width)
    float product_of(const float* x, const float* y, int width)
