"""The next word under each of its tags, after the vertices that shift it."""

from libc.stdint cimport int32_t

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._scores cimport Scores
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc, Vertex
from spacy_lpcfg.isbn.search._words cimport SentenceWords


cdef class Shifting:
    """Scores the Shifts of a word."""

    def __init__(self, Graph graph, Stacks stacks, Scores scores, SentenceWords words):
        self.graph, self.stacks, self.scores, self.words = graph, stacks, scores, words
        self.model = scores.model

    cdef void shift(self, const vector[Arc]& shifts, double least) noexcept nogil:
        """Leave in `arcs` the Shifts that are at least so probable before tag and word, under each tag."""
        cdef const Model* n = self.model
        cdef size_t i
        self.arcs.clear()
        self.likely.clear()
        self.scores.means.clear()
        for i in range(shifts.size()):
            if shifts[i].log_probability >= least:
                self.likely.push_back(shifts[i])
                self.scores.means.push_back(
                    self.graph.history.means(self.graph.vertices[shifts[i].origin].state.slot))
        self.scores.add_all_logits(n.n_actions, n.first_word)
        for i in range(self.likely.size()):
            self.shift_from(self.likely[i], self.scores.means[i], self.scores.decide(<int>i, NULL))

    cdef void shift_from(self, const Arc& arc, const float* means, const float* log_tags) noexcept nogil:
        """Put the arcs of one Shift; means and log P of all tags are those of its vertex."""
        cdef Vertex vertex = self.graph.vertices[arc.origin]
        cdef Arc new = arc
        cdef int c
        for c in range(self.words.offsets[vertex.n_words], self.words.offsets[vertex.n_words + 1]):
            new.candidate, new.tag = c, self.words.tags[c]
            new.stack = self.stacks.shift(vertex.stack, vertex.n_words, new.tag)
            new.log_probability = arc.log_probability + log_tags[new.tag] + <double>self.words.log_factors[c]
            new.log_probability += self.scores.log_word(new.tag, self.words.outcomes[c], means)
            self.arcs.push_back(new)
