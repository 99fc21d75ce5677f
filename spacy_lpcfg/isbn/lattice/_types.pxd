# What the stages of the lattice hand to each other.

from libc.stdint cimport int32_t

from spacy_lpcfg.isbn.search._types cimport State

cdef struct Node:            # on a stack, with all below it: equal stacks are one node
    int32_t below            # a node
    int32_t label            # LEAF, ROOT, or that of a constituent
    int32_t start            # its first word
    int32_t first            # labels of its first and its last child; tags follow the labels; of a leaf its own tag
    int32_t last
    int32_t depth            # nodes below it
    int32_t reach            # the words that all nodes of the stack may hold: up to this one


cdef struct Vertex:          # all derivations that have come to the same stack
    double log_probability   # of all of them
    State state              # of the best of them
    int32_t stack            # a node
    int32_t tag              # of the last word
    int32_t n_words          # shifted so far


cdef struct Arc:
    double log_probability   # of all derivations that come by it
    int32_t origin           # a vertex
    int32_t action
    int32_t candidate        # of Shift
    int32_t stack            # after the action
    int32_t tag              # of the last word then
    int32_t target           # a vertex, once it is there; before, the next arc of the same level, or NONE
