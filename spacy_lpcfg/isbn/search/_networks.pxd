cimport cython
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

cdef enum:
    NONE = -1
    SHIFT = 0
    ATTACH = 1
    MODIFY = 2
    PROJECT = 3
    LEAF = -1
    ROOT = -2
    DONE = -2                # in place of an action: the whole tree is attached to the root
    CONTEXT = 0
    LEFT_CHILD = 1
    RIGHT_CHILD = 2
    INTRODUCED = 3
    LEFT_TERMINAL = 4
    N_FIELDS = 5
    FEED_FORWARD = 0
    STEP = 1
    SETTLE = 2
    ACTIONS = 0              # the decisions of a step, in order
    TAG = 1
    WORD = 2


cdef struct NetworkTable:           # the parameters of one network; rows are padded to `width`
    int n_states, width, approximation
    int start                # of its part of every vector
    const float* latent_weights
    const float* decision_weights
    const float* outcome_weights
    const float* outcome_bias


cdef struct Model:           # what the search reads of an ISBN
    int n_networks, n_latent, n_decisions, n_products, n_couples, n_fields
    int n_actions, first_word, n_rows, max_outcomes
    int width                # of a vector
    bint settles             # whether decisions change the means of any network
    const NetworkTable* tables
    const float* bias        # (width,)
    const float* intercepts  # (n_tags,): of the normalisers of their words, and
    const float* slopes      # (n_tags, width)
    const float* action_rows # (n_decisions, n_actions, width)
    const uint8_t* masks     # (n_masks, n_actions)
    const int32_t* word_offsets
    const int32_t* latent    # (n_latent, 2): codes of the relations
    const int32_t* decisions # (n_decisions, 2)
    const int32_t* couples   # (n_couples, 2): latent relations to the first and the last child of one node
    const int32_t* fields    # of cells that latent relations lead to


cdef class Networks:
    cdef list arrays         # that the model points to
    cdef tuple labels, tags
    cdef vector[NetworkTable] tables
    cdef Model model
    cdef read_normalizers(self, normalizers, padded_networks)
    cdef NetworkTable table(self, network)
    cdef void number_relations(self, latent, decisions)
    cdef const float* floats(self, array)
    cdef const int32_t* integers(self, array)
    cdef const void* keep(self, array, number)


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
    int padded(int n_states)
    void sigmoid[Real](Real* means, const Real* theta, int n_states)
    Real softmax[Real](Real* logits, Real* q, const Real* means, const Choice[Real]& choice)
    void step[Real](Real* theta, const Real* q, const Choice[Real]& choice, int chosen, Workspace[Real]& workspace)
    int settle[Real](Real* theta, Real* means, Real* logits, Real* q, const Choice[Real]& choice, int chosen,
                     Real tolerance, Workspace[Real]& workspace)
    void average[Real](Real* sum, const Real* weights, const Real* matrix, int n_rows, int n_states)
    void add_products[Real](Real** targets, const Real* matrix, const Real** sources, int n_pairs, int n_rows,
                            int n_states)

cdef extern from "vectors.h" namespace "isbn" nogil:
    void sum_vectors(float* sum, const float** vectors, int n_vectors, int width)
    void add_logits(float* logits, const float* weights, const float* biases, const float* means, float scale,
                    int n_outcomes, int n_states)
    float log_sum_exp(float* logits, int n)
    float product_of(const float* x, const float* y, int width)


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
    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil
    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil
    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil
    cdef void add_all_logits(self, int first, int end, const uint8_t* allowed, const float* means,
                             float* logits) noexcept nogil
    cdef void update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                     const float* means) noexcept nogil
