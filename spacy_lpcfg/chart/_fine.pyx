"""Inside-outside of a latent-variable grammar over the edges of a forest, and the trees that its marginals choose.

Figure 3 of Cohen et al. (2012), on the binarised chart; differs: (1) only over the edges that the treebank PCFG
left, as section 4 of Cohen et al. (2013); (2) edges of one item that share a rule first add up the outer products
of their children, so that each tensor is applied once an item; (3) a factored tensor is applied to its children's
projections, and of a sparse one only its blocks and the product that stands for the rest; (4) every vector has a
binary exponent of its own.
Weights may be negative: nothing here takes them for probabilities.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, log
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_lpcfg.chart._forest cimport Edge, Forest, Item, as_array
from spacy_lpcfg.simd cimport (
    LANES, add_outer, add_rows, add_sparse_rows, mix_rows, mix_sparse_rows, outer, pass_down, power_of_two)
from spacy_lpcfg.vectors cimport fill

from spacy_lpcfg.grammar.layout import layout
from spacy_lpcfg.grammar.tensors import FACTORED, SPARSE

cdef int NOTHING = -(1 << 28)     # the exponent of a vector of zeros
cdef double LOG_2 = log(2.0)


cdef class FineGrammar:
    """The latent parameters of a grammar, as the kernels read them."""

    def __init__(self, grammar):
        self.n_states = grammar.n_states
        self.state_offsets = grammar.state_offsets
        self.root_vectors = grammar.root_vectors
        self.row_vectors = grammar.lexicon.vectors
        self.row_offsets = grammar.lexicon.vector_offsets
        self.max_states = in_blocks(grammar.n_states.max())
        self.layout = layout(grammar.tensors)
        self.read_tensors(grammar.tensors)

    cdef read_tensors(self, tensors):
        cdef const int32_t[:, ::1] shapes = tensors.shapes, ranks = tensors.ranks
        cdef const int32_t[::1] forms = tensors.forms
        cdef const float[::1] data = self.layout.data
        cdef const int64_t[:, ::1] starts = self.layout.starts
        cdef const float[:, ::1] blocks = self.layout.blocks
        cdef const int32_t[:, ::1] places = self.layout.places
        cdef const int64_t[::1] first_block = self.layout.first_block
        cdef Tensor tensor
        cdef int rule, k
        for rule in range(shapes.shape[0]):
            tensor.is_factored, tensor.is_sparse = forms[rule] == FACTORED, forms[rule] == SPARSE
            tensor.core = &data[0] + starts[rule, 0]
            for k in range(3):
                tensor.states[k] = shapes[rule, k]
                tensor.sizes[k] = ranks[rule, k] if tensor.is_factored else shapes[rule, k]
                tensor.factors[k] = tensor.sparse.rest[k] = &data[0] + starts[rule, k + 1]
            tensor.sizes[2] = in_blocks(tensor.sizes[2])
            tensor.sparse.blocks = &blocks[0, 0] + LANES * first_block[rule]
            tensor.sparse.places = &places[0, 0] + 2 * first_block[rule]
            tensor.sparse.n_blocks = first_block[rule + 1] - first_block[rule]
            tensor.sparse.n_parent, tensor.sparse.n_left, tensor.sparse.n_right = tensor.sizes
            self.tensors.push_back(tensor)


cdef int in_blocks(int n) noexcept nogil:
    """A size, rounded up to whole blocks."""
    return (n + LANES - 1) // LANES * LANES


cdef const float* to_core(const Tensor& tensor, int child, const float* states, float* buffer) noexcept nogil:
    """A vector over the states of a child (0: the parent) as the core takes it; in the buffer, if it is projected."""
    if not tensor.is_factored:
        return states
    mix_rows(buffer, tensor.factors[child], states, tensor.states[child], in_blocks(tensor.sizes[child]))
    return buffer


cdef float* of_core(const Tensor& tensor, int child, float* states, float* buffer) noexcept nogil:
    """Where to add what the core gives: to the states, or to an empty buffer that `from_core` adds to them."""
    cdef int r
    if not tensor.is_factored:
        return states
    for r in range(in_blocks(tensor.sizes[child])):
        buffer[r] = 0
    return buffer


cdef void from_core(const Tensor& tensor, int child, float* states, const float* given) noexcept nogil:
    if tensor.is_factored:
        add_rows(states, tensor.factors[child], given, tensor.states[child], in_blocks(tensor.sizes[child]))


cdef void apply_core(float* sums, const Tensor& tensor, const float* pairs, float* scratch) noexcept nogil:
    """Add to sums over a parent's states, or what stands for them, those of a tensor times pairs of children's states.

    scratch: of LANES floats for each state of the parent.
    """
    if tensor.is_sparse:
        add_sparse_rows(sums, &tensor.sparse, pairs, scratch)
    else:
        add_rows(sums, tensor.core, pairs, tensor.sizes[0], tensor.sizes[1] * tensor.sizes[2])


cdef void mix(float* pairs, const float* outside, const Tensor& tensor, float* buffer) noexcept nogil:
    """Make `pairs` the sum of a tensor's matrices over children's states, weighted by a parent's outside vector."""
    if tensor.is_sparse:
        mix_sparse_rows(pairs, &tensor.sparse, outside)
        return
    mix_rows(
        pairs, tensor.core, to_core(tensor, 0, outside, buffer), tensor.sizes[0], tensor.sizes[1] * tensor.sizes[2]
    )


cdef cppclass Scratch:            # of one drawn tree: threads may draw from the same marginals
    vector[float] pairs           # a matrix over the states of two children
    vector[float] one_hot         # a state of the parent
    vector[float] buffer          # the same as a core takes it
    vector[double] edge_weights   # of an item's edges


@cython.final
cdef class Marginals:
    """Inside and outside vectors of a forest's items under one grammar, and the marginals of its edges."""

    cdef readonly Forest forest
    cdef FineGrammar grammar
    cdef vector[int64_t] offsets          # (n_items + 1,): where an item's vectors begin
    cdef vector[float] inside
    cdef vector[float] outside
    cdef vector[int32_t] exponents        # (n_items,): of the inside vectors
    cdef vector[double] edge_marginals    # (n_edges,): signed; divided by the signed total
    cdef vector[double] item_marginals    # (n_items,)
    cdef vector[float] pairs              # scratch: a matrix over the states of two children
    cdef vector[float] buffer             # scratch: vectors as a core takes and gives them
    cdef vector[float] buffer_2
    cdef vector[float] left_buffer
    cdef vector[float] right_buffer
    cdef vector[float] scratch
    cdef readonly double total            # mantissa of the sentence's weight, and its exponent
    cdef int total_exponent
    cdef bint has_factors                 # whether the factors of the forest's items count
    cdef int n_rules                      # rules from this one on do not count

    def __init__(self, FineGrammar grammar, Forest forest):
        self.grammar = grammar
        self.forest = forest
        self.has_factors, self.n_rules = True, <int>grammar.tensors.size()
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

    def vectors(self, int item):
        """Return the inside and outside vectors of an item, float32 (n_states,), and the inside one's exponent of 2.

        The outside vector is divided by the sentence's weight and has the opposite exponent, so that the product of
        both adds up to the item's marginal.
        """
        cdef int n = self.grammar.n_states[self.forest.items[item].symbol]
        inside = np.array(<float[:n]>self.inside_of(item))
        outside = np.array(<float[:n]>self.outside_of(item), dtype=np.float64) / self.total
        return inside, outside.astype(np.float32), self.exponents[item]

    def draw(self, const double[::1] uniforms):
        """Draw a tree by the weights of a proper grammar; return its items in pre-order, int32 (2 n_words - 1,).

        uniforms (float64, (n_words,)): independent, from [0, 1).
        """
        cdef vector[int32_t] stack, states, nodes
        cdef Scratch scratch
        cdef int item, state, left, right, n_drawn = 1
        fill(scratch.pairs, self.pairs.size(), 0)
        fill(scratch.one_hot, self.grammar.max_states, 0)
        fill(scratch.buffer, self.grammar.max_states, 0)
        with nogil:
            self.draw_root(uniforms[0], &item, &state)
            stack.push_back(item)
            states.push_back(state)
            while not stack.empty():
                item, state = stack.back(), states.back()
                stack.pop_back()
                states.pop_back()
                nodes.push_back(item)
                if self.forest.items[item].row >= 0:
                    continue
                self.draw_edge(uniforms[n_drawn], item, state, &left, &right, &state, scratch)
                n_drawn += 1
                stack.push_back(right)
                states.push_back(state % self.grammar.max_states)
                stack.push_back(left)
                states.push_back(state // self.grammar.max_states)
        return np.array(nodes, dtype=np.int32)

    cdef void draw_root(self, double uniform, int* item, int* state) noexcept nogil:
        """The root and its state."""
        cdef double point = uniform * self.total
        cdef double weight
        cdef int root, h, symbol
        item[0] = -1
        for root in self.forest.roots:
            symbol = self.forest.items[root].symbol
            for h in range(self.grammar.n_states[symbol]):
                weight = <double>self.inside[self.offsets[root] + h] * self.outside[self.offsets[root] + h]
                if weight > 0 and (point >= 0 or item[0] < 0):
                    item[0], state[0] = root, h
                    point -= weight

    cdef int draw_edge(self, double uniform, int item, int state, int* left, int* right, int* pair,
                       Scratch& scratch) except -1 nogil:
        """An edge of an item in a state, and states of its children as left * max_states + right."""
        cdef double point, total = 0
        cdef int e, chosen = -1
        scratch.edge_weights.clear()
        for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
            scratch.edge_weights.push_back(self.weigh(e, state, scratch))
            total += scratch.edge_weights.back()
        point = uniform * total
        for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
            if scratch.edge_weights[e - self.forest.first_edge[item]] > 0 and (point >= 0 or chosen < 0):
                chosen = e
                point -= scratch.edge_weights[e - self.forest.first_edge[item]]
        point += self.weigh(chosen, state, scratch)
        left[0], right[0] = self.forest.edges[chosen].left, self.forest.edges[chosen].right
        pair[0] = self.pair_at(point / self.power_between(chosen), self.forest.edges[chosen], scratch)

    cdef double weigh(self, int e, int state, Scratch& scratch) noexcept nogil:
        """The weight of an edge for a state of its target; `scratch.pairs` then has the tensor's matrix of it."""
        cdef Edge edge = self.forest.edges[e]
        cdef const Tensor* tensor = &self.grammar.tensors[edge.rule]
        cdef const float* right = self.inside_of(edge.right)
        cdef double sum = 0, row
        cdef int j, k
        scratch.one_hot[state] = 1
        mix(scratch.pairs.data(), scratch.one_hot.data(), tensor[0], scratch.buffer.data())
        scratch.one_hot[state] = 0
        for j in range(tensor.sizes[1]):
            row = 0
            for k in range(tensor.sizes[2]):
                row += scratch.pairs[j * tensor.sizes[2] + k] * right[k]
            sum += row * self.inside[self.offsets[edge.left] + j]
        return sum * self.power_between(e)

    cdef int pair_at(self, double point, const Edge& edge, const Scratch& scratch) noexcept nogil:
        """The states of an edge's children, as left * max_states + right, at a point of their cumulative weights."""
        cdef const Tensor* tensor = &self.grammar.tensors[edge.rule]
        cdef int j, k, states = 0
        cdef double weight
        for j in range(tensor.states[1]):
            for k in range(tensor.states[2]):
                weight = <double>scratch.pairs[j * tensor.sizes[2] + k] * (
                    self.inside[self.offsets[edge.left] + j] * self.inside[self.offsets[edge.right] + k]
                )
                if weight > 0 and point >= 0:
                    states = j * self.grammar.max_states + k
                    point -= weight
        return states

    cdef double power_between(self, int e) noexcept nogil:
        """The power of 2 that takes products of an edge's children to the exponent of its target."""
        cdef Edge edge = self.forest.edges[e]
        return ldexp(1.0, self.exponents[edge.left] + self.exponents[edge.right] - self.exponents[edge.target])

    cdef int allocate(self) except -1 nogil:
        cdef size_t k, n = self.forest.items.size()
        fill(self.offsets, n + 1, 0)
        for k in range(n):
            self.offsets[k + 1] = self.offsets[k] + in_blocks(self.grammar.n_states[self.forest.items[k].symbol])
        fill(self.inside, self.offsets[n], 0)
        fill(self.outside, self.offsets[n], 0)
        fill(self.exponents, n, NOTHING)
        fill(self.item_marginals, n, 0)
        fill(self.edge_marginals, self.forest.edges.size(), 0)
        fill(self.pairs, self.grammar.max_states * self.grammar.max_states, 0)
        fill(self.buffer, self.grammar.max_states, 0)
        fill(self.buffer_2, self.grammar.max_states, 0)
        fill(self.left_buffer, self.grammar.max_states, 0)
        fill(self.right_buffer, self.grammar.max_states, 0)
        fill(self.scratch, LANES * self.grammar.max_states, 0)

    cdef void normalize(self, int item, int exponent) noexcept nogil:
        """Bring the largest entry of an inside vector to [0.5, 1); note the exponent taken out."""
        cdef int64_t h
        cdef float largest = 0
        cdef int shift = 0
        cdef double scale = 0
        for h in range(self.offsets[item], self.offsets[item + 1]):
            largest = max(largest, fabs(self.inside[h]))
        if largest > 0 and isfinite(largest):
            frexp(largest, &shift)
            scale = ldexp(1.0, -shift)
            self.exponents[item] = exponent + shift
        for h in range(self.offsets[item], self.offsets[item + 1]):
            self.inside[h] = <float>(self.inside[h] * scale) if scale > 0 else 0

    cdef int largest_exponent(self, int item) noexcept nogil:
        """The largest exponent of the products of children below an item; NOTHING without any."""
        cdef int largest = NOTHING
        cdef int e
        cdef Edge edge
        for e in range(self.forest.first_edge[item], self.end_edge(item)):
            edge = self.forest.edges[e]
            if self.exponents[edge.left] > NOTHING and self.exponents[edge.right] > NOTHING:
                largest = max(largest, self.exponents[edge.left] + self.exponents[edge.right])
        return largest

    cdef void inside_leaf(self, int item) noexcept nogil:
        cdef Item leaf = self.forest.items[item]
        cdef int h
        cdef const float* weights = &self.grammar.row_vectors[self.grammar.row_offsets[leaf.row]]
        for h in range(self.grammar.n_states[leaf.symbol]):
            self.inside[self.offsets[item] + h] = <float>(weights[h] * self.forest.scales[item] * self.factor(item))
        self.normalize(item, 0)

    cdef double factor(self, int item) noexcept nogil:
        return self.forest.factors[item] if self.has_factors else 1.0

    cdef int end_edge(self, int item) noexcept nogil:
        """The end of an item's edges whose rules count; the others stand behind them."""
        cdef int end = self.forest.first_edge[item + 1]
        while end > self.forest.first_edge[item] and self.forest.edges[end - 1].rule >= self.n_rules:
            end -= 1
        return end

    cdef void inside_pass(self) noexcept nogil:
        cdef int item, e, exponent
        cdef Edge edge
        cdef const Tensor* tensor
        for item in range(<int>self.forest.items.size()):
            if self.forest.items[item].row >= 0:
                self.inside_leaf(item)
                continue
            exponent = self.largest_exponent(item)
            if exponent == NOTHING:
                continue
            for e in range(self.forest.first_edge[item], self.end_edge(item)):
                edge = self.forest.edges[e]
                tensor = &self.grammar.tensors[edge.rule]
                (outer if self.is_first_of_rule(item, e) else add_outer)(
                    self.pairs.data(),
                    to_core(tensor[0], 1, self.inside_of(edge.left), self.left_buffer.data()),
                    to_core(tensor[0], 2, self.inside_of(edge.right), self.right_buffer.data()),
                    self.power(self.exponents[edge.left] + self.exponents[edge.right] - exponent)
                    * <float>self.factor(item),
                    tensor.sizes[1], tensor.sizes[2],
                )
                if self.is_last_of_rule(item, e):
                    self.pass_up(self.inside_of(item), tensor[0])
            self.normalize(item, exponent)

    cdef void pass_up(self, float* inside, const Tensor& tensor) noexcept nogil:
        """Add to a parent's inside vector what a tensor makes of the children's outer products in `pairs`."""
        cdef float* sums = of_core(tensor, 0, inside, self.buffer.data())
        apply_core(sums, tensor, self.pairs.data(), self.scratch.data())
        from_core(tensor, 0, inside, sums)

    cdef bint is_first_of_rule(self, int item, int e) noexcept nogil:
        return e == self.forest.first_edge[item] or self.forest.edges[e].rule != self.forest.edges[e - 1].rule

    cdef bint is_last_of_rule(self, int item, int e) noexcept nogil:
        return e + 1 == self.forest.first_edge[item + 1] or self.forest.edges[e].rule != self.forest.edges[e + 1].rule

    cdef float* inside_of(self, int item) noexcept nogil:
        return &self.inside[self.offsets[item]]

    cdef float* outside_of(self, int item) noexcept nogil:
        return &self.outside[self.offsets[item]]

    cdef float power(self, int exponent) noexcept nogil:
        return power_of_two(min(exponent, 127))

    cdef void sum_roots(self) noexcept nogil:
        """The total over the roots, and their outside vectors."""
        cdef int item, h, symbol
        cdef double product
        self.total = 0
        self.total_exponent = NOTHING
        for item in self.forest.roots:
            self.total_exponent = max(self.total_exponent, self.exponents[item])
        for item in self.forest.roots:
            if self.exponents[item] == NOTHING:
                continue
            symbol = self.forest.items[item].symbol
            product = 0
            for h in range(self.grammar.n_states[symbol]):
                self.outside[self.offsets[item] + h] = self.grammar.root_vectors[self.grammar.state_offsets[symbol] + h]
                product += <double>self.outside[self.offsets[item] + h] * self.inside[self.offsets[item] + h]
            self.total += product * ldexp(1.0, self.exponents[item] - self.total_exponent)
        for item in self.forest.roots:
            for h in range(self.grammar.n_states[self.forest.items[item].symbol]):
                self.outside[self.offsets[item] + h] *= self.power(self.exponents[item] - self.total_exponent)

    cdef void outside_pass(self) noexcept nogil:
        """Outside vectors of all items, with exponents opposite to the inside ones; marginals on the way."""
        cdef int item, e
        cdef int64_t h
        cdef double product
        cdef Edge edge
        for item in range(<int>self.forest.items.size() - 1, -1, -1):
            if self.exponents[item] == NOTHING:
                continue
            product = 0
            for h in range(self.offsets[item], self.offsets[item + 1]):
                product += <double>self.inside[h] * self.outside[h]
            self.item_marginals[item] = product / self.total
            for e in range(self.forest.first_edge[item], self.forest.first_edge[item + 1]):
                edge = self.forest.edges[e]
                if self.is_first_of_rule(item, e):
                    mix(self.pairs.data(), self.outside_of(item), self.grammar.tensors[edge.rule], self.buffer.data())
                self.edge_marginals[e] = self.outside_edge(
                    edge, self.grammar.tensors[edge.rule],
                    self.power(self.exponents[edge.left] + self.exponents[edge.right] - self.exponents[item])
                    * <float>self.factor(item),
                ) / self.total

    cdef float outside_edge(self, const Edge& edge, const Tensor& tensor, float scale) noexcept nogil:
        """Add to the outside vectors of an edge's children, from the matrix in `pairs`; return the edge's weight."""
        cdef float* to_left = of_core(tensor, 1, self.outside_of(edge.left), self.buffer.data())
        cdef float* to_right = of_core(tensor, 2, self.outside_of(edge.right), self.buffer_2.data())
        cdef float weight = pass_down(
            to_left, to_right, self.pairs.data(),
            to_core(tensor, 1, self.inside_of(edge.left), self.left_buffer.data()),
            to_core(tensor, 2, self.inside_of(edge.right), self.right_buffer.data()),
            scale, tensor.sizes[1], tensor.sizes[2],
        )
        from_core(tensor, 1, self.outside_of(edge.left), to_left)
        from_core(tensor, 2, self.outside_of(edge.right), to_right)
        return weight


def words_log_probability(FineGrammar grammar, Forest forest, int n_rules):
    """Return ln P(words) under the grammar alone: over the trees of a forest, without its factors; -inf for none.

    n_rules (int): only the first rules of the grammar count.
    """
    cdef Marginals marginals = Marginals.__new__(Marginals)
    marginals.grammar, marginals.forest = grammar, forest
    marginals.has_factors, marginals.n_rules = False, n_rules
    with nogil:
        marginals.allocate()
        marginals.inside_pass()
        marginals.sum_roots()
    return marginals.log_probability
