"""The projection of latent marginals onto a weighted forest without latent states, tempered by one number.

An edge e of an item a has the weight w(e) = marginal(e) / marginal(a), which keeps all marginals (the variational
approximation of Matsuzaki et al. 2005; Petrov and Klein 2007). A derivation has the probability of the product of its
edges' weights and of its root's marginal, each to the power tau, divided by the sum of these products.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.chart._forest cimport Edge, Forest, as_array
from spacy_lpcfg.vectors cimport fill


cdef class Projection:
    """A distribution over the derivations of a forest, by the marginals of its edges.

    forest (Forest): with at least one tree.
    edge_marginals (float64, (n_edges,)), item_marginals (float64, (n_items,)): of the latent grammar; not negative.
    tau (float): the power of the weights, above 0: 1 keeps the marginals, less makes all derivations more alike.
    """

    cdef readonly Forest forest
    cdef readonly double log_total        # natural log of the sum of the derivations' weights; -inf if there is none
    cdef vector[double] logs              # (n_edges,): tau ln w(e)
    cdef vector[double] root_logs         # (n_items,): tau ln of the share of a root; -inf for other items
    cdef vector[double] inside            # (n_items,): ln of the summed weight of an item's derivations
    cdef vector[double] shares            # (n_edges,): P(e | its target)
    cdef vector[double] edge_marginals    # (n_edges,)
    cdef vector[double] item_marginals    # (n_items,)

    def __init__(self, Forest forest, const double[::1] edge_marginals, const double[::1] item_marginals, double tau):
        self.forest = forest
        with nogil:
            self.weigh(&edge_marginals[0] if edge_marginals.shape[0] else NULL, &item_marginals[0], tau)
            self.inside_pass()
            self.outside_pass()

    cdef int weigh(self, const double* edges, const double* items, double tau) except -1 nogil:
        """Logs of the weights of edges and roots."""
        cdef int item, e
        cdef double total
        fill(self.logs, self.forest.edges.size(), -INFINITY)
        fill(self.root_logs, self.forest.items.size(), -INFINITY)
        for item in range(<int>self.forest.items.size()):
            total = 0
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                total += edges[e]
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                if edges[e] > 0:
                    self.logs[e] = tau * log(edges[e] / total)
        total = 0
        for item in self.forest.roots:
            total += items[item]
        for item in self.forest.roots:
            if items[item] > 0:
                self.root_logs[item] = tau * log(items[item] / total)

    cdef int inside_pass(self) except -1 nogil:
        cdef int item, e, first, end
        cdef double largest, total
        cdef Edge edge
        fill(self.inside, self.forest.items.size(), -INFINITY)
        fill(self.shares, self.forest.edges.size(), 0)
        for item in range(<int>self.forest.items.size()):
            if self.forest.items[item].row >= 0:
                self.inside[item] = 0
                continue
            first, end = self.forest.first_edge[item], self.forest.first_edge[item + 1]
            largest, total = -INFINITY, 0
            for e in range(first, end):
                edge = self.forest.edges[e]
                self.shares[e] = self.logs[e] + self.inside[edge.left] + self.inside[edge.right]
                largest = max(largest, self.shares[e])
            if largest == -INFINITY:
                for e in range(first, end):
                    self.shares[e] = 0
                continue
            for e in range(first, end):
                self.shares[e] = exp(self.shares[e] - largest)
                total += self.shares[e]
            for e in range(first, end):
                self.shares[e] /= total
            self.inside[item] = largest + log(total)

    cdef int outside_pass(self) except -1 nogil:
        cdef int item, e
        cdef double largest = -INFINITY, total = 0
        fill(self.item_marginals, self.forest.items.size(), 0)
        fill(self.edge_marginals, self.forest.edges.size(), 0)
        self.log_total = -INFINITY
        for item in self.forest.roots:
            largest = max(largest, self.root_logs[item] + self.inside[item])
        if largest == -INFINITY:
            return 0
        for item in self.forest.roots:
            total += exp(self.root_logs[item] + self.inside[item] - largest)
        self.log_total = largest + log(total)
        for item in self.forest.roots:
            self.item_marginals[item] = exp(self.root_logs[item] + self.inside[item] - self.log_total)
        for item in range(<int>self.forest.items.size() - 1, -1, -1):
            if self.item_marginals[item] == 0:
                continue
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                self.edge_marginals[e] = self.item_marginals[item] * self.shares[e]
                self.item_marginals[self.forest.edges[e].left] += self.edge_marginals[e]
                self.item_marginals[self.forest.edges[e].right] += self.edge_marginals[e]

    def edges(self):
        """Marginals of the forest's edges, float64 (n_edges,)."""
        return as_array(self.edge_marginals)

    def items(self):
        """Marginals of the forest's items, float64 (n_items,)."""
        return as_array(self.item_marginals)

    def edge_logs(self):
        """Logarithms of the edges' weights, float64 (n_edges,)."""
        return as_array(self.logs)

    def item_logs(self):
        """Logarithms of the roots' weights, float64 (n_items,); -inf for items that are no roots."""
        return as_array(self.root_logs)

    def log_probability_within(self, const char[::1] is_allowed):
        """Return ln of the probability of all derivations of allowed items, int8 (n_items,); -inf for none."""
        cdef vector[double] inside
        cdef int item, e
        cdef double largest, total
        cdef Edge edge
        fill(inside, self.forest.items.size(), -INFINITY)
        for item in range(<int>self.forest.items.size()):
            if not is_allowed[item]:
                continue
            if self.forest.items[item].row >= 0:
                inside[item] = 0
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                edge = self.forest.edges[e]
                inside[item] = log_sum(inside[item], self.logs[e] + inside[edge.left] + inside[edge.right])
        total = -INFINITY
        for item in range(<int>self.forest.items.size()):
            total = log_sum(total, self.root_logs[item] + inside[item])
        return total - self.log_total

    def draw(self, const double[::1] uniforms):
        """Draw a derivation; return its items in pre-order, int32 (2 n_words - 1,).

        uniforms (float64, (n_words,)): independent, from [0, 1).
        """
        cdef vector[int32_t] stack, nodes
        cdef int item = -1, e, root, chosen, n_drawn = 1
        cdef double point = uniforms[0]
        for root in self.forest.roots:
            if self.item_marginals[root] > 0 and (point >= 0 or item < 0):
                item = root
                point -= self.item_marginals[item]
        stack.push_back(item)
        while not stack.empty():
            item = stack.back()
            stack.pop_back()
            nodes.push_back(item)
            if self.forest.items[item].row >= 0:
                continue
            point, chosen = uniforms[n_drawn], -1
            n_drawn += 1
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                if self.shares[e] > 0 and (point >= 0 or chosen < 0):
                    chosen = e
                    point -= self.shares[e]
            stack.push_back(self.forest.edges[chosen].right)
            stack.push_back(self.forest.edges[chosen].left)
        return np.array(nodes, dtype=np.int32)


cdef double log_sum(double x, double y) noexcept nogil:
    """ln(exp(x) + exp(y))."""
    if x == -INFINITY or y == -INFINITY:
        return max(x, y)
    return max(x, y) + log(1 + exp(-fabs(x - y)))
