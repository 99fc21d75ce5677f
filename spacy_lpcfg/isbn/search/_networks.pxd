cimport cython
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.mean_field cimport Choice, Workspace

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
    ACTIONS = 0              # the decisions of a step, in order
    TAG = 1
    WORD = 2


cdef struct NetworkTable:           # the parameters of one network; rows are padded to `width`
    int n_states, width, approximation
    int start                # of its part of every vector
    const float* latent_weights
    const float* outcome_weights
    const float* outcome_bias


cdef struct Model:           # what the search reads of an ISBN
    int n_networks, n_latent, n_decisions, n_products, n_couples, n_fields
    int n_actions, first_word, n_rows, max_outcomes
    int width                # of a vector
    bint settles             # whether decisions change the means of any network
    const NetworkTable* tables
    const float* bias        # (width,)
    const float* decision_weights  # (n_decisions, n_rows, width)
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
    cdef NetworkTable table(self, network, parameters, couples)
    cdef void number_relations(self, latent, decisions)
    cdef const float* floats(self, array)
    cdef const int32_t* integers(self, array)
    cdef const void* keep(self, array, number)


cdef struct Candidate:
    int32_t tag
    int32_t outcome
    float log_factor
    int32_t first_signature  # of signature_rows
    int32_t end_signature
    int32_t input            # number of its inputs, or NONE until they are wanted


@cython.final
cdef class SentenceWords:
    cdef Networks networks
    cdef const Model* model
    cdef vector[int32_t] offsets              # (n_words + 1,): the candidates of word i are offsets[i]:offsets[i + 1]
    cdef vector[Candidate] candidates
    cdef vector[int32_t] signature_rows
    cdef vector[float] inputs                 # (n, n_decisions, width): sums of the rows of a Shift
    cdef int clear(self) except -1 nogil
    cdef void add(self, candidates)
    cdef void copy_to(self, SentenceWords new)
    cdef int compute_inputs(self, int candidate) except -1 nogil

    cdef inline const float* input(self, int candidate, int relation) noexcept nogil:
        """The sum of the rows of a Shift, which `compute_inputs` has made."""
        cdef size_t number = self.candidates[candidate].input
        return &self.inputs[(number * self.model.n_decisions + relation) * self.model.width]


@cython.final
cdef class Scorer:
    cdef Networks networks
    cdef const Model* model
    cdef float tolerance
    cdef Workspace workspace
    cdef vector[float] logits                 # (max_outcomes,)
    cdef vector[float] q                      # (3, max_outcomes): of each decision of a step, if there is one network alone
    cdef vector[float] spare_q
    cdef vector[float] spare_means
    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil
    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil
    cdef void to_logs(self, float* logits, int n, const uint8_t* allowed) noexcept nogil
    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil
    cdef void add_all_logits(self, int first, int end, const float* means, float* logits) noexcept nogil
    cdef int update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                    const float* means) except -1 nogil
