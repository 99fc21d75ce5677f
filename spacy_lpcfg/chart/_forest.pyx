# cython: boundscheck=False, wraparound=False, cdivision=True
"""The pruned chart of one sentence, shared by every grammar that reads it."""

import numpy as np


cdef class Forest:
    @property
    def n_items(self):
        return self.items.size()

    @property
    def n_edges(self):
        return self.edges.size()

    cdef bint has_tree(self) noexcept nogil:
        """Whether the edges hold a tree over the whole sentence."""
        cdef vector[char] stands
        cdef int item, e
        cdef size_t k
        stands.assign(self.items.size(), False)
        for item in range(<int>self.items.size()):
            stands[item] = self.items[item].row >= 0
            for e in range(self.first_edge[item], self.first_edge[item + 1]):
                stands[item] |= stands[self.edges[e].left] and stands[self.edges[e].right]
        for k in range(self.roots.size()):
            if stands[self.roots[k]]:
                return True
        return False

    cdef void clear(self) noexcept nogil:
        self.items.clear()
        self.edges.clear()
        self.first_edge.clear()
        self.item_posteriors_.clear()
        self.edge_posteriors_.clear()
        self.row_scales.clear()
        self.roots.clear()

    def item_table(self):
        """Items as int32 (n_items, 4): start, end, symbol, lexicon row or -1."""
        return self._table(self.items.size(), <int32_t*>self.items.data())

    def edge_table(self):
        """Edges as int32 (n_edges, 4): target, left and right item, rule."""
        return self._table(self.edges.size(), <int32_t*>self.edges.data())

    cdef _table(self, size_t n, int32_t* data):
        return np.array(<int32_t[:n, :4]>data) if n else np.empty((0, 4), dtype=np.int32)

    def item_posteriors(self):
        """Marginals of the items under the treebank PCFG, float64 (n_items,)."""
        return as_array(self.item_posteriors_)

    def edge_posteriors(self):
        """Marginals of the edges under the treebank PCFG, float64 (n_edges,)."""
        return as_array(self.edge_posteriors_)


cdef as_array(vector[double]& values):
    """A copy as float64 (n,)."""
    cdef size_t n = values.size()
    return np.array(<double[:n]>values.data()) if n else np.empty(0)
