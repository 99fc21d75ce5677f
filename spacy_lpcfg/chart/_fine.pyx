# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Inside-outside of a latent-variable grammar over the edges of a forest, and the trees that its marginals choose.

Figure 3 of Cohen et al. (2012), on the binarised chart; differs: (1) only over the edges that the treebank PCFG
left, as section 4 of Cohen et al. (2013); (2) edges of one item that share a rule first add up the outer products
of their children, so that each tensor is applied once an item; (3) every vector has a binary exponent of its own.
Weights may be negative: nothing here takes them for probabilities.
"""

from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, log
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_lpcfg.chart._forest cimport Edge, Forest, Item, as_array

cdef extern from "simd.h" nogil:
    void add_outer(float* pairs, const float* left, const float* right, float scale, int n_left, int n_right)
    void add_rows(float* out, const float* tensor, const float* pairs, int n_out, int n_pairs)
    void mix_rows(float* pairs, const float* tensor, const float* outer, int n_outer, int n_pairs)
    float pass_down(float* to_left, float* to_right, const float* pairs, const float* left, const float* right,
                    float scale, int n_left, int n_right)

cdef int NOTHING = -(1 << 28)     # the exponent of a vector of zeros
cdef double LOG_2 = log(2.0)


cdef class FineGrammar:
    """The latent parameters of a grammar, as the kernels read them."""

    cdef const int32_t[::1] n_states
    cdef const int64_t[::1] state_offsets
    cdef const float[::1] root_vectors
    cdef const int32_t[:, ::1] rules
    cdef const float[::1] tensors
    cdef const int64_t[::1] tensor_offsets
    cdef const float[::1] row_vectors
    cdef const int64_t[::1] row_offsets
    cdef int most_states

    def __init__(self, grammar):
        self.n_states = grammar.n_states
        self.state_offsets = grammar.state_offsets
        self.root_vectors = grammar.root_vectors
        self.rules = grammar.rules
        self.tensors = grammar.tensors.dense
        self.tensor_offsets = grammar.tensors.offsets
        self.row_vectors = grammar.lexicon.vectors
        self.row_offsets = grammar.lexicon.vector_offsets
        self.most_states = max(grammar.n_states)


cdef class Marginals:
    """Inside and outside vectors of a forest's items under one grammar, and the marginals of its edges."""

    cdef Forest forest
    cdef FineGrammar grammar
    cdef vector[int64_t] offsets          # (n_items + 1,): where an item's vectors begin
    cdef vector[float] inside
    cdef vector[float] outside
    cdef vector[int32_t] exponents        # (n_items,): of the inside vectors
    cdef vector[double] edge_marginals    # (n_edges,): signed; divided by the signed total
    cdef vector[double] item_marginals    # (n_items,)
    cdef readonly double total            # mantissa of the sentence's weight, and its exponent
    cdef int total_exponent

    def __init__(self, FineGrammar grammar, Forest forest):
        self.grammar = grammar
        self.forest = forest
        with nogil:
            self.allocate()
            self.inside_pass()
            self.sum_roots()
            if self.total != 0:
                self.outside_pass()

    @property
    def log_probability(self):
        """Natural log of the sentence's weight; -inf if it is zero, nan if it is negative."""
        if self.total > 0:
            return log(self.total) + LOG_2 * self.total_exponent
        return -INFINITY if self.total == 0 else float("nan")

    def edges(self):
        """Marginals mu(a -> b c, i, k, j) of the forest's edges, float64 (n_edges,); may be negative."""
        return as_array(self.edge_marginals)

    def items(self):
        """Marginals mu(a, i, j) of the forest's items, float64 (n_items,); may be negative."""
        return as_array(self.item_marginals)

    cdef void allocate(self) noexcept nogil:
        cdef size_t k, n = self.forest.items.size()
        self.offsets.assign(n + 1, 0)
        for k in range(n):
            self.offsets[k + 1] = self.offsets[k] + self.grammar.n_states[self.forest.items[k].symbol]
        self.inside.assign(self.offsets[n], 0)
        self.outside.assign(self.offsets[n], 0)
        self.exponents.assign(n, NOTHING)
        self.item_marginals.assign(n, 0)
        self.edge_marginals.assign(self.forest.edges.size(), 0)

    cdef void normalize(self, int item, int exponent) noexcept nogil:
        """Bring the largest entry of an inside vector to [0.5, 1); note the exponent taken out."""
        cdef int64_t h
        cdef float largest = 0
        cdef int shift = 0
        for h in range(self.offsets[item], self.offsets[item + 1]):
            largest = max(largest, fabs(self.inside[h]))
        if largest == 0 or not isfinite(largest):
            self.exponents[item] = NOTHING
            return
        frexp(largest, &shift)
        for h in range(self.offsets[item], self.offsets[item + 1]):
            self.inside[h] = ldexp(self.inside[h], -shift)
        self.exponents[item] = exponent + shift

    cdef int largest_exponent(self, int item) noexcept nogil:
        """Of the products of children below an item."""
        cdef int largest = NOTHING
        cdef int e
        cdef Edge edge
        for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
            edge = self.forest.edges[e]
            if self.exponents[edge.left] > NOTHING and self.exponents[edge.right] > NOTHING:
                largest = max(largest, self.exponents[edge.left] + self.exponents[edge.right])
        return largest

    cdef void inside_leaf(self, int item) noexcept nogil:
        cdef Item leaf = self.forest.items[item]
        cdef int h
        cdef const float* weights = &self.grammar.row_vectors[self.grammar.row_offsets[leaf.row]]
        for h in range(self.grammar.n_states[leaf.symbol]):
            self.inside[self.offsets[item] + h] = <float>(weights[h] * self.forest.row_scales[item])
        self.normalize(item, 0)

    cdef void inside_pass(self) noexcept nogil:
        cdef vector[float] pairs
        cdef int item, e, first, last, exponent, n_left, n_right
        cdef Edge edge
        pairs.assign(self.grammar.most_states * self.grammar.most_states, 0)
        for item in range(<int>self.forest.items.size()):
            if self.forest.items[item].row >= 0:
                self.inside_leaf(item)
                continue
            exponent = self.largest_exponent(item)
            if exponent == NOTHING:
                continue
            first, last = self.forest.first_edge[item], self.forest.first_edge[item + 1]
            for e in range(first, last):
                edge = self.forest.edges[e]
                n_left = self.grammar.n_states[self.grammar.rules[edge.rule, 1]]
                n_right = self.grammar.n_states[self.grammar.rules[edge.rule, 2]]
                if e == first or edge.rule != self.forest.edges[e - 1].rule:
                    pairs.assign(n_left * n_right, 0)
                if self.exponents[edge.left] > NOTHING and self.exponents[edge.right] > NOTHING:
                    add_outer(
                        &pairs[0], &self.inside[self.offsets[edge.left]], &self.inside[self.offsets[edge.right]],
                        self.power(self.exponents[edge.left] + self.exponents[edge.right] - exponent),
                        n_left, n_right,
                    )
                if e + 1 == last or edge.rule != self.forest.edges[e + 1].rule:
                    add_rows(
                        &self.inside[self.offsets[item]],
                        &self.grammar.tensors[self.grammar.tensor_offsets[edge.rule]],
                        &pairs[0], self.grammar.n_states[self.forest.items[item].symbol], n_left * n_right,
                    )
            self.normalize(item, exponent)

    cdef float power(self, int exponent) noexcept nogil:
        return 0 if exponent < -120 else <float>ldexp(1.0, exponent)

    cdef void sum_roots(self) noexcept nogil:
        """The total over the roots, and their outside vectors."""
        cdef size_t k
        cdef int item, h, symbol
        cdef double product
        self.total = 0
        self.total_exponent = NOTHING
        for k in range(self.forest.roots.size()):
            self.total_exponent = max(self.total_exponent, self.exponents[self.forest.roots[k]])
        for k in range(self.forest.roots.size()):
            item = self.forest.roots[k]
            if self.exponents[item] == NOTHING:
                continue
            symbol = self.forest.items[item].symbol
            product = 0
            for h in range(self.grammar.n_states[symbol]):
                self.outside[self.offsets[item] + h] = self.grammar.root_vectors[
                    self.grammar.state_offsets[symbol] + h]
                product += (
                    <double>self.outside[self.offsets[item] + h] * self.inside[self.offsets[item] + h]
                )
            self.total += product * ldexp(1.0, self.exponents[item] - self.total_exponent)
        for k in range(self.forest.roots.size()):
            item = self.forest.roots[k]
            for h in range(self.grammar.n_states[self.forest.items[item].symbol]):
                self.outside[self.offsets[item] + h] *= self.power(self.exponents[item] - self.total_exponent)

    cdef void outside_pass(self) noexcept nogil:
        """Outside vectors of all items, with exponents opposite to the inside ones; marginals on the way."""
        cdef vector[float] pairs
        cdef int item, e, first, last, n_left, n_right
        cdef int64_t h
        cdef double product
        cdef Edge edge
        pairs.assign(self.grammar.most_states * self.grammar.most_states, 0)
        for item in range(<int>self.forest.items.size() - 1, -1, -1):
            if self.exponents[item] == NOTHING:
                continue
            product = 0
            for h in range(self.offsets[item], self.offsets[item + 1]):
                product += <double>self.inside[h] * self.outside[h]
            self.item_marginals[item] = product / self.total
            first, last = self.forest.first_edge[item], self.forest.first_edge[item + 1]
            for e in range(first, last):
                edge = self.forest.edges[e]
                n_left = self.grammar.n_states[self.grammar.rules[edge.rule, 1]]
                n_right = self.grammar.n_states[self.grammar.rules[edge.rule, 2]]
                if e == first or edge.rule != self.forest.edges[e - 1].rule:
                    mix_rows(
                        &pairs[0], &self.grammar.tensors[self.grammar.tensor_offsets[edge.rule]],
                        &self.outside[self.offsets[item]],
                        self.grammar.n_states[self.forest.items[item].symbol], n_left * n_right,
                    )
                if self.exponents[edge.left] == NOTHING or self.exponents[edge.right] == NOTHING:
                    continue
                self.edge_marginals[e] = pass_down(
                    &self.outside[self.offsets[edge.left]], &self.outside[self.offsets[edge.right]], &pairs[0],
                    &self.inside[self.offsets[edge.left]], &self.inside[self.offsets[edge.right]],
                    self.power(self.exponents[edge.left] + self.exponents[edge.right] - self.exponents[item]),
                    n_left, n_right,
                ) / self.total
