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
