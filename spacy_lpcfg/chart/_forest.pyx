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
        cdef Item item
        return np.array(
            [(item.start, item.end, item.symbol, item.row) for item in self.items], dtype=np.int32
        ).reshape(-1, 4)

    def edge_table(self):
        """Edges as int32 (n_edges, 4): target, left and right item, rule."""
        cdef Edge edge
        return np.array(
            [(edge.target, edge.left, edge.right, edge.rule) for edge in self.edges], dtype=np.int32
        ).reshape(-1, 4)

    def item_posteriors(self):
        """Marginals of the items under the treebank PCFG, float64 (n_items,)."""
        return np.array(self.posteriors, dtype=np.float64)
