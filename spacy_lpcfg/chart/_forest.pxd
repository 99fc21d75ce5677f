from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector


cdef struct Item:
    int32_t start
    int32_t end
    int32_t symbol
    int32_t row          # of the lexicon, for a preterminal over one word; else -1


cdef struct Edge:
    int32_t target       # items
    int32_t left
    int32_t right
    int32_t rule


cdef class Forest:
    """What survives of a sentence's chart: items (a, i, j) by growing width, and the edges that build them.

    Items of one cell stand together; edges stand in the order of their targets, and those of one target that
    share a rule stand together. Every child stands before its target.
    """

    cdef public int n_words
    cdef public double log_probability
    cdef vector[Item] items
    cdef vector[Edge] edges
    cdef vector[int32_t] first_edge      # (n_items + 1,): edges of an item
    cdef vector[double] posteriors       # (n_items,): under the treebank PCFG
    cdef vector[double] row_scales       # (n_items,): what a prior on tags leaves of a leaf's emissions
    cdef vector[int32_t] roots           # items over the whole sentence that may be its root
