"""A lattice of derivations, of no brackets but the allowed ones: word by word forward, and back for posteriors.

Within each word vertices are expanded level by level, from the deepest stack on; then their Shifts become the vertices
that the next word begins from.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._expansion cimport LevelExpansion
from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._masks cimport Masks
from spacy_lpcfg.isbn.lattice._posteriors cimport Closing, LatticePosteriors
from spacy_lpcfg.isbn.lattice._scores cimport Scores
from spacy_lpcfg.isbn.lattice._shifting cimport Shifting
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc, Node, Vertex
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport NONE, Hypothesis
from spacy_lpcfg.isbn.search._words cimport SentenceWords

cdef int WIDEST = 2_000_000_000
cdef double NO_TOLERANCE = 0.1   # of means that decisions change, which the lattice has no use for


cdef class Lattice:
    """The lattice of one sentence at a time.

    networks (Networks): feed-forward ones.
    width (int), nats (float): as in `LatticeSettings`.
    unary_cap (int): as in `BeamSettings`.
    merges (bool): whether derivations with equal stacks share a vertex; else each has its own.
    exact (bool): whether words have their own normalisers, and not the linear functions of their tags.
    """

    cdef Networks networks
    cdef SentenceWords words
    cdef History history
    cdef Masks masks
    cdef Stacks stacks
    cdef Graph graph
    cdef Scores scores
    cdef LevelExpansion expansion
    cdef Shifting shifting
    cdef LatticePosteriors posteriors
    cdef vector[Hypothesis] live             # after the last word
    cdef int width
    cdef double nats
    cdef int first                            # vertex from which the next word is sought; those after it too

    def __init__(self, Networks networks, *, width, nats, unary_cap, merges=True, exact=False):
        cdef Positions positions
        self.networks, self.width, self.nats = networks, width, nats
        self.words, self.history = SentenceWords(networks), History(networks)
        positions = Positions(networks, self.words, self.history, Scorer(networks, NO_TOLERANCE))
        self.masks = Masks(len(networks.labels))
        self.stacks = Stacks(self.masks)
        self.graph = Graph(self.history, merges)
        self.scores = Scores(positions, exact)
        self.expansion = LevelExpansion(self.graph, self.stacks, self.scores, unary_cap, nats)
        self.shifting = Shifting(self.graph, self.stacks, self.scores, self.words)
        self.posteriors = LatticePosteriors(self.graph, self.stacks)

    def begin(self, candidates, brackets):
        """Begin a sentence, in the memory of the one before.

        candidates (Candidates): of its words.
        brackets (int32, (n, 3)): start, end and label of those that are allowed; a label of -1 is any.
        """
        cdef Hypothesis start
        cdef Vertex first
        self.words.clear()
        self.words.add(candidates)
        self.masks.begin(<int>self.words.offsets.size() - 1, brackets)
        start = self.history.start()
        first.log_probability, first.tag, first.n_words, first.stack = 0, NONE, 0, self.stacks.start()
        first.state.branch, first.state.cell, first.state.last_shift = start.branch, start.cell, start.last_shift
        first.state.n_projected, first.state.slot, first.state.theta = 0, NONE, NONE
        self.graph.start(first)
        self.first = 0
        self.give_back_slots()

    def advance(self):
        """Shift the next word; whether a derivation is left."""
        with nogil:
            self.explore()
            self.shifting.shift(self.expansion.shifts, self.expansion.least())
            self.first = <int>self.graph.vertices.size()
            self.graph.merge(self.shifting.arcs, self.width, self.nats, -INFINITY)
            self.give_back_slots()
        return self.is_alive

    def finish(self):
        """End the sentence, and compute the posteriors; whether a derivation is left."""
        with nogil:
            self.explore()
            self.first = <int>self.graph.vertices.size()
            self.graph.merge(self.expansion.ends, WIDEST, INFINITY, -INFINITY)
            if self.first < <int>self.graph.vertices.size():
                self.posteriors.compute(self.first, <int>self.words.tags.size())
        return self.is_alive

    @property
    def is_alive(self):
        """Whether a derivation is left."""
        return self.first < <int>self.graph.vertices.size()

    def brackets(self, double least):
        """The posteriors of brackets that are at least so likely, by (start, end, label), as `LatticePosteriors.brackets`."""
        return self.posteriors.brackets(self.networks.labels, least)

    def tags(self):
        """The posteriors of the tags of each word, list of dict of str to float."""
        cdef int word, c
        cdef list found = []
        for word in range(<int>self.words.offsets.size() - 1):
            found.append({
                self.networks.tags[self.words.tags[c]]: min(self.posteriors.of_candidates[c], 1.0)
                for c in range(self.words.offsets[word], self.words.offsets[word + 1])
                if self.posteriors.of_candidates[c] > 0
            })
        return found

    @property
    def n_vertices(self):
        """Vertices so far."""
        return self.graph.vertices.size()

    @property
    def n_bytes(self):
        """Memory that grows with the sentence, in bytes."""
        return (
            sizeof(float) * (self.history.slots.capacity() + self.words.inputs.capacity())
            + sizeof(Vertex) * self.graph.vertices.capacity() + sizeof(Arc) * self.graph.arcs.capacity()
            + sizeof(Node) * self.stacks.nodes.capacity() + sizeof(int32_t) * self.stacks.table.capacity()
            + 8 * self.masks.closings.capacity() + sizeof(Closing) * self.posteriors.closings.capacity())

    # Forward

    cdef void explore(self) noexcept nogil:
        """Expand the vertices after the last word, and all levels below them."""
        cdef int depth, n_projected, first, end = <int>self.graph.vertices.size()
        self.expansion.begin(self.first, end)
        self.expansion.expand(self.first, end)
        for depth in range(self.expansion.max_depth, 0, -1):
            for n_projected in range(self.expansion.unary_cap + 1):
                self.expansion.take_level(depth, n_projected)
                if self.expansion.level.empty():
                    continue
                first = <int>self.graph.vertices.size()
                self.graph.merge(self.expansion.level, self.width, self.nats, self.expansion.least())
                end = <int>self.graph.vertices.size()
                if first < end:
                    self.expansion.expand(first, end)

    cdef void give_back_slots(self) noexcept nogil:
        """Free the vectors that the vertices after the last word cannot reach."""
        cdef Hypothesis each
        cdef Vertex vertex
        cdef size_t v
        self.live.clear()
        for v in range(self.first, self.graph.vertices.size()):
            vertex = self.graph.vertices[v]
            each.log_probability, each.branch = vertex.log_probability, vertex.state.branch
            each.cell, each.last_shift = vertex.state.cell, vertex.state.last_shift
            self.live.push_back(each)
        self.history.give_back_slots(self.live)
