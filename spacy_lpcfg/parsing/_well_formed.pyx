"""The brackets of the tree that is worth most, by the gains of its brackets and the scores of its local trees."""

from cython.operator cimport dereference
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

cdef enum:
    PUNCTUATION = -1
    FIRST_TAG = -1

cdef struct Child:         # of a row, and the row before it
    int32_t candidate      # a bracket; or ~(place of a tag), for a word that does not have its first tag
    int32_t before         # in the arena; -1 for none

cdef struct State:         # of a row of children
    int32_t node           # of the trie; or ~(the last child), for a row that is scored by pairs
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
    """The scores of local trees: of those that a treebank has in a trie from parent to children, of others by pairs.

    The score of a local tree that is not in the trie is the sum over neighbouring children under its label, the edge
    before the first child and after the last included. Symbols are numbered from 0; after them come an id for all
    unknown ones and one for the edge.

    rules (int32, (n,)), offsets (int32, (n_rules + 1,)): ids of parent and children, as in `LocalTrees`.
    scores (float64, (n_rules,)): of each; none is below the sum over its pairs.
    pairs (int32, (n_pairs, 3)), pair_scores (float64, (n_pairs,)): label, child before, and child, with their score.
    contexts, children (float64, (n_symbols + 1, n_symbols + 2)): of label and child before, and of label and child: the
        score of any other pair is the sum of the two.
    """

    cdef unordered_map[int64_t, int32_t] edges
    cdef vector[double] ends
    cdef unordered_map[int64_t, double] pairs
    cdef const double[:, ::1] contexts, children
    cdef int32_t unknown, edge

    def __init__(
        self,
        const int32_t[::1] rules,
        const int32_t[::1] offsets,
        const double[::1] scores,
        const int32_t[:, ::1] pairs,
        const double[::1] pair_scores,
        const double[:, ::1] contexts,
        const double[:, ::1] children,
    ):
        cdef Py_ssize_t i, j
        cdef int32_t node
        self.unknown, self.edge = <int32_t>contexts.shape[0] - 1, <int32_t>contexts.shape[0]
        self.contexts, self.children = contexts, children
        self.ends.push_back(-INFINITY)
        for i in range(scores.shape[0]):
            node = 0
            for j in range(offsets[i], offsets[i + 1]):
                node = self.grow(node, rules[j])
            self.ends[node] = scores[i]
        for i in range(pair_scores.shape[0]):
            self.pairs[self.key(pairs[i, 0], pairs[i, 1], pairs[i, 2])] = pair_scores[i]

    cdef int64_t key(self, int32_t label, int32_t before, int32_t child) noexcept nogil:
        return (<int64_t>label * (self.edge + 1) + before) * (self.edge + 1) + child

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
        cdef unordered_map[int64_t, int32_t].iterator edge = self.edges.find((<int64_t>node << 32) | symbol)
        return -1 if edge == self.edges.end() else dereference(edge).second

    cdef double pair(self, int32_t label, int32_t before, int32_t child) noexcept nogil:
        """The score of neighbouring children under a label."""
        cdef unordered_map[int64_t, double].iterator entry = self.pairs.find(self.key(label, before, child))
        if entry != self.pairs.end():
            return dereference(entry).second
        return self.contexts[label, before] + self.children[label, child]

    cdef double unary(self, int32_t parent, int32_t symbol) noexcept nogil:
        cdef int32_t node = self.child(0, parent)
        if node >= 0:
            node = self.child(node, symbol)
        if node >= 0 and self.ends[node] != -INFINITY:
            return self.ends[node]
        return self.pair(parent, self.edge, symbol) + self.pair(parent, symbol, self.edge)

    def best_tree(
        self,
        const int32_t[:, ::1] brackets,
        const double[::1] gains,
        const int32_t[::1] tags,
        const double[::1] tag_gains,
        const int32_t[::1] tag_offsets,
    ):
        """Return the best tree: indices of its brackets, in pre-order, and of the tags that are not a word's first.

        brackets (int32, (n, 3)): start, end and symbol of each that may be in the tree, narrower ones first, those over
            the same words side by side; the last ones over all words. gains (float64, (n,)): what each is worth.
        tags (int32, (n_tags,)): the symbols of the tags that words may have, one word after the other, -1 for
            punctuation; tag_gains (float64, (n_tags,)): what each is worth.
        tag_offsets (int32, (n_words + 1,)): where the tags of each word begin; each word has at least one.
        """
        cdef _Chart chart = _Chart(self, tags, tag_gains, tag_offsets)
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
    cdef const int32_t[::1] tags, tag_offsets
    cdef const double[::1] tag_gains
    cdef vector[Candidate] candidates
    cdef vector[vector[int32_t]] beginning   # candidates of the spans so far, by their first word
    cdef vector[Child] arena
    cdef vector[vector[State]] states        # of the row in the making, by position

    def __cinit__(
        self,
        RuleScores rules,
        const int32_t[::1] tags,
        const double[::1] tag_gains,
        const int32_t[::1] tag_offsets,
    ):
        self.rules, self.tags, self.tag_gains, self.tag_offsets = rules, tags, tag_gains, tag_offsets
        self.beginning.resize(tag_offsets.shape[0])
        self.states.resize(tag_offsets.shape[0])

    cdef void fill(self, int32_t first, int32_t end):
        """Find the best tree below each label of a span."""
        cdef int32_t i
        for i in range(first, end):
            self.row(&self.candidates[i])
        for i in range(first, end):
            self.stack(i, first, end)
        for i in range(first, end):
            self.beginning[self.candidates[first].start].push_back(i)

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

    cdef void row(self, Candidate* parent):
        """Find the best row of children of a bracket, with the score of its local tree, if it is not all punctuation."""
        cdef int32_t p, root = self.rules.child(0, parent.symbol)
        cdef double value
        cdef State state
        for p in range(parent.start, parent.end + 1):
            self.states[p].clear()
        state.value, state.last = 0, -1
        state.node = ~self.rules.edge
        self.states[parent.start].push_back(state)
        if root >= 0:
            state.node = root
            self.states[parent.start].push_back(state)
        for p in range(parent.start, parent.end):
            if not self.states[p].empty():
                self.step(p, parent)
        parent.alone = -INFINITY
        for state in self.states[parent.end]:
            value = parent.gain + state.value
            if state.node >= 0 and state.node != root:
                value += self.rules.ends[state.node]
            elif state.node < 0 and state.node != ~self.rules.edge:
                value += self.rules.pair(parent.symbol, ~state.node, self.rules.edge)
            if value > parent.alone:
                parent.alone, parent.last = value, state.last

    cdef void step(self, int32_t p, Candidate* parent):
        """Add the children that begin at a position to the rows that end there."""
        cdef int32_t i, first = self.tag_offsets[p]
        cdef Candidate* child
        for i in range(first, self.tag_offsets[p + 1]):
            self.extend(p, p + 1, parent.symbol, self.tags[i], self.tag_gains[i], FIRST_TAG if i == first else ~i)
        for i in self.beginning[p]:
            child = &self.candidates[i]
            if child.end <= parent.end and not (p == parent.start and child.end == parent.end):
                self.extend(p, child.end, parent.symbol, child.symbol, child.best, i)

    cdef void extend(self, int32_t p, int32_t end, int32_t label, int32_t symbol, double gain, int32_t candidate):
        """Add a child to the rows below a label that end at `p`."""
        cdef State state
        cdef Child child
        cdef size_t i
        for i in range(self.states[p].size()):
            state = self.states[p][i]
            if symbol != PUNCTUATION:
                if state.node >= 0:
                    state.node = self.rules.child(state.node, symbol)
                    if state.node < 0:
                        continue
                else:
                    state.value += self.rules.pair(label, ~state.node, symbol)
                    state.node = ~symbol
            if candidate != FIRST_TAG:
                child.candidate, child.before = candidate, state.last
                self.arena.push_back(child)
                state.last = <int32_t>self.arena.size() - 1
            state.value += gain
            self.keep(end, state)

    cdef void keep(self, int32_t p, State state):
        """Keep the best row that ends at `p` in each node of the trie, and after each child."""
        cdef size_t i
        for i in range(self.states[p].size()):
            if self.states[p][i].node == state.node:
                if state.value > self.states[p][i].value:
                    self.states[p][i] = state
                return
        self.states[p].push_back(state)

    def tree(self):
        """Return the candidates of the best tree over all words, in pre-order, and its tags that are not first ones."""
        cdef int32_t i, chosen = <int32_t>self.candidates.size() - 1, last
        cdef int32_t n_words = <int32_t>self.tag_offsets.shape[0] - 1
        cdef list brackets = [], tags = []
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
                i = self.arena[last].candidate
                if i >= 0:
                    agenda.append(i)
                else:
                    tags.append(~i)
                last = self.arena[last].before
        return brackets, tags
