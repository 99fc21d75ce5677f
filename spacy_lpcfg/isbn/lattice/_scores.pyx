"""What the networks say of several vertices at once: products with their matrices are made together.

Differs from the networks: the log-normaliser of the words of a tag is a linear function of the means, as
`isbn/normalizers.py` has it.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from spacy_lpcfg.isbn.lattice._types cimport Vertex
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport Model, NetworkTable

cdef extern from "mean_field.h" namespace "isbn" nogil:
    void add_products(float** targets, const float* matrix, const float** sources, int n_pairs, int n_rows,
                      int n_states)

cdef extern from "vectors.h" namespace "isbn" nogil:
    float log_sum_exp(float* logits, int n)
    float product_of(const float* x, const float* y, int width)


cdef class Scores:
    """Means of vertices, and log-probabilities of their decisions.

    positions (Positions): that computes the means of one vertex.
    exact (bool): whether words have their own normalisers.
    """

    def __init__(self, Positions positions, bint exact):
        self.positions, self.scorer, self.model, self.exact = positions, positions.scorer, positions.model, exact
        self.slots.resize(self.model.n_products)
        self.log_probabilities.resize(self.model.max_outcomes)

    # Means

    cdef void compute_means(self, vector[Vertex]& vertices, int first, int end) noexcept nogil:
        """Compute the means of vertices."""
        cdef int v, p
        for v in range(first, end):
            self.collect_products(vertices[v])
        for p in range(<int>self.slots.size()):
            if not self.slots[p].empty():
                self.make_products(p)
        for v in range(first, end):
            self.positions.compute(vertices[v].state)

    cdef void collect_products(self, const Vertex& vertex) noexcept nogil:
        """Note the products that the means of a vertex need and that are not there."""
        cdef size_t i
        cdef int32_t slot, product
        self.positions.find_products(vertex.state)
        for i in range(self.positions.wanted.size()):
            slot, product = self.positions.wanted[i].first, self.positions.wanted[i].second
            if not self.positions.history.in_slot[slot] >> product & 1:
                self.positions.history.in_slot[slot] = self.positions.history.in_slot[slot] | <uint32_t>1 << product
                self.slots[product].push_back(slot)

    cdef void make_products(self, int product) noexcept nogil:
        """Make all that were noted with one matrix."""
        cdef const NetworkTable* table
        cdef size_t i
        cdef int k, n = <int>self.slots[product].size()
        cdef float* means
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            self.sources.clear()
            self.targets.clear()
            for i in range(self.slots[product].size()):
                means = self.positions.history.means(self.slots[product][i])
                self.sources.push_back(means + table.start)
                self.targets.push_back(means + <size_t>(1 + product) * self.model.width + table.start)
                memset(self.targets.back(), 0, table.width * sizeof(float))
            add_products(self.targets.data(), table.latent_weights + <size_t>product * table.n_states * table.width,
                         self.sources.data(), n, table.n_states, table.n_states)
        self.slots[product].clear()

    # Decisions

    cdef void add_all_logits(self, int first, int end) noexcept nogil:
        """The mean of the networks' logits of a range of outcomes, by all means at hand."""
        cdef const Model* n = self.model
        cdef const NetworkTable* table
        cdef int k, d, n_means = <int>self.means.size()
        cdef size_t i
        self.n_outcomes = end - first
        self.logits.assign(<size_t>n_means * self.n_outcomes, 0)
        for k in range(n.n_networks):
            table = &n.tables[k]
            self.sources.clear()
            self.targets.clear()
            for i in range(self.means.size()):
                self.sources.push_back(self.means[i] + table.start)
                self.targets.push_back(&self.logits[i * self.n_outcomes])
                for d in range(self.n_outcomes):
                    self.targets[i][d] += table.outcome_bias[first + d]
            add_products(self.targets.data(), table.outcome_weights + <size_t>first * table.width,
                         self.sources.data(), n_means, self.n_outcomes, table.n_states)
        if n.n_networks > 1:
            for i in range(self.logits.size()):
                self.logits[i] /= n.n_networks

    cdef const float* decide(self, int number, const uint8_t* allowed) noexcept nogil:
        """log P of the outcomes whose logits there are, by one of the means at hand."""
        cdef float* found = &self.logits[<size_t>number * self.n_outcomes]
        cdef float normaliser
        cdef int d
        if allowed != NULL:
            for d in range(self.n_outcomes):
                if not allowed[d]:
                    found[d] = -INFINITY
        memcpy(&self.log_probabilities[0], found, self.n_outcomes * sizeof(float))
        normaliser = log_sum_exp(&self.log_probabilities[0], self.n_outcomes)
        for d in range(self.n_outcomes):
            found[d] -= normaliser
        return found

    cdef double log_word(self, int tag, int outcome, const float* means) noexcept nogil:
        """log P of a word under its tag."""
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        if end == first + 1:
            return 0
        if self.exact:
            return self.scorer.log_word(outcome, first, end, means)
        return self.logit(outcome, means) - self.log_normalizer(tag, means)

    cdef double log_normalizer(self, int tag, const float* means) noexcept nogil:
        """Of the words of a tag, by its linear function."""
        cdef int width = self.model.width
        return self.model.intercepts[tag] + product_of(self.model.slopes + <size_t>tag * width, means, width)

    cdef double logit(self, int outcome, const float* means) noexcept nogil:
        """The mean of the networks' logits."""
        cdef const NetworkTable* table
        cdef double found = 0
        cdef int k
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            found += table.outcome_bias[outcome] + product_of(
                table.outcome_weights + <size_t>outcome * table.width, means + table.start, table.width)
        return found / self.model.n_networks
