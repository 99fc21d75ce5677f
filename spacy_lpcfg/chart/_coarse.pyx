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
from spacy_lpcfg.vectors cimport fill

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

cdef size_t MAX_IDLE = 1 << 18     # applications that an idle chart may hold room for, at 24 bytes each
cdef double TINY = 1e-200        # mantissas below this are dropped even without a beam
cdef double LOG_2 = log(2.0)


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


cdef bint by_rule(const Application& x, const Application& y) noexcept nogil:
    return x.rule < y.rule


cdef class RuleTable:
    """Binary rules by their pair of children, and bit sets of possible pairs."""

    cdef int n_symbols
    cdef int n_blocks
    cdef vector[uint64_t] partners       # (n_symbols, n_blocks): right children c of some rule a -> b c
    cdef vector[int32_t] pair_offsets    # (n_symbols * n_symbols + 1,)
    cdef vector[Rule] rules              # by (b, c)

    def __init__(self, grammar, ids):
        """ids (int, (n_rules,)): the rules that the table is to have."""
        cdef const int32_t[:, ::1] rules = grammar.rules
        cdef const double[::1] weights = grammar.rule_weights
        cdef Rule rule
        cdef int64_t b, c
        cdef int r
        self.n_symbols = grammar.n_symbols
        self.n_blocks = (self.n_symbols + 63) // 64
        fill(self.partners, self.n_symbols * self.n_blocks, 0)
        fill(self.pair_offsets, <int64_t>self.n_symbols * self.n_symbols + 1, 0)
        a_b_c = grammar.rules[ids].T
        for r in ids[np.lexsort((a_b_c[0], a_b_c[2], a_b_c[1]))]:
            b, c = rules[r, 1], rules[r, 2]
            rule.lhs, rule.id, rule.weight = rules[r, 0], r, weights[r]
            self.rules.push_back(rule)
            self.partners[b * self.n_blocks + c // 64] |= <uint64_t>1 << (c % 64)
            self.pair_offsets[b * self.n_symbols + c + 1] += 1
        for b in range(<int64_t>self.n_symbols * self.n_symbols):
            self.pair_offsets[b + 1] += self.pair_offsets[b]


cdef class CoarseGrammar:
    """Tables of a treebank PCFG for the chart."""

    cdef int n_symbols
    cdef int n_blocks
    cdef RuleTable all_rules
    cdef RuleTable open_rules            # those of symbols from binarisation, which yield no constituent
    cdef const double[::1] roots
    cdef const double[::1] priors
    cdef const int32_t[::1] row_symbols
    cdef const double[::1] row_weights
    cdef const int32_t[::1] tag_of
    cdef list idle                       # charts that no thread uses

    def __init__(self, grammar):
        is_open = np.array([grammar.is_intermediate(symbol) for symbol in range(grammar.n_symbols)])
        self.all_rules = RuleTable(grammar, np.arange(grammar.n_rules))
        self.open_rules = RuleTable(grammar, np.flatnonzero(is_open[grammar.rules[:, 0]]))
        self.n_symbols, self.n_blocks = self.all_rules.n_symbols, self.all_rules.n_blocks
        self.roots = grammar.root_weights
        self.priors = grammar.symbol_weights
        self.row_symbols = grammar.lexicon.symbols
        self.row_weights = grammar.lexicon.weights
        self.tag_of = grammar.tag_of
        self.idle = []

    cdef _Chart borrow(self, int n):
        """A chart for a sentence of n words: fresh memory costs more than filling it."""
        cdef _Chart chart = self.idle.pop() if self.idle else _Chart(self)
        chart.clear(n)
        return chart

    cdef void give_back(self, _Chart chart):
        if chart.applications.capacity() <= MAX_IDLE:
            self.idle.append(chart)


cdef class _Chart:
    """Scratch of one sentence at a time."""

    cdef CoarseGrammar grammar
    cdef int n
    cdef int n_cells
    cdef vector[Item] items
    cdef vector[double] inside
    cdef vector[double] outside
    cdef vector[double] scales           # (n_items,): of the emissions of leaves; 1 for other items
    cdef vector[double] factors          # (n_items,): from evidence
    cdef vector[int32_t] first_item      # (n_cells,)
    cdef vector[int32_t] end_item
    cdef vector[int32_t] exponents       # (n_cells,)
    cdef vector[uint64_t] present        # (n_cells, n_blocks)
    cdef vector[Application] applications
    cdef vector[double] sums             # (n_symbols,): of the cell at hand
    cdef vector[double] right_inside     # (n_symbols,): of the right cell at hand
    cdef vector[int32_t] right_item
    cdef vector[int32_t] item_of         # (n_symbols,): of the cell at hand
    cdef vector[uint64_t] summed         # (n_blocks,): symbols of the cell at hand that have sums, and their list
    cdef vector[int32_t] listed
    cdef vector[int32_t] new_item        # (n_items,): of the forest, or -1
    cdef vector[Application] kept
    cdef vector[Application] sorted
    cdef vector[int32_t] next_edge       # (n_items of the forest + 1,)
    cdef vector[double] merits           # (n_symbols,): of the cell at hand
    cdef vector[double] cell_factors     # (n_symbols,): of the cell at hand
    cdef const int32_t[:, ::1] cells     # as in `CellMask`
    cdef const char[:, ::1] allowed
    cdef const int32_t[::1] first_row, rows                    # as in `SentenceContext`, and so the next four
    cdef const double[::1] row_scales
    cdef const double[:, ::1] left_fit, right_fit
    cdef const char[::1] may_begin, may_end
    cdef const double[:, ::1] span_factors, tag_factors         # as in `Factors`, and so the next
    cdef const int32_t[::1] columns
    cdef bint has_factors
    cdef double beam

    def __cinit__(self, CoarseGrammar grammar):
        self.grammar = grammar
        fill(self.sums, grammar.n_symbols, 0)
        fill(self.right_inside, grammar.n_symbols, 0)
        fill(self.right_item, grammar.n_symbols, 0)
        fill(self.item_of, grammar.n_symbols, -1)
        fill(self.merits, grammar.n_symbols, 0)
        fill(self.cell_factors, grammar.n_symbols, 1)
        fill(self.summed, grammar.n_blocks, 0)

    cdef int clear(self, int n) except -1 nogil:
        """Make room for a sentence of n words, in the memory of the one before where it is enough."""
        self.n = n
        self.n_cells = (n + 1) * (n + 1)
        self.items.clear()
        self.inside.clear()
        self.scales.clear()
        self.factors.clear()
        self.applications.clear()
        fill(self.first_item, self.n_cells, 0)
        fill(self.end_item, self.n_cells, 0)
        fill(self.exponents, self.n_cells, 0)
        fill(self.present, <int64_t>self.n_cells * self.grammar.n_blocks, 0)

    cdef int cell(self, int start, int end) noexcept nogil:
        return start * (self.n + 1) + end

    cdef double span_factor(self, int start, int end, int symbol) noexcept nogil:
        """The factor that evidence gives a symbol over a span."""
        if not self.has_factors:
            return 1.0
        return self.span_factors[start * self.n - start * (start - 1) // 2 + end - start - 1, self.columns[symbol]]

    cdef int add_item(self, int start, int end, int symbol, int row, double inside, double scale,
                      double factor) except -1 nogil:
        cdef Item item
        item.start, item.end, item.symbol, item.row = start, end, symbol, row
        self.item_of[symbol] = <int32_t>self.items.size()
        self.items.push_back(item)
        self.inside.push_back(inside)
        self.scales.push_back(scale)
        self.factors.push_back(factor)
        self.present[<int64_t>self.cell(start, end) * self.grammar.n_blocks + symbol // 64] |= (
            <uint64_t>1 << (symbol % 64)
        )

    cdef int emit(self, int position) except -1 nogil:
        """Items of one word: those of the lexicon's rows that emit it."""
        cdef int k, row, symbol, cell = self.cell(position, position + 1), mask = self.cells[position, position + 1]
        cdef double scale, factor = 1.0
        self.first_item[cell] = <int32_t>self.items.size()
        for k in range(self.first_row[position], self.first_row[position + 1]):
            row, scale = self.rows[k], self.row_scales[k]
            symbol = self.grammar.row_symbols[row]
            if not self.allowed[mask, symbol]:
                continue
            if self.has_factors:
                factor = self.span_factor(position, position + 1, symbol) * (
                    self.tag_factors[position, self.grammar.tag_of[symbol]]
                )
            self.add_item(
                position, position + 1, symbol, row, factor * scale * self.grammar.row_weights[row], scale, factor
            )
        self.end_item[cell] = <int32_t>self.items.size()
        self.normalize(cell)

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

    cdef int combine(self, RuleTable table, int left_cell, int right_cell, double scale) except -1 nogil:
        """All applications of a table's rules to two neighbouring cells, added to the sums of the cell above."""
        cdef int n_blocks = self.grammar.n_blocks
        cdef int left, right, block, b, c, r
        cdef int64_t pair
        cdef uint64_t bits
        cdef double value
        cdef Application application
        cdef const Rule* rule
        for right in range(self.first_item[right_cell], self.end_item[right_cell]):
            c = self.items[right].symbol
            self.right_inside[c] = self.inside[right]
            self.right_item[c] = right
        for left in range(self.first_item[left_cell], self.end_item[left_cell]):
            b = self.items[left].symbol
            for block in range(n_blocks):
                bits = table.partners[b * n_blocks + block] & self.present[<int64_t>right_cell * n_blocks + block]
                while bits:
                    c = block * 64 + lowest_bit(bits)
                    bits &= bits - 1
                    value = self.inside[left] * self.right_inside[c] * scale
                    application.left, application.right = left, self.right_item[c]
                    pair = <int64_t>b * table.n_symbols + c
                    for r in range(table.pair_offsets[pair], table.pair_offsets[pair + 1]):
                        rule = &table.rules[r]
                        self.sums[rule.lhs] += rule.weight * value
                        self.summed[rule.lhs >> 6] |= <uint64_t>1 << (rule.lhs & 63)
                        application.target, application.rule = rule.lhs, rule.id
                        application.weight = rule.weight * scale
                        self.applications.push_back(application)

    cdef int list_summed(self) except -1 nogil:
        """List the symbols of the cell at hand that have sums, in order."""
        cdef int block
        cdef uint64_t bits
        self.listed.clear()
        for block in range(self.grammar.n_blocks):
            bits = self.summed[block]
            self.summed[block] = 0
            while bits:
                self.listed.push_back(block * 64 + lowest_bit(bits))
                bits &= bits - 1

    cdef int close(self, int start, int end, size_t first_application) except -1 nogil:
        """Turn the sums of a cell into its items, within `beam` of the best by inside times figure of merit."""
        cdef int cell = self.cell(start, end), before = self.exponents[cell]
        cdef const double* left_fit = &self.left_fit[start, 0]
        cdef const double* right_fit = &self.right_fit[end, 0]
        cdef int symbol
        cdef double best = 0
        cdef size_t k, kept = first_application
        self.first_item[cell] = <int32_t>self.items.size()
        self.list_summed()
        for symbol in self.listed:
            self.cell_factors[symbol] = self.span_factor(start, end, symbol)
            self.sums[symbol] *= self.cell_factors[symbol]
            self.merits[symbol] = self.sums[symbol] * self.grammar.priors[symbol] * left_fit[symbol] * right_fit[symbol]
            if not self.allowed[self.cells[start, end], symbol]:
                self.merits[symbol] = self.sums[symbol] = 0
            best = max(best, self.merits[symbol])
        for symbol in self.listed:
            self.item_of[symbol] = -1
            if self.merits[symbol] >= self.beam * best and self.sums[symbol] > TINY:
                self.add_item(start, end, symbol, -1, self.sums[symbol], 1.0, self.cell_factors[symbol])
            self.sums[symbol] = 0
        self.end_item[cell] = <int32_t>self.items.size()
        for k in range(first_application, self.applications.size()):
            symbol = self.applications[k].target
            if self.item_of[symbol] >= 0:
                self.applications[kept] = self.applications[k]
                self.applications[kept].target = self.item_of[symbol]
                kept += 1
        self.applications.resize(kept)
        self.normalize(cell)
        cdef double factor = ldexp(1.0, before - self.exponents[cell])
        for k in range(first_application, kept):
            self.applications[k].weight *= factor * self.factors[self.applications[k].target]

    cdef bint fill(self, size_t max_applications) except -1 nogil:
        """The inside pass, cells by growing width; False, and unfinished, if it has too many applications."""
        cdef int width, start, end
        for width in range(2, self.n + 1):
            for start in range(self.n - width + 1):
                end = start + width
                if self.may_begin[start] and self.cells[start, end] != 0:
                    self.fill_cell(start, end)
            if self.applications.size() > max_applications:
                return False
        return True

    cdef int fill_cell(self, int start, int end) except -1 nogil:
        """The items of a cell, and the applications of rules that they are made by."""
        cdef int split, left, right, exponent, largest = -(1 << 28)
        cdef size_t first_application = self.applications.size()
        for split in range(start + 1, end):
            left, right = self.cell(start, split), self.cell(split, end)
            if self.first_item[left] < self.end_item[left] and self.first_item[right] < self.end_item[right]:
                largest = max(largest, self.exponents[left] + self.exponents[right])
        self.exponents[self.cell(start, end)] = largest
        for split in range(start + 1, end):
            left, right = self.cell(start, split), self.cell(split, end)
            exponent = self.exponents[left] + self.exponents[right] - largest
            if exponent > -1000 and self.may_end[end]:
                self.combine(self.grammar.all_rules, left, right, ldexp(1.0, exponent))
            elif exponent > -1000:
                self.combine(self.grammar.open_rules, left, right, ldexp(1.0, exponent))
        self.close(start, end, first_application)

    cdef double total(self) except? -1 nogil:
        """Mantissa of the sentence's probability; seeds the outside values of the roots."""
        cdef int cell = self.cell(0, self.n)
        cdef int k
        cdef double total = 0
        fill(self.outside, self.items.size(), 0)
        for k in range(self.first_item[cell], self.end_item[cell]):
            self.outside[k] = self.grammar.roots[self.items[k].symbol]
            total += self.outside[k] * self.inside[k]
        return total

    cdef double log_root(self, int start, int end) noexcept nogil:
        """Natural log of the probability of a span as a tree of its own."""
        cdef int cell = self.cell(start, end)
        cdef int k
        cdef double total = 0
        for k in range(self.first_item[cell], self.end_item[cell]):
            total += self.grammar.roots[self.items[k].symbol] * self.inside[k]
        return log(total) + LOG_2 * self.exponents[cell]

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

    cdef int prune(self, Forest forest, double total, double threshold, double edge_threshold) except -1 nogil:
        """Keep the items and edges whose marginals reach the thresholds."""
        cdef size_t k
        self.keep_items(forest, total, threshold)
        self.keep_edges(forest, total, edge_threshold)
        self.sort_edges(forest)
        for k in range(forest.items.size()):
            if forest.items[k].end - forest.items[k].start == self.n and (
                    self.grammar.roots[forest.items[k].symbol] > 0):
                forest.roots.push_back(<int32_t>k)

    cdef int keep_items(self, Forest forest, double total, double threshold) except -1 nogil:
        cdef size_t k
        cdef double posterior
        fill(self.new_item, self.items.size(), -1)
        for k in range(self.items.size()):
            posterior = self.inside[k] * self.outside[k] / total
            if posterior > 0 and posterior >= threshold:
                self.new_item[k] = <int32_t>forest.items.size()
                forest.items.push_back(self.items[k])
                forest.item_posteriors_.push_back(posterior)
                forest.scales.push_back(self.scales[k])
                forest.factors.push_back(self.factors[k])

    cdef int keep_edges(self, Forest forest, double total, double threshold) except -1 nogil:
        """Applications of likely edges between the items that were kept, with their marginals as weights."""
        cdef double posterior
        cdef Application application
        self.kept.clear()
        for application in self.applications:
            if self.new_item[application.target] < 0 or (
                    self.new_item[application.left] < 0 or self.new_item[application.right] < 0):
                continue
            posterior = (
                self.outside[application.target] * application.weight / total
                * self.inside[application.left] * self.inside[application.right]
            )
            if posterior >= threshold:
                application.weight = posterior
                application.target = self.new_item[application.target]
                application.left = self.new_item[application.left]
                application.right = self.new_item[application.right]
                self.kept.push_back(application)

    cdef int sort_edges(self, Forest forest) except -1 nogil:
        """Lay out the kept edges by target, then rule: the former by counting, as they nearly are in that order."""
        cdef size_t k, n = forest.items.size()
        cdef int32_t place
        cdef Edge edge
        cdef Application application
        fill(forest.first_edge, n + 1, 0)
        for application in self.kept:
            forest.first_edge[application.target + 1] += 1
        for k in range(n):
            forest.first_edge[k + 1] += forest.first_edge[k]
        self.next_edge.assign(forest.first_edge.begin(), forest.first_edge.end())
        self.sorted.resize(self.kept.size())
        for application in self.kept:
            place = self.next_edge[application.target]
            self.next_edge[application.target] = place + 1
            self.sorted[place] = application
        for k in range(n):
            sort(self.sorted.begin() + forest.first_edge[k], self.sorted.begin() + forest.first_edge[k + 1], &by_rule)
        for application in self.sorted:
            edge.target, edge.left = application.target, application.left
            edge.right, edge.rule = application.right, application.rule
            forest.edges.push_back(edge)
            forest.edge_posteriors_.push_back(application.weight)


def build_forest(
    CoarseGrammar grammar,
    context,
    allowed,
    factors,
    *,
    double beam,
    double threshold,
    double edge_threshold,
    size_t max_applications,
):
    """Return the forest of items and edges whose marginals under the treebank PCFG reach the thresholds.

    context (SentenceContext): emissions of the words, and what the words around say of boundaries.
    allowed (CellMask): what may stand in the cells.
    factors (Factors or None): factors of the items from evidence; None for none.
    beam (float): items of a cell below this share of its best are dropped; 0 keeps all.
    threshold, edge_threshold (float): least marginal of an item, and of an edge; 0 instead, if no tree is left.
    max_applications (int): rule applications that the chart may record, at 24 bytes each.
    RETURNS (Forest): empty if there is no parse, or if the chart grew too large (`is_complete` tells).
    """
    cdef Forest forest = Forest()
    cdef _Chart chart = grammar.borrow(len(context.first_row) - 1)
    cdef double total = 0
    forest.n_words = chart.n
    forest.log_probability = -INFINITY
    forest.is_complete = _fill(chart, context, allowed, factors, beam, max_applications)
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
    grammar.give_back(chart)
    return forest


cdef bint _fill(_Chart chart, context, allowed, factors, double beam, size_t max_applications):
    """Emit the words and run the inside pass; False if the chart grew too large."""
    cdef int i
    chart.cells, chart.allowed, chart.beam = allowed.cells, allowed.rows, beam
    chart.first_row, chart.rows, chart.row_scales = context.first_row, context.rows, context.row_scales
    chart.left_fit, chart.right_fit = context.left_fit, context.right_fit
    chart.may_begin, chart.may_end = context.may_begin, context.may_end
    chart.has_factors = factors is not None
    if chart.has_factors:
        chart.span_factors, chart.tag_factors, chart.columns = factors.spans, factors.tags, factors.columns
    with nogil:
        for i in range(chart.n):
            chart.emit(i)
        return chart.fill(max_applications)


def root_logs(
    CoarseGrammar grammar,
    context,
    allowed,
    factors,
    *,
    double beam,
    size_t max_applications,
):
    """Return ln P of each span [i, j) as a tree of its own, float64 (n_words + 1, n_words + 1); -inf for none.

    Arguments as for `build_forest`.
    """
    cdef int n = len(context.first_row) - 1
    cdef int start, end
    cdef _Chart chart = grammar.borrow(n)
    logs_ = np.full((n + 1, n + 1), -np.inf)
    cdef double[:, ::1] logs = logs_
    _fill(chart, context, allowed, factors, beam, max_applications)
    with nogil:
        for start in range(n):
            for end in range(start + 1, n + 1):
                logs[start, end] = chart.log_root(start, end)
    grammar.give_back(chart)
    return logs_
