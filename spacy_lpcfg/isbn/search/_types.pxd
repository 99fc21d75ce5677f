# What the stages of the search hand to each other.

from libc.stdint cimport int32_t, uint8_t, uint32_t

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


cdef struct Cell:
    int32_t label
    int32_t fields[5]        # branches
    int32_t below            # a cell


cdef struct Branch:
    int32_t previous         # the branch before
    int32_t action
    int32_t candidate        # of Shift: the number of a tag of a word
    int32_t slot             # of its means; of the position's, where no decision changes them


cdef struct State:
    int32_t branch           # the last one
    int32_t cell             # the top of the stack
    int32_t last_shift       # a branch
    int32_t n_projected      # nodes projected in a row
    int32_t slot             # of the means before any decision
    int32_t theta            # where the means belong to branches: number of their logits before any decision


cdef struct Hypothesis:
    double log_probability
    int32_t branch
    int32_t cell
    int32_t last_shift


cdef struct Item:            # of the agenda
    double log_probability
    int32_t state            # from which the step is taken; -1 - i: no step, from hypothesis i of the beam
    int32_t action


cdef struct Shifted:
    double log_probability
    int32_t state
    int32_t candidate
    int32_t theta            # where the means belong to branches: number of their logits before the word


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
