"""The chart of a sentence from left to right, word by word, with latent inside vectors of the constituents that end.

Every word's emissions are divided by the probability of the word after those before it, so that each prefix weighs 1,
and the product of what a constituent weighs with what predicts it is its posterior given the words up to its end.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.chart._fine cimport FineGrammar, Tensor, apply_core, in_blocks
from spacy_lpcfg.simd cimport LANES, Sparse, add_outer, add_sparse_last, mix_rows, outer
from spacy_lpcfg.vectors cimport fill


cdef struct Rule:
    int32_t lhs
    int32_t right
    int32_t id
    float weight                  # t(a -> b c | a) of the treebank PCFG


cdef struct Complete:             # a constituent (symbol, start, end)
    int32_t symbol
    double coarse                 # mean of its inside vector over the states that are predicted
    int64_t offset                # of its inside vector


cdef struct Application:
    int32_t target                # a symbol
    int32_t rule
    int32_t left                  # constituents
    int32_t right
    double weight                 # of the whole, by its parts' means


cdef bint by_target(const Application& x, const Application& y) noexcept nogil:
    return x.target < y.target or (x.target == y.target and x.rule < y.rule)


@cython.final
cdef class RuleIndex:
    """Binary rules by their left child, then by their left-hand side."""

    cdef int n_symbols
    cdef const int32_t[::1] offsets   # (n_symbols + 1,)
    cdef vector[Rule] rules

    def __init__(self, grammar):
        cdef const int32_t[:, ::1] rules = grammar.rules
        cdef const double[::1] weights = grammar.rule_weights
        cdef Rule rule
        cdef int r
        self.n_symbols = grammar.n_symbols
        a, b, c = grammar.rules.T
        for r in np.lexsort((c, a, b)):
            rule.lhs, rule.right, rule.id, rule.weight = rules[r, 0], rules[r, 2], r, <float>weights[r]
            self.rules.push_back(rule)
        self.offsets = np.searchsorted(np.sort(b), np.arange(grammar.n_symbols + 1)).astype(np.int32)


@cython.final
cdef class PrefixChart:
    """The chart of the words so far of one sentence.

    Before each word that is pushed, `predict` is called with the weights of the symbols that may begin with it.
    """

    cdef FineGrammar grammar
    cdef RuleIndex index
    cdef const int32_t[::1] row_offsets
    cdef const int32_t[::1] row_symbols
    cdef const double[::1] row_weights
    cdef const int32_t[::1] tag_of
    cdef double threshold
    cdef int n                               # words so far
    cdef int size                            # of a vector over all states
    cdef vector[int64_t] places              # (n_symbols,): of the states of each, in whole blocks
    cdef vector[float] predicted             # (n + 1, size): by start
    cdef vector[double] predicted_symbols    # (n + 1, n_symbols): sums over states
    cdef vector[vector[Complete]] cells      # by end * (end - 1) / 2 + start
    cdef vector[float] inside
    cdef vector[Application] applications
    cdef vector[double] sums                 # (n_symbols,): of the cell at hand
    cdef vector[int32_t] right_place         # (n_symbols,): of the right cell at hand, or -1
    cdef vector[float] pairs
    cdef vector[float] scratch
    cdef vector[float] mixed
    cdef vector[float] next                  # (size,)

    def __init__(self, FineGrammar grammar, RuleIndex index, full, double threshold):
        """full (Grammar): of which the others are tables; threshold (float): see `Prefixes`."""
        cdef int a
        cdef int64_t place = 0
        self.grammar, self.index, self.threshold = grammar, index, threshold
        self.row_offsets, self.row_symbols = full.lexicon.offsets, full.lexicon.symbols
        self.row_weights, self.tag_of = full.lexicon.weights, full.tag_of
        for a in range(index.n_symbols):
            self.places.push_back(place)
            place += in_blocks(grammar.n_states[a])
        self.size = <int>place
        fill(self.sums, index.n_symbols, 0)
        fill(self.right_place, index.n_symbols, -1)
        fill(self.pairs, grammar.max_states * grammar.max_states, 0)
        fill(self.scratch, LANES * grammar.max_states, 0)
        fill(self.mixed, grammar.max_states, 0)
        self.n = 0

    def predict(self, const double[::1] weights):
        """Set the weight of each state of each symbol, (n_states in all,), to begin with the next word."""
        cdef int a, h
        cdef int64_t k = 0, first = self.predicted.size()
        cdef double sum
        self.predicted.resize(first + self.size, 0)
        for a in range(self.index.n_symbols):
            sum = 0
            for h in range(self.grammar.n_states[a]):
                self.predicted[first + self.places[a] + h] = <float>weights[k]
                sum += weights[k]
                k += 1
            self.predicted_symbols.push_back(sum)

    def push(self, int terminal, const double[::1] tag_factors):
        """Add a word, and the constituents that end with it.

        terminal (int), tag_factors (float64, (n_tags,)): from the lexicon.
        RETURNS (float): probability of the word after those before it.
        """
        cdef double total
        with nogil:
            total = self.push_word(terminal, tag_factors)
            if total > 0:
                self.complete()
        return total

    cdef double push_word(self, int terminal, const double[::1] tag_factors) except -1 nogil:
        cdef int row, symbol, h, m
        cdef int start = self.n
        cdef double factor, total = 0
        cdef int64_t k, first = self.inside.size()
        cdef Complete leaf
        cdef const float* weights
        cdef float* predicted
        cdef vector[Complete] cell
        for row in range(self.row_offsets[terminal], self.row_offsets[terminal + 1]):
            symbol = self.row_symbols[row]
            m = self.grammar.n_states[symbol]
            factor = tag_factors[self.tag_of[symbol]]
            weights = &self.grammar.row_vectors[self.grammar.row_offsets[row]]
            predicted = self.predicted_of(start, symbol)
            leaf.symbol, leaf.offset, leaf.coarse = symbol, self.inside.size(), 0
            self.inside.resize(leaf.offset + in_blocks(m), 0)
            for h in range(m):
                self.inside[leaf.offset + h] = <float>(factor * weights[h])
                leaf.coarse += factor * weights[h] * predicted[h]
            total += leaf.coarse
            if leaf.coarse > 0:
                leaf.coarse /= self.predicted_symbols[start * self.index.n_symbols + symbol]
                cell.push_back(leaf)
        if total > 0:
            for k in range(first, <int64_t>self.inside.size()):
                self.inside[k] = <float>(self.inside[k] / total)
            for k in range(<int64_t>cell.size()):
                cell[k].coarse /= total
        self.n += 1
        for h in range(start):
            self.cells.push_back(vector[Complete]())
        self.cells.push_back(cell)
        return total

    cdef float* predicted_of(self, int start, int symbol) noexcept nogil:
        return &self.predicted[<int64_t>start * self.size + self.places[symbol]]

    cdef vector[Complete]* cell(self, int start, int end) noexcept nogil:
        return &self.cells[end * (end - 1) // 2 + start]

    cdef int complete(self) except -1 nogil:
        """Constituents of several words that end with the last word, the shortest first."""
        cdef int start, split
        for start in range(self.n - 2, -1, -1):
            self.applications.clear()
            for split in range(start + 1, self.n):
                self.combine(start, split)
            self.close(start)

    cdef int combine(self, int start, int split) except -1 nogil:
        """All applications of rules to constituents [start, split) and [split, n)."""
        cdef vector[Complete]* lefts = self.cell(start, split)
        cdef vector[Complete]* rights = self.cell(split, self.n)
        cdef Application application
        cdef const Rule* rule
        cdef size_t l, k
        cdef int r, left
        cdef double value
        for k in range(rights.size()):
            self.right_place[rights[0][k].symbol] = <int32_t>k
        for l in range(lefts.size()):
            left = lefts[0][l].symbol
            for r in range(self.index.offsets[left], self.index.offsets[left + 1]):
                rule = &self.index.rules[r]
                if self.right_place[rule.right] < 0 or (
                        self.predicted_symbols[start * self.index.n_symbols + rule.lhs] <= 0):
                    continue
                value = rule.weight * lefts[0][l].coarse * rights[0][self.right_place[rule.right]].coarse
                self.sums[rule.lhs] += value
                application.target, application.rule, application.weight = rule.lhs, rule.id, value
                application.left = <int32_t>lefts[0][l].offset
                application.right = <int32_t>rights[0][self.right_place[rule.right]].offset
                self.applications.push_back(application)
        for k in range(rights.size()):
            self.right_place[rights[0][k].symbol] = -1

    cdef int close(self, int start) except -1 nogil:
        """The constituents [start, n) that are likely enough, with their vectors."""
        cdef size_t k, kept = 0, first
        cdef int symbol
        cdef const double* predicted = &self.predicted_symbols[start * self.index.n_symbols]
        for k in range(self.applications.size()):
            symbol = self.applications[k].target
            if self.sums[symbol] * predicted[symbol] >= self.threshold and (
                    self.applications[k].weight * predicted[symbol] >= EDGE_SHARE * self.threshold):
                self.applications[kept] = self.applications[k]
                kept += 1
        for k in range(self.applications.size()):
            self.sums[self.applications[k].target] = 0
        self.applications.resize(kept)
        sort(self.applications.begin(), self.applications.end(), &by_target)
        first = 0
        for k in range(1, kept + 1):
            if k == kept or self.applications[k].target != self.applications[first].target:
                self.add_constituent(start, first, k)
                first = k

    cdef int add_constituent(self, int start, size_t first, size_t end) except -1 nogil:
        """The constituent that some applications make, with one target."""
        cdef Complete constituent
        cdef const Tensor* tensor
        cdef const Application* application
        cdef size_t k
        cdef int h
        cdef float* predicted
        constituent.symbol, constituent.coarse = self.applications[first].target, 0
        constituent.offset = self.inside.size()
        self.inside.resize(constituent.offset + in_blocks(self.grammar.n_states[constituent.symbol]), 0)
        for k in range(first, end):
            application = &self.applications[k]
            tensor = &self.grammar.tensors[application.rule]
            (outer if k == first or self.applications[k - 1].rule != application.rule else add_outer)(
                self.pairs.data(), &self.inside[application.left], &self.inside[application.right], 1,
                tensor.sizes[1], tensor.sizes[2],
            )
            if k + 1 == end or self.applications[k + 1].rule != application.rule:
                apply_core(&self.inside[constituent.offset], tensor[0], self.pairs.data(), self.scratch.data())
        predicted = self.predicted_of(start, constituent.symbol)
        for h in range(self.grammar.n_states[constituent.symbol]):
            constituent.coarse += <double>self.inside[constituent.offset + h] * predicted[h]
        constituent.coarse /= self.predicted_symbols[start * self.index.n_symbols + constituent.symbol]
        if constituent.coarse > 0:
            self.cell(start, self.n).push_back(constituent)

    def right_siblings(self):
        """Return the weight of each state of each symbol as the right sibling of a constituent that ends here.

        RETURNS (float64, (n_states in all,)): without the left corners below it, which `Prefixes` adds.
        """
        cdef int a, h
        cdef int64_t k = 0
        values_ = np.empty(self.grammar.state_offsets[self.index.n_symbols])
        cdef double[::1] values = values_
        with nogil:
            fill(self.next, self.size, 0)
            for a in range(self.index.n_symbols):
                self.siblings_of(a)
        for a in range(self.index.n_symbols):
            for h in range(self.grammar.n_states[a]):
                values[k] = self.next[self.places[a] + h]
                k += 1
        return values_

    cdef void siblings_of(self, int left) noexcept nogil:
        """Add the right siblings of all constituents of a symbol that end with the last word."""
        cdef int r, lhs = -1
        cdef const Rule* rule
        cdef double total = 0
        for r in range(self.index.offsets[left], self.index.offsets[left + 1]):
            rule = &self.index.rules[r]
            if rule.lhs != lhs:
                lhs = rule.lhs
                total = self.pair_up(lhs, left)
            if total > 0 and total * rule.weight >= EDGE_SHARE * self.threshold:
                self.add_last(self.grammar.tensors[rule.id], &self.next[self.places[rule.right]])

    cdef double pair_up(self, int lhs, int left) noexcept nogil:
        """Make `pairs` the joint weights of a predicted parent's states and those of its first child; their sum."""
        cdef int start, n_left = self.grammar.n_states[left], n_lhs = self.grammar.n_states[lhs]
        cdef double total = 0, predicted
        cdef Complete constituent
        for start in range(self.n):
            predicted = self.predicted_symbols[start * self.index.n_symbols + lhs]
            for constituent in self.cell(start, self.n)[0]:
                if constituent.symbol == left and predicted > 0:
                    (outer if total == 0 else add_outer)(
                        self.pairs.data(), self.predicted_of(start, lhs), &self.inside[constituent.offset], 1,
                        n_lhs, n_left,
                    )
                    total += predicted * constituent.coarse
        return total

    cdef void add_last(self, const Tensor& tensor, float* sums) noexcept nogil:
        """Add to a right child's states what `pairs` of parent and left child make of a tensor."""
        cdef int k
        if tensor.is_sparse:
            add_sparse_last(sums, &tensor.sparse, self.pairs.data())
            return
        mix_rows(self.mixed.data(), tensor.core, self.pairs.data(), tensor.sizes[0] * tensor.sizes[1], tensor.sizes[2])
        for k in range(tensor.sizes[2]):
            sums[k] += self.mixed[k]

    def whole(self):
        """Return the probability that the sentence ends here, given the words so far."""
        cdef Complete root
        cdef int h
        cdef double total = 0
        for root in self.cell(0, self.n)[0]:
            for h in range(self.grammar.n_states[root.symbol]):
                total += <double>self.inside[root.offset + h] * self.grammar.root_vectors[
                    self.grammar.state_offsets[root.symbol] + h]
        return total


cdef double EDGE_SHARE = 0.1      # of the threshold of a constituent, that of a rule that makes it


def child_matrices(FineGrammar grammar, full, const int32_t[::1] rules, const double[::1] weights):
    """Return weights of left and of right children's states below each state of interminals, the other child summed.

    full (Grammar): of which `grammar` is a table, without factored tensors; rules (int32, (n,)): those that count.
    weights (float64, (n_states in all,)): of the states of the other child.
    RETURNS (float64, (n_states of interminals, n_states in all), twice): [parent, left child], [parent, right child].
    """
    cdef const int32_t[:, ::1] symbols = full.rules
    cdef const int64_t[::1] places = full.state_offsets
    cdef int64_t first = places[full.n_preterminals], n = weights.shape[0]
    cdef int64_t a, b, c
    cdef Py_ssize_t k
    cdef vector[float] matrix
    left, right = np.zeros((2, n - first, n))
    cdef double[:, ::1] to_left = left, to_right = right
    if n > first:
        with nogil:
            fill(matrix, grammar.max_states * grammar.max_states, 0)
            for k in range(rules.shape[0]):
                a, b, c = places[symbols[rules[k], 0]], places[symbols[rules[k], 1]], places[symbols[rules[k], 2]]
                add_children(
                    &to_left[a - first, b], &to_right[a - first, c], n, grammar.tensors[rules[k]], &weights[b],
                    &weights[c], matrix.data(),
                )
    return left, right


cdef void add_children(double* to_left, double* to_right, int64_t stride, const Tensor& tensor, const double* left,
                       const double* right, float* matrix) noexcept nogil:
    """Add one rule's sums to rows that are `stride` apart, a state of the parent each."""
    cdef int h, j, k, block = 0
    cdef double sum
    cdef const float* row
    for h in range(tensor.states[0]):
        block = read_matrix(tensor, h, block, matrix)
        for j in range(tensor.states[1]):
            row = matrix + j * tensor.sizes[2]
            for k in range(tensor.states[2]):
                to_right[h * stride + k] += left[j] * row[k]
            sum = 0
            for k in range(tensor.states[2]):
                sum += row[k] * right[k]
            to_left[h * stride + j] += sum


cdef int read_matrix(const Tensor& tensor, int h, int block, float* matrix) noexcept nogil:
    """Make `matrix` that of a tensor's children in state h of the parent.

    RETURNS (int): the first block of the next state, of a sparse tensor; `block` is that of h.
    """
    cdef const Sparse* sparse = &tensor.sparse
    cdef int j, k, size = tensor.sizes[1] * tensor.sizes[2]
    if not tensor.is_sparse:
        memcpy(matrix, tensor.core + h * size, size * sizeof(float))
        return block
    for j in range(sparse.n_left):
        for k in range(sparse.n_right):
            matrix[j * sparse.n_right + k] = sparse.rest[0][h] * (sparse.rest[1][j] * sparse.rest[2][k])
    while block < sparse.n_blocks and sparse.places[2 * block] == h:
        for k in range(LANES):
            matrix[LANES * sparse.places[2 * block + 1] + k] += sparse.blocks[LANES * block + k]
        block += 1
    return block
