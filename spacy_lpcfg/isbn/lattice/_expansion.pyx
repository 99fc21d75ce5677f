"""The arcs of the actions that the allowed brackets leave to vertices, by the level of what they lead to.

A level has the vertices of one depth of the stack, and of one number of nodes projected in a row: no action leads to a
deeper one, so that the levels can be taken from the deepest on.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._scores cimport Scores
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc, Node, Vertex
from spacy_lpcfg.isbn.search._types cimport ATTACH, DONE, MODIFY, NONE, PROJECT, ROOT, SHIFT


cdef class LevelExpansion:
    """Expands vertices, those of a level at once.

    unary_cap (int): most nodes that are projected in a row.
    nats (float): as in `LatticeSettings`.
    """

    def __init__(self, Graph graph, Stacks stacks, Scores scores, int unary_cap, double nats):
        self.graph, self.stacks, self.scores, self.history = graph, stacks, scores, graph.history
        self.model, self.unary_cap, self.nats = &self.history.networks.model, unary_cap, nats

    cdef void begin(self, int first, int end) noexcept nogil:
        """Begin the search for a word, from some vertices."""
        cdef int v
        self.arcs.clear()
        self.shifts.clear()
        self.ends.clear()
        self.best = -INFINITY
        self.max_depth = 0
        for v in range(first, end):
            self.max_depth = max(self.max_depth, self.stacks.nodes[self.graph.vertices[v].stack].depth)
        self.last_of.assign(<size_t>(self.max_depth + 1) * (self.unary_cap + 1), NONE)
        self.best_of.assign(self.last_of.size(), -INFINITY)

    cdef void take_level(self, int depth, int n_projected) noexcept nogil:
        """Collect the arcs to a level."""
        cdef int32_t i = self.last_of[<size_t>depth * (self.unary_cap + 1) + n_projected]
        self.level.clear()
        while i != NONE:
            self.level.push_back(self.arcs[i])
            i = self.arcs[i].target

    # From vertices

    cdef void expand(self, int first, int end) noexcept nogil:
        """Put the arcs from vertices to their levels; Shifts and the ends of sentences are kept apart."""
        cdef const uint8_t* mask
        cdef int v
        self.scores.compute_means(self.graph.vertices, first, end)
        self.scores.means.clear()
        for v in range(first, end):
            self.scores.means.push_back(self.history.means(self.graph.vertices[v].state.slot))
        self.scores.add_all_logits(0, self.model.n_actions)
        for v in range(first, end):
            mask = self.history.mask(self.graph.vertices[v].state.cell)
            if mask == NULL:
                self.leave(self.shifts, v, SHIFT, 0)
            else:
                self.follow(v, self.scores.decide(v - first, mask))

    cdef void follow(self, int v, const float* logs) noexcept nogil:
        """Put the arcs from a vertex.

        logs: log P of the actions, -inf of those that are not allowed.
        """
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        if top.reach > vertex.n_words and logs[SHIFT] > -INFINITY:
            self.leave(self.shifts, v, SHIFT, logs[SHIFT])
        if self.stacks.may_close(top, vertex.n_words):
            self.close(v, logs)
            if vertex.state.n_projected < self.unary_cap:
                self.project(v, logs)

    cdef void close(self, int v, const float* logs) noexcept nogil:
        """Put the arcs that end the top of the stack and attach it."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef Node below = self.stacks.nodes[top.below]
        cdef size_t level = <size_t>(top.depth - 1) * (self.unary_cap + 1)
        if below.label != ROOT:
            if self.may_enter(level, vertex.log_probability + logs[ATTACH]):
                self.put(level, v, ATTACH, logs[ATTACH], self.stacks.attach(vertex.stack))
            if self.may_enter(level, vertex.log_probability + logs[MODIFY]) and self.stacks.may_close(below, top.start):
                self.put(level, v, MODIFY, logs[MODIFY], self.stacks.modify(vertex.stack))
        elif vertex.n_words == self.stacks.masks.n_words:
            self.leave(self.ends, v, DONE, logs[ATTACH])

    cdef void project(self, int v, const float* logs) noexcept nogil:
        """Put the arcs that end the top of the stack under a new node."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef size_t level = <size_t>top.depth * (self.unary_cap + 1) + vertex.state.n_projected + 1
        cdef int label, action
        for label in range(self.model.n_actions - PROJECT):
            action = PROJECT + label
            if self.stacks.masks.last_end(top.start, label) >= vertex.n_words and self.may_enter(
                    level, vertex.log_probability + logs[action]):
                self.put(level, v, action, logs[action], self.stacks.project(vertex.stack, label))

    # Arcs

    cdef void put(self, size_t level, int v, int action, float log_action, int32_t stack) noexcept nogil:
        """Put an arc to its level, unless its stack leads nowhere."""
        cdef Arc arc
        if not self.stacks.is_alive(stack, self.graph.vertices[v].n_words):
            return
        arc = self.arc_of(v, action, log_action, stack)
        self.best_of[level] = max(self.best_of[level], arc.log_probability)
        arc.target = self.last_of[level]
        self.last_of[level] = <int32_t>self.arcs.size()
        self.arcs.push_back(arc)

    cdef void leave(self, vector[Arc]& arcs, int v, int action, float log_action) noexcept nogil:
        """Put an arc out of the word."""
        arcs.push_back(self.arc_of(v, action, log_action, 0))
        self.best = max(self.best, arcs.back().log_probability)

    cdef Arc arc_of(self, int v, int action, float log_action, int32_t stack) noexcept nogil:
        cdef Arc arc
        arc.log_probability = self.graph.vertices[v].log_probability + log_action
        arc.origin, arc.action, arc.candidate, arc.stack = v, action, NONE, stack
        arc.tag = NONE if action == DONE else self.graph.vertices[v].tag
        arc.target = NONE
        return arc
