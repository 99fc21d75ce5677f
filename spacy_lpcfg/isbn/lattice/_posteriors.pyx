"""The last stage: back along the arcs, the shares of brackets and tags in the probability of all derivations."""

from libc.math cimport exp
from libc.stdint cimport int32_t
from libcpp.algorithm cimport sort

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc, Node, Vertex
from spacy_lpcfg.isbn.search._types cimport MODIFY, PROJECT


cdef class LatticePosteriors:
    """LatticePosteriors of one sentence at a time: each vertex has the share of all derivations that pass it."""

    def __init__(self, Graph graph, Stacks stacks):
        self.graph, self.stacks = graph, stacks

    cdef void compute(self, int first_end, int n_candidates) noexcept nogil:
        """Compute them of a whole sentence.

        first_end (int): the vertices from here on are the ends of the sentence.
        """
        cdef Arc arc
        cdef int i
        cdef double posterior
        self.closings.clear()
        self.of_candidates.assign(n_candidates, 0)
        self.share(first_end)
        for i in range(<int>self.graph.arcs.size() - 1, -1, -1):
            arc = self.graph.arcs[i]
            posterior = self.of_vertices[arc.target] * exp(
                arc.log_probability - self.graph.vertices[arc.target].log_probability)
            self.of_vertices[arc.origin] += posterior
            if arc.candidate >= 0:
                self.of_candidates[arc.candidate] += posterior
            elif posterior > 0:
                self.close(arc.origin, arc.action, posterior)
        self.sum_up()

    cdef void share(self, int first_end) noexcept nogil:
        """The shares of the ends in the probability of the sentence."""
        cdef double total = 0, best = self.graph.vertices[first_end].log_probability
        cdef size_t v
        self.of_vertices.assign(self.graph.vertices.size(), 0)
        for v in range(first_end, self.graph.vertices.size()):
            self.of_vertices[v] = exp(self.graph.vertices[v].log_probability - best)
            total += self.of_vertices[v]
        for v in range(first_end, self.graph.vertices.size()):
            self.of_vertices[v] /= total

    cdef void close(self, int32_t v, int32_t action, double posterior) noexcept nogil:
        """Add the brackets that an action at a vertex ends."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef Node below = self.stacks.nodes[top.below]
        if top.label >= 0:
            self.close_bracket(top.start, vertex.n_words, top.label, posterior,
                               vertex.state.n_projected - (action >= PROJECT))
        if action == MODIFY:
            self.close_bracket(below.start, top.start, below.label, posterior, 0)

    cdef void close_bracket(self, int start, int end, int label, double posterior, int height) noexcept nogil:
        """Add a bracket with nodes over the same words, so many more below it than there are right above it."""
        cdef Closing closing
        closing.start, closing.end, closing.label = start, end, label
        closing.posterior, closing.height = posterior, posterior * height
        self.closings.push_back(closing)

    cdef void sum_up(self) noexcept nogil:
        """Sum what there is of each bracket, and put them in pre-order."""
        cdef size_t i, n = 0
        sort(self.closings.begin(), self.closings.end(), is_before)
        for i in range(self.closings.size()):
            if n > 0 and is_same(self.closings[n - 1], self.closings[i]):
                self.closings[n - 1].posterior += self.closings[i].posterior
                self.closings[n - 1].height += self.closings[i].height
            else:
                self.closings[n] = self.closings[i]
                n += 1
        self.closings.resize(n)
        sort(self.closings.begin(), self.closings.end(), is_outside)

    def brackets(self, tuple labels, double least):
        """The brackets that are at least so likely, in pre-order, outer ones first.

        RETURNS (dict of (start, end, label) to float): a bracket that a tree has twice counts twice, but for no more
            than 1.
        """
        cdef size_t i
        cdef dict found = {}
        for i in range(self.closings.size()):
            if self.closings[i].posterior >= least:
                found[self.closings[i].start, self.closings[i].end, labels[self.closings[i].label]] = min(
                    self.closings[i].posterior, 1.0)
        return found


cdef bint is_same(const Closing& x, const Closing& y) noexcept nogil:
    return x.start == y.start and x.end == y.end and x.label == y.label


cdef bint is_before(const Closing& x, const Closing& y) noexcept nogil:
    if x.start != y.start:
        return x.start < y.start
    return x.end > y.end if x.end != y.end else x.label < y.label


cdef bint is_outside(const Closing& x, const Closing& y) noexcept nogil:
    """Whether a bracket comes before another one: over the same words the one that is higher on average."""
    if x.start != y.start or x.end != y.end:
        return is_before(x, y)
    return x.height * y.posterior > y.height * x.posterior
