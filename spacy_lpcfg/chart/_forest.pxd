from libc.stdint cimport int32_t
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

    cdef readonly int n_words
    cdef readonly double log_probability # natural log of the sentence's probability under the treebank PCFG
    cdef readonly bint is_complete       # False if the chart grew too large to be finished
    cdef vector[Item] items
    cdef vector[Edge] edges
    cdef vector[int32_t] first_edge      # (n_items + 1,): edges of an item
    cdef vector[double] item_posteriors_ # (n_items,): under the treebank PCFG
    cdef vector[double] edge_posteriors_ # (n_edges,)
    cdef vector[double] scales           # (n_items,): of a leaf's emissions, such as by a prior on tags; else 1
    cdef vector[double] factors          # (n_items,): from evidence; 1 without
    cdef vector[int32_t] roots           # items over the whole sentence that may be its root
    cdef bint has_tree(self) except -1 nogil
    cdef void clear(self) noexcept nogil
    cdef _table(self, size_t n, int32_t* data)


cdef as_array(vector[double]& values)
