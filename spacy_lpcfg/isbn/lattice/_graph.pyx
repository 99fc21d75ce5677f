"""The lattice: vertices, each for all derivations that have come to one stack, and the arcs between them.

A vertex keeps the vectors of its most probable derivation only. Differs from exact inference by this.
"""

from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._types cimport Arc, Vertex
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._types cimport NONE, PROJECT, SHIFT, State


cdef class Graph:
    """The vertices and arcs of one sentence at a time.

    history (History): what the derivations share.
    merges (bool): whether derivations with equal stacks and last tags share a vertex; else each has its own.
    """

    def __init__(self, History history, bint merges):
        self.history, self.merges = history, merges

    cdef void start(self, const Vertex& first) noexcept nogil:
        """Begin a sentence with one vertex."""
        self.vertices.clear()
        self.arcs.clear()
        self.vertices.push_back(first)

    cdef void merge(self, const vector[Arc]& arcs, int width, double nats, double least) noexcept nogil:
        """Add the vertices that arcs lead to, the most probable ones, with their arcs.

        width (int): of the vertices, at most.
        nats (float): that they may be less probable than the best one.
        least (float): their least log-probability.
        """
        cdef size_t i
        cdef int n = 0, g
        self.group(arcs)
        sort_by_probability(self.order, self.groups)
        while n < <int>self.order.size() and n < width and self.is_kept(n, nats, least):
            n += 1
        for i in range(n):
            self.add_vertex(self.order[i])
            for g in range(<int>arcs.size()):
                if self.group_of[g] == self.order[i]:
                    self.arcs.push_back(arcs[g])
                    self.arcs.back().target = <int32_t>self.vertices.size() - 1

    cdef bint is_kept(self, int n, double nats, double least) noexcept nogil:
        cdef double own = self.groups[self.order[n]].log_probability
        return own >= least and own >= self.groups[self.order[0]].log_probability - nats

    cdef void group(self, const vector[Arc]& arcs) noexcept nogil:
        """Join arcs to the same vertex in groups."""
        cdef int g
        cdef size_t i
        self.groups.clear()
        self.best.clear()
        self.group_of.clear()
        self.order.clear()
        for i in range(arcs.size()):
            g = self.find_group(arcs[i])
            self.group_of.push_back(g)
            self.groups[g].log_probability = log_sum(self.groups[g].log_probability, arcs[i].log_probability)
            if arcs[i].log_probability > self.best[g].log_probability:
                self.best[g] = arcs[i]

    cdef int find_group(self, const Arc& arc) noexcept nogil:
        """The group of an arc, which is new if there is none."""
        cdef int g
        cdef Vertex vertex
        if self.merges:
            for g in range(<int>self.groups.size()):
                if self.groups[g].stack == arc.stack and self.groups[g].tag == arc.tag:
                    return g
        vertex.log_probability, vertex.stack, vertex.tag = -INFINITY, arc.stack, arc.tag
        vertex.n_words = self.vertices[arc.origin].n_words + (arc.action == SHIFT)
        self.order.push_back(<int32_t>self.groups.size())
        self.groups.push_back(vertex)
        self.best.push_back(arc)
        return <int>self.groups.size() - 1

    cdef void add_vertex(self, int group) noexcept nogil:
        """Add the vertex of a group, in the state after its best arc."""
        self.groups[group].state = self.after(self.best[group])
        self.vertices.push_back(self.groups[group])

    cdef State after(self, const Arc& arc) noexcept nogil:
        """The state after an arc, without means so far."""
        cdef State state = self.vertices[arc.origin].state
        state.branch = self.history.new_branch(state.branch, arc.action, arc.candidate, state.slot)
        if arc.action == SHIFT:
            state.cell, state.last_shift = self.history.stack_word(state.cell, state.branch), state.branch
        else:
            state.cell = self.history.apply(state.cell, arc.action, state.branch)
        state.n_projected = state.n_projected + 1 if arc.action >= PROJECT else 0
        state.slot = state.theta = NONE
        return state


cdef double log_sum(double x, double y) noexcept nogil:
    """log (e ** x + e ** y)"""
    if x < y:
        x, y = y, x
    return x + log1p(exp(y - x)) if y > -INFINITY else x


cdef void sort_by_probability(vector[int32_t]& order, const vector[Vertex]& groups) noexcept nogil:
    """Sort the numbers of a few groups, the most probable first; equal ones stay in order."""
    cdef int i, k
    cdef int32_t own
    for i in range(1, <int>order.size()):
        own, k = order[i], i
        while k > 0 and groups[order[k - 1]].log_probability < groups[own].log_probability:
            order[k] = order[k - 1]
            k -= 1
        order[k] = own
