"""The pruned chart of one sentence, shared by every grammar that reads it."""

import numpy as np

from libc.math cimport fabs


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

    def pruned(self, const double[::1] marginals, double threshold):
        """The forest of those edges whose marginals are large enough, and of what they still join to whole trees.

        marginals (float64, (n_edges,)): of any sign.
        threshold (float): least size of a marginal.
        RETURNS (Forest, int64 (n_items,), int64 (n_edges,)): with the places here of its items and edges. If no tree
            is left, the forest itself.
        """
        cdef vector[char] stands, is_used, is_kept
        cdef int item, e
        cdef Edge edge
        cdef size_t k
        stands.assign(self.items.size(), False)
        is_used.assign(self.items.size(), False)
        is_kept.assign(self.edges.size(), False)
        with nogil:
            for item in range(<int>self.items.size()):
                stands[item] = self.items[item].row >= 0
                for e in range(self.first_edge[item], self.first_edge[item + 1]):
                    edge = self.edges[e]
                    is_kept[e] = fabs(marginals[e]) >= threshold and stands[edge.left] and stands[edge.right]
                    stands[item] |= is_kept[e]
            for k in range(self.roots.size()):
                is_used[self.roots[k]] = stands[self.roots[k]]
            for item in range(<int>self.items.size() - 1, -1, -1):
                for e in range(self.first_edge[item], self.first_edge[item + 1]):
                    is_kept[e] &= is_used[item]
                    if is_kept[e]:
                        is_used[self.edges[e].left] = is_used[self.edges[e].right] = True
        items, edges = _places(is_used), _places(is_kept)
        if len(items) == 0:
            return self, np.arange(self.items.size()), np.arange(self.edges.size())
        return self.part(items, edges), items, edges

    def restricted(self, const char[::1] is_allowed):
        """The forest of some items, int8 (n_items,), and of the edges between them; it may hold no tree."""
        cdef vector[char] is_kept
        cdef size_t e
        cdef vector[char] allowed
        allowed.assign(&is_allowed[0], &is_allowed[0] + is_allowed.shape[0])
        is_kept.assign(self.edges.size(), False)
        for e in range(self.edges.size()):
            is_kept[e] = (
                allowed[self.edges[e].target] and allowed[self.edges[e].left] and allowed[self.edges[e].right]
            )
        return self.part(_places(allowed), _places(is_kept))

    cdef Forest part(self, const int64_t[::1] items, const int64_t[::1] edges):
        """The forest of some items and edges; the children of an edge must be among the items."""
        cdef Forest part = Forest()
        cdef vector[int32_t] place
        cdef Edge edge
        cdef Py_ssize_t k, e = 0
        cdef size_t r
        part.n_words, part.log_probability, part.is_complete = self.n_words, self.log_probability, self.is_complete
        place.assign(self.items.size(), -1)
        with nogil:
            for k in range(items.shape[0]):
                place[items[k]] = <int32_t>k
                part.items.push_back(self.items[items[k]])
                part.item_posteriors_.push_back(self.item_posteriors_[items[k]])
                part.row_scales.push_back(self.row_scales[items[k]])
                part.first_edge.push_back(<int32_t>e)
                while e < edges.shape[0] and self.edges[edges[e]].target == items[k]:
                    edge = self.edges[edges[e]]
                    edge.target, edge.left, edge.right = <int32_t>k, place[edge.left], place[edge.right]
                    part.edges.push_back(edge)
                    part.edge_posteriors_.push_back(self.edge_posteriors_[edges[e]])
                    e += 1
            part.first_edge.push_back(<int32_t>e)
            for r in range(self.roots.size()):
                if place[self.roots[r]] >= 0:
                    part.roots.push_back(place[self.roots[r]])
        return part

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


cdef _places(vector[char]& flags):
    """Where flags are set, int64 (n,)."""
    return np.flatnonzero(np.array(<char[:flags.size()]>flags.data())) if flags.size() else np.zeros(0, dtype=np.int64)


cdef as_array(vector[double]& values):
    """A copy as float64 (n,)."""
    cdef size_t n = values.size()
    return np.array(<double[:n]>values.data()) if n else np.empty(0)
