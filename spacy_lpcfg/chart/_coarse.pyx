# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Inside-outside of the treebank PCFG over the full chart, which leaves a forest of likely items and edges.

Inside values are kept per cell as mantissas of a common binary exponent, so that sentences of any length neither
underflow nor overflow. Every application of a rule that survives the beam is recorded once on the way up; the
outside pass is the same list read backwards.
"""

import numpy as np

from libc.math cimport INFINITY, frexp, ldexp, log
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.chart._forest cimport Edge, Forest, Item

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int lowest_bit(unsigned long long x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
    #else
    static inline int lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
    #endif
    """
    int lowest_bit(uint64_t) nogil

cdef double TINY = 1e-200        # mantissas below this are dropped even without a beam
cdef double LOG_2 = log(2.0)
cdef double A_PIECE = 1e6        # more than any log-probability of a piece


cdef struct Application:
    int32_t target       # a symbol until its cell is closed, then an item
    int32_t left
    int32_t right
    int32_t rule
    double weight        # t(a -> b c | a), times the power of two between the cells' exponents


cdef struct Rule:
    int32_t lhs
    int32_t id
    double weight


cdef bint by_target_and_rule(const Application& x, const Application& y) noexcept nogil:
    if x.target != y.target:
        return x.target < y.target
    return x.rule < y.rule


cdef class CoarseGrammar:
    """Tables of a treebank PCFG for the chart: rules by their pair of children, and bit sets of possible pairs."""

    cdef int n_symbols
    cdef int n_blocks
    cdef vector[uint64_t] partners       # (n_symbols, n_blocks): right children c of some rule a -> b c
    cdef vector[int32_t] pair_offsets    # (n_symbols * n_symbols + 1,)
    cdef vector[Rule] rules              # by (b, c)
    cdef vector[double] roots
    cdef vector[double] priors
    cdef vector[char] is_complete        # (n_symbols,): not from binarisation
    cdef const int32_t[::1] row_offsets
    cdef const int32_t[::1] row_symbols
    cdef const double[::1] row_weights
    cdef const int32_t[::1] tag_of
    cdef const int32_t[::1] tag_terminals

    def __init__(self, grammar):
        cdef const int32_t[:, ::1] rules = grammar.rules
        cdef const double[::1] weights = grammar.rule_weights
        cdef Rule rule
        cdef int64_t b, c
        cdef int r
        self.n_symbols = grammar.n_symbols
        self.n_blocks = (self.n_symbols + 63) // 64
        self.partners.assign(self.n_symbols * self.n_blocks, 0)
        self.pair_offsets.assign(<int64_t>self.n_symbols * self.n_symbols + 1, 0)
        for r in np.lexsort((grammar.rules[:, 0], grammar.rules[:, 2], grammar.rules[:, 1])):
            b, c = rules[r, 1], rules[r, 2]
            rule.lhs, rule.id, rule.weight = rules[r, 0], r, weights[r]
            self.rules.push_back(rule)
            self.partners[b * self.n_blocks + c // 64] |= <uint64_t>1 << (c % 64)
            self.pair_offsets[b * self.n_symbols + c + 1] += 1
        for b in range(<int64_t>self.n_symbols * self.n_symbols):
            self.pair_offsets[b + 1] += self.pair_offsets[b]
        self.roots = grammar.root_weights
        self.priors = grammar.symbol_weights
        self.is_complete = [not grammar.is_intermediate(symbol) for symbol in range(self.n_symbols)]
        self.row_offsets = grammar.lexicon.offsets
        self.row_symbols = grammar.lexicon.symbols
        self.row_weights = grammar.lexicon.weights
        self.tag_of = grammar.tag_of
        self.tag_terminals = grammar.lexicon.tag_terminals


cdef class _Chart:
    """Scratch of one sentence."""

    cdef CoarseGrammar grammar
    cdef int n
    cdef int n_cells
    cdef vector[Item] items
    cdef vector[double] inside
    cdef vector[double] outside
    cdef vector[double] row_scales
    cdef vector[int32_t] first_item      # (n_cells,)
    cdef vector[int32_t] end_item
    cdef vector[int32_t] exponents       # (n_cells,)
    cdef vector[uint64_t] present        # (n_cells, n_blocks)
    cdef vector[Application] applications
    cdef vector[double] sums             # (n_symbols,): of the cell at hand
    cdef vector[double] right_inside     # (n_symbols,): of the right cell at hand
    cdef vector[int32_t] right_item
    cdef vector[int32_t] item_of         # (n_symbols,): of the cell at hand

    def __cinit__(self, CoarseGrammar grammar, int n):
        self.grammar = grammar
        self.n = n
        self.n_cells = (n + 1) * (n + 1)
        self.first_item.assign(self.n_cells, 0)
        self.end_item.assign(self.n_cells, 0)
        self.exponents.assign(self.n_cells, 0)
        self.present.assign(<int64_t>self.n_cells * grammar.n_blocks, 0)
        self.sums.assign(grammar.n_symbols, 0)
        self.right_inside.assign(grammar.n_symbols, 0)
        self.right_item.assign(grammar.n_symbols, 0)
        self.item_of.assign(grammar.n_symbols, -1)

    cdef int cell(self, int start, int end) noexcept nogil:
        return start * (self.n + 1) + end

    cdef void add_item(self, int start, int end, int symbol, int row, double inside, double scale) noexcept nogil:
        cdef Item item
        item.start, item.end, item.symbol, item.row = start, end, symbol, row
        self.item_of[symbol] = <int32_t>self.items.size()
        self.items.push_back(item)
        self.inside.push_back(inside)
        self.row_scales.push_back(scale)
        self.present[<int64_t>self.cell(start, end) * self.grammar.n_blocks + symbol // 64] |= (
            <uint64_t>1 << (symbol % 64)
        )

    cdef void emit(self, int position, int terminal, int tag, const double* symbol_weights) noexcept nogil:
        """Items of one word: the rows of its terminal, weighted by symbol; and those of a given tag that it lacks."""
        cdef int cell = self.cell(position, position + 1)
        self.first_item[cell] = <int32_t>self.items.size()
        cdef bint found = self.emit_rows(position, terminal, tag, symbol_weights)
        if tag >= 0 and not found:
            self.emit_rows(position, self.grammar.tag_terminals[tag], tag, symbol_weights)
        self.end_item[cell] = <int32_t>self.items.size()
        self.normalize(cell)

    cdef bint emit_rows(self, int position, int terminal, int tag, const double* symbol_weights) noexcept nogil:
        """Items for the rows of a terminal; whether any of them has the tag."""
        cdef int row, symbol
        cdef bint found = False
        cdef double scale
        for row in range(self.grammar.row_offsets[terminal], self.grammar.row_offsets[terminal + 1]):
            symbol = self.grammar.row_symbols[row]
            found |= self.grammar.tag_of[symbol] == tag
            scale = symbol_weights[symbol]
            if scale > 0:
                self.add_item(position, position + 1, symbol, row, scale * self.grammar.row_weights[row], scale)
        return found

    cdef void normalize(self, int cell) noexcept nogil:
        """Bring the largest inside value of a closed cell into [0.5, 1)."""
        cdef double largest = 0
        cdef int exponent = 0
        cdef int k
        for k in range(self.first_item[cell], self.end_item[cell]):
            largest = max(largest, self.inside[k])
        frexp(largest, &exponent)
        for k in range(self.first_item[cell], self.end_item[cell]):
            self.inside[k] = ldexp(self.inside[k], -exponent)
        self.exponents[cell] += exponent

    cdef void combine(self, int left_cell, int right_cell, double scale) noexcept nogil:
        """All rule applications of one pair of neighbouring cells, added to the sums of the cell above."""
        cdef int n_blocks = self.grammar.n_blocks
        cdef int left, right, block, b, c, r
        cdef int64_t pair
        cdef uint64_t bits
        cdef double weight, value
        cdef Application application
        for right in range(self.first_item[right_cell], self.end_item[right_cell]):
            c = self.items[right].symbol
            self.right_inside[c] = self.inside[right]
            self.right_item[c] = right
        for left in range(self.first_item[left_cell], self.end_item[left_cell]):
            b = self.items[left].symbol
            for block in range(n_blocks):
                bits = (
                    self.grammar.partners[b * n_blocks + block]
                    & self.present[<int64_t>right_cell * n_blocks + block]
                )
                while bits:
                    c = block * 64 + lowest_bit(bits)
                    bits &= bits - 1
                    value = self.inside[left] * self.right_inside[c] * scale
                    pair = <int64_t>b * self.grammar.n_symbols + c
                    for r in range(self.grammar.pair_offsets[pair], self.grammar.pair_offsets[pair + 1]):
                        weight = self.grammar.rules[r].weight
                        self.sums[self.grammar.rules[r].lhs] += weight * value
                        application.target = self.grammar.rules[r].lhs
                        application.left = left
                        application.right = self.right_item[c]
                        application.rule = self.grammar.rules[r].id
                        application.weight = weight * scale
                        self.applications.push_back(application)

    cdef void close(self, int start, int end, double beam, const double* left_fit, const double* right_fit,
                    bint may_end, size_t first_application) noexcept nogil:
        """Turn the sums of a cell into its items, within `beam` of the best by inside times figure of merit."""
        cdef int cell = self.cell(start, end)
        cdef int symbol
        cdef double best = 0, merit
        cdef size_t k, kept = first_application
        self.first_item[cell] = <int32_t>self.items.size()
        for symbol in range(self.grammar.n_symbols):
            if not may_end and self.grammar.is_complete[symbol]:
                self.sums[symbol] = 0
            if self.sums[symbol] > 0:
                merit = self.sums[symbol] * self.grammar.priors[symbol] * left_fit[symbol] * right_fit[symbol]
                best = max(best, merit)
        for symbol in range(self.grammar.n_symbols):
            self.item_of[symbol] = -1
            if self.sums[symbol] > 0:
                merit = self.sums[symbol] * self.grammar.priors[symbol] * left_fit[symbol] * right_fit[symbol]
                if merit >= beam * best and self.sums[symbol] > TINY:
                    self.add_item(start, end, symbol, -1, self.sums[symbol], 1.0)
                self.sums[symbol] = 0
        self.end_item[cell] = <int32_t>self.items.size()
        for k in range(first_application, self.applications.size()):
            symbol = self.applications[k].target
            if self.item_of[symbol] >= 0:
                self.applications[kept] = self.applications[k]
                self.applications[kept].target = self.item_of[symbol]
                kept += 1
        self.applications.resize(kept)
        cdef int before = self.exponents[cell]
        self.normalize(cell)
        cdef double factor = ldexp(1.0, before - self.exponents[cell])
        for k in range(first_application, kept):
            self.applications[k].weight *= factor

    cdef bint fill(self, double beam, const double[:, ::1] left_fit, const double[:, ::1] right_fit,
                   const char[::1] may_begin, const char[::1] may_end, size_t most_applications) noexcept nogil:
        """The inside pass, cells by growing width; False, and unfinished, if it records too much."""
        cdef int width, start, end, split, left_cell, right_cell, cell, exponent, largest
        cdef size_t first_application
        for width in range(2, self.n + 1):
            for start in range(self.n - width + 1):
                if not may_begin[start]:
                    continue
                end = start + width
                cell = self.cell(start, end)
                largest = -(1 << 28)
                for split in range(start + 1, end):
                    left_cell, right_cell = self.cell(start, split), self.cell(split, end)
                    if self.first_item[left_cell] < self.end_item[left_cell] and (
                            self.first_item[right_cell] < self.end_item[right_cell]):
                        largest = max(largest, self.exponents[left_cell] + self.exponents[right_cell])
                self.exponents[cell] = largest
                first_application = self.applications.size()
                for split in range(start + 1, end):
                    left_cell, right_cell = self.cell(start, split), self.cell(split, end)
                    exponent = self.exponents[left_cell] + self.exponents[right_cell] - largest
                    if exponent > -1000:
                        self.combine(left_cell, right_cell, ldexp(1.0, exponent))
                self.close(
                    start, end, beam, &left_fit[start, 0], &right_fit[end, 0], may_end[end], first_application
                )
            if self.applications.size() > most_applications:
                return False
        return True

    cdef double total(self) noexcept nogil:
        """Mantissa of the sentence's probability; seeds the outside values of the roots."""
        cdef int cell = self.cell(0, self.n)
        cdef int k
        cdef double total = 0
        self.outside.assign(self.items.size(), 0)
        for k in range(self.first_item[cell], self.end_item[cell]):
            self.outside[k] = self.grammar.roots[self.items[k].symbol]
            total += self.outside[k] * self.inside[k]
        return total

    cdef double log_root(self, int start, int end) noexcept nogil:
        """Natural log of the probability of a span as a tree of its own; very low, yet finite, for one odd word."""
        cdef int cell = self.cell(start, end)
        cdef int k
        cdef double total = 0
        for k in range(self.first_item[cell], self.end_item[cell]):
            total += self.grammar.roots[self.items[k].symbol] * self.inside[k]
        if total > 0:
            return log(total) + LOG_2 * self.exponents[cell]
        return -A_PIECE if end - start == 1 else -INFINITY

    cdef void propagate_outside(self) noexcept nogil:
        cdef int64_t k
        cdef Application application
        cdef double outside
        for k in range(<int64_t>self.applications.size() - 1, -1, -1):
            application = self.applications[k]
            outside = self.outside[application.target] * application.weight
            if outside > 0:
                self.outside[application.left] += outside * self.inside[application.right]
                self.outside[application.right] += outside * self.inside[application.left]

    cdef void prune(self, Forest forest, double total, double threshold, double edge_threshold) noexcept nogil:
        """Keep the items and edges whose marginals reach the thresholds."""
        cdef vector[int32_t] new_item
        cdef vector[Application] kept
        cdef size_t k, e
        cdef double posterior
        cdef Application application
        cdef Edge edge
        new_item.assign(self.items.size(), -1)
        for k in range(self.items.size()):
            posterior = self.inside[k] * self.outside[k] / total
            if posterior > 0 and posterior >= threshold:
                new_item[k] = <int32_t>forest.items.size()
                forest.items.push_back(self.items[k])
                forest.item_posteriors_.push_back(posterior)
                forest.row_scales.push_back(self.row_scales[k])
        for k in range(self.applications.size()):
            application = self.applications[k]
            if new_item[application.target] < 0 or new_item[application.left] < 0 or new_item[application.right] < 0:
                continue
            posterior = (
                self.outside[application.target] * application.weight / total
                * self.inside[application.left] * self.inside[application.right]
            )
            if posterior >= edge_threshold:
                application.weight = posterior
                application.target = new_item[application.target]
                application.left = new_item[application.left]
                application.right = new_item[application.right]
                kept.push_back(application)
        sort(kept.begin(), kept.end(), &by_target_and_rule)
        forest.first_edge.assign(forest.items.size() + 1, 0)
        for e in range(kept.size()):
            edge.target, edge.left = kept[e].target, kept[e].left
            edge.right, edge.rule = kept[e].right, kept[e].rule
            forest.edges.push_back(edge)
            forest.edge_posteriors_.push_back(kept[e].weight)
            forest.first_edge[edge.target + 1] += 1
        for k in range(forest.items.size()):
            forest.first_edge[k + 1] += forest.first_edge[k]
            if forest.items[k].end - forest.items[k].start == self.n and (
                    self.grammar.roots[forest.items[k].symbol] > 0):
                forest.roots.push_back(<int32_t>k)


def build_forest(
    CoarseGrammar grammar,
    const int32_t[::1] terminals,
    const int32_t[::1] tags,
    context,
    *,
    double beam,
    double threshold,
    double edge_threshold,
    size_t most_applications,
):
    """The items and edges of a sentence whose marginals under the treebank PCFG reach the thresholds.

    terminals (int32, (n_words,)): terminal of each word.
    tags (int32, (n_words,)): given tag of each word, or -1.
    context (Context): what the words around say of tags and boundaries.
    beam (float): items of a cell below this share of its best are dropped; 0 keeps all.
    threshold, edge_threshold (float): least marginal of an item, and of an edge; 0 instead, if no tree is left.
    most_applications (int): rule applications that the chart may record, at 24 bytes each.
    RETURNS (Forest): empty if there is no parse, or if the chart grew too large (`is_complete` tells).
    """
    cdef Forest forest = Forest()
    cdef _Chart chart = _Chart(grammar, terminals.shape[0])
    cdef double total = 0
    forest.n_words = chart.n
    forest.log_probability = -INFINITY
    forest.is_complete = _fill(chart, terminals, tags, context, beam, most_applications)
    with nogil:
        if forest.is_complete:
            total = chart.total()
        if total > 0:
            forest.log_probability = log(total) + LOG_2 * chart.exponents[chart.cell(0, chart.n)]
            chart.propagate_outside()
            chart.prune(forest, total, threshold, edge_threshold)
            if not forest.has_tree():
                forest.clear()
                chart.prune(forest, total, 0, 0)
    return forest


cdef bint _fill(_Chart chart, const int32_t[::1] terminals, const int32_t[::1] tags, context, double beam,
                size_t most_applications):
    """Emit the words and run the inside pass; False if the chart grew too large."""
    cdef const double[:, ::1] symbol_weights = context.symbol_weights
    cdef const double[:, ::1] left_fit = context.left_fit
    cdef const double[:, ::1] right_fit = context.right_fit
    cdef const char[::1] may_begin = context.may_begin
    cdef const char[::1] may_end = context.may_end
    cdef int i
    with nogil:
        for i in range(chart.n):
            chart.emit(i, terminals[i], tags[i], &symbol_weights[i, 0])
        return chart.fill(beam, left_fit, right_fit, may_begin, may_end, most_applications)


def best_cover(
    CoarseGrammar grammar,
    const int32_t[::1] terminals,
    const int32_t[::1] tags,
    context,
    *,
    double beam,
    size_t most_applications,
):
    """Where to cut a sentence that has no parse: into as few pieces with a root of their own as possible.

    Among equally many pieces the likeliest are taken. Arguments as of `build_forest`.
    RETURNS (list[int]): the cuts; all words apart in the worst case.
    """
    cdef int n = terminals.shape[0]
    cdef int start, end
    cdef double score
    cdef _Chart chart = _Chart(grammar, n)
    cdef vector[double] best
    cdef vector[int32_t] origin
    best.assign(n + 1, -INFINITY)
    origin.assign(n + 1, 0)
    best[0] = 0
    _fill(chart, terminals, tags, context, beam, most_applications)
    with nogil:
        for end in range(1, n + 1):
            for start in range(1 if end == n else 0, end):
                score = best[start] + chart.log_root(start, end) - A_PIECE
                if score > best[end]:
                    best[end] = score
                    origin[end] = start
    cuts = []
    end = origin[n]
    while end > 0:
        cuts.append(end)
        end = origin[end]
    return cuts[::-1]
