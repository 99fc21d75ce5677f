# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The brackets of the tree that is worth most, by the gains of its brackets and the scores of its local trees."""

from cython.operator cimport dereference
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

cdef enum:
    PUNCTUATION = -1
    UNKNOWN = -2

cdef struct Child:         # of a row, and the row before it
    int32_t candidate      # of the children that are brackets; -1 for a word
    int32_t before         # in the arena; -1 for none

cdef struct State:         # of a row of children that begins some local trees
    int32_t node
    double value
    int32_t last           # in the arena; -1 for no children yet

cdef struct Candidate:     # a bracket, and the best tree that it is at the top of
    int32_t start
    int32_t end
    int32_t symbol
    double gain
    double alone           # the value with its children, without other labels over the same words
    int32_t last           # of its children, in the arena
    double best
    int32_t second         # the label below it over the same words, -1 for none; and the third
    int32_t third


cdef class RuleScores:
    """The local trees of a treebank as a trie from parent to children, each with a score.

    rules (int32, (n,)), offsets (int32, (n_rules + 1,)): ids of parent and children, as in `LocalTrees`.
    scores (float64, (n_rules,)): of each; unseen (float): of all others.
    """

    cdef unordered_map[int64_t, int32_t] edges
    cdef vector[double] ends
    cdef double unseen

    def __init__(self, const int32_t[::1] rules, const int32_t[::1] offsets, const double[::1] scores, double unseen):
        cdef Py_ssize_t i, j
        cdef int32_t node
        self.unseen = unseen
        self.ends.push_back(-INFINITY)
        for i in range(scores.shape[0]):
            node = 0
            for j in range(offsets[i], offsets[i + 1]):
                node = self.grow(node, rules[j])
            self.ends[node] = scores[i]

    cdef int32_t grow(self, int32_t node, int32_t symbol):
        cdef int64_t key = (<int64_t>node << 32) | symbol
        cdef int32_t child = self.child(node, symbol)
        if child < 0:
            child = <int32_t>self.ends.size()
            self.edges[key] = child
            self.ends.push_back(-INFINITY)
        return child

    cdef int32_t child(self, int32_t node, int32_t symbol) noexcept nogil:
        """The node below another by a symbol; -1 if there is none."""
        if symbol < 0:
            return -1
        cdef unordered_map[int64_t, int32_t].iterator edge = self.edges.find((<int64_t>node << 32) | symbol)
        return -1 if edge == self.edges.end() else dereference(edge).second

    cdef double unary(self, int32_t parent, int32_t symbol) noexcept nogil:
        cdef int32_t node = self.child(0, parent)
        if node >= 0:
            node = self.child(node, symbol)
        if node < 0 or self.ends[node] == -INFINITY:
            return self.unseen
        return self.ends[node]

    def best_brackets(self, const int32_t[:, ::1] brackets, const double[::1] gains, const int32_t[::1] words):
        """Return the brackets of the best tree, in pre-order, as indices.

        brackets (int32, (n, 3)): start, end and symbol of each that may be in the tree, narrower ones first, those over
            the same words side by side; the last ones over all words. gains (float64, (n,)): what each is worth.
        words (int32, (n_words,)): the symbol of the tag of each word, or PUNCTUATION, or UNKNOWN.
        """
        cdef _Chart chart = _Chart(self, words)
        cdef Py_ssize_t i = 0, j, n = brackets.shape[0]
        cdef Candidate one
        while i < n:
            j = i
            while j < n and brackets[j, 0] == brackets[i, 0] and brackets[j, 1] == brackets[i, 1]:
                one.start, one.end, one.symbol = brackets[j, 0], brackets[j, 1], brackets[j, 2]
                one.gain = gains[j]
                chart.candidates.push_back(one)
                j += 1
            chart.fill(<int32_t>i, <int32_t>j)
            i = j
        return chart.tree()


cdef class _Chart:
    """The best trees over the spans of a sentence."""

    cdef RuleScores rules
    cdef const int32_t[::1] words
    cdef vector[Candidate] candidates
    cdef vector[vector[int32_t]] beginning   # candidates of the spans so far, by their first word
    cdef vector[Child] arena
    cdef vector[vector[State]] states        # of the row in the making, by position
    cdef int32_t first, end                  # candidates of the span in the making

    def __cinit__(self, RuleScores rules, const int32_t[::1] words):
        self.rules, self.words = rules, words
        self.beginning.resize(words.shape[0] + 1)
        self.states.resize(words.shape[0] + 1)

    cdef void fill(self, int32_t first, int32_t end):
        """Find the best tree below each label of a span."""
        cdef int32_t i, node, start = self.candidates[first].start, last
        cdef double value
        cdef double unseen = self.row(-1, start, self.candidates[first].end, &last) + self.rules.unseen
        cdef int32_t of_unseen = last
        for i in range(first, end):
            node = self.rules.child(0, self.candidates[i].symbol)
            value = -INFINITY if node < 0 else self.row(node, start, self.candidates[first].end, &last)
            if value < unseen:
                value, last = unseen, of_unseen
            self.candidates[i].alone = self.candidates[i].gain + value
            self.candidates[i].last = last
        for i in range(first, end):
            self.stack(i, first, end)
        for i in range(first, end):
            self.beginning[start].push_back(i)

    cdef void stack(self, int32_t i, int32_t first, int32_t end):
        """Find the best labels, up to three, over the same words with a label at the top."""
        cdef Candidate* top = &self.candidates[i]
        cdef int32_t j, k
        cdef double value
        top.best, top.second, top.third = top.alone, -1, -1
        for j in range(first, end):
            if j == i:
                continue
            value = top.gain + self.rules.unary(top.symbol, self.candidates[j].symbol)
            if value + self.candidates[j].alone > top.best:
                top.best, top.second, top.third = value + self.candidates[j].alone, j, -1
            for k in range(first, end):
                if k != i and k != j:
                    self.three(top, j, k, value)

    cdef void three(self, Candidate* top, int32_t j, int32_t k, double value):
        value += self.candidates[j].gain + self.rules.unary(self.candidates[j].symbol, self.candidates[k].symbol)
        if value + self.candidates[k].alone > top.best:
            top.best, top.second, top.third = value + self.candidates[k].alone, j, k

    cdef double row(self, int32_t root, int32_t start, int32_t end, int32_t* last):
        """Find the best row of children of a span, of a local tree below a node of the trie, or of any one for -1.

        RETURNS (double): its value, with that of the local tree; punctuation alone makes none. -inf if there is no row.
        """
        cdef int32_t p
        cdef double best = -INFINITY, value
        cdef State state
        for p in range(start, end + 1):
            self.states[p].clear()
        state.node, state.value, state.last = root, 0, -1
        self.states[start].push_back(state)
        for p in range(start, end):
            if not self.states[p].empty():
                self.step(p, start, end, root < 0)
        last[0] = -1
        for state in self.states[end]:
            value = state.value + (0 if state.node == root else self.rules.ends[state.node])
            if value > best:
                best, last[0] = value, state.last
        return best

    cdef void step(self, int32_t p, int32_t start, int32_t end, bint is_free):
        """Add the children that begin at a position to the rows that end there."""
        cdef int32_t i
        cdef Candidate* child
        self.extend(p, p + 1, self.words[p], 0, -1, is_free)
        for i in self.beginning[p]:
            child = &self.candidates[i]
            if child.end <= end and not (p == start and child.end == end):
                self.extend(p, child.end, child.symbol, child.best, i, is_free)

    cdef void extend(self, int32_t p, int32_t end, int32_t symbol, double gain, int32_t candidate, bint is_free):
        """Add a child to the rows that end at `p`."""
        cdef State state
        cdef Child child
        cdef size_t i
        for i in range(self.states[p].size()):
            state = self.states[p][i]
            if symbol != PUNCTUATION:
                if not is_free:
                    state.node = self.rules.child(state.node, symbol)
                    if state.node < 0:
                        continue
                if candidate >= 0:
                    child.candidate, child.before = candidate, state.last
                    self.arena.push_back(child)
                    state.last = <int32_t>self.arena.size() - 1
                state.value += gain
            self.keep(end, state)

    cdef void keep(self, int32_t p, State state):
        """Keep the best row that ends at `p` in each node of the trie."""
        cdef size_t i
        for i in range(self.states[p].size()):
            if self.states[p][i].node == state.node:
                if state.value > self.states[p][i].value:
                    self.states[p][i] = state
                return
        self.states[p].push_back(state)

    def tree(self):
        """Return the candidates of the best tree over all words, in pre-order."""
        cdef int32_t i, chosen = <int32_t>self.candidates.size() - 1, last
        cdef int32_t n_words = <int32_t>self.words.shape[0]
        cdef list brackets = [], children
        for i in range(<int32_t>self.candidates.size()):
            if self.candidates[i].end - self.candidates[i].start == n_words:
                if self.candidates[i].best > self.candidates[chosen].best:
                    chosen = i
        cdef list agenda = [chosen]
        while agenda:
            chosen = agenda.pop()
            brackets.append(chosen)
            last = self.candidates[chosen].last
            for i in (self.candidates[chosen].second, self.candidates[chosen].third):
                if i >= 0:
                    brackets.append(i)
                    last = self.candidates[i].last
            while last >= 0:
                agenda.append(self.arena[last].candidate)
                last = self.arena[last].before
        return brackets
