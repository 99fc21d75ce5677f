"""The first stage of the search: the candidates of each word, and what a Shift of one adds to later positions."""

from libc.stdint cimport int32_t, uint8_t

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport NONE, SHIFT, Model, NetworkTable


cdef class SentenceWords:
    """The words of a sentence as the networks may know them: a candidate is a tag of a word."""

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.clear()

    cdef void clear(self) noexcept nogil:
        self.offsets.clear()
        self.tags.clear()
        self.outcomes.clear()
        self.log_factors.clear()
        self.first_signature.clear()
        self.end_signature.clear()
        self.signature_rows.clear()
        self.input_of.clear()
        self.inputs.clear()
        self.offsets.push_back(0)

    cdef void add(self, candidates):
        """Append words, as `NetworkVocabulary.candidates` describes them."""
        cdef const int32_t[::1] offsets = candidates.offsets, tags = candidates.tags, outcomes = candidates.outcomes
        cdef const float[::1] log_factors = candidates.log_factors
        cdef const uint8_t[::1] has_signatures = candidates.has_signatures
        cdef const int32_t[::1] signature_offsets = candidates.signature_offsets, signature_rows = candidates.signature_rows
        cdef int word, c, first_signature = <int>self.signature_rows.size()
        for c in range(signature_rows.shape[0]):
            self.signature_rows.push_back(signature_rows[c])
        for word in range(offsets.shape[0] - 1):
            for c in range(offsets[word], offsets[word + 1]):
                self.tags.push_back(tags[c])
                self.outcomes.push_back(outcomes[c])
                self.log_factors.push_back(log_factors[c])
                self.first_signature.push_back(first_signature + signature_offsets[word])
                self.end_signature.push_back(first_signature + signature_offsets[word + 1 if has_signatures[c] else word])
                self.input_of.push_back(NONE)
            self.offsets.push_back(<int32_t>self.tags.size())

    cdef void copy_to(self, SentenceWords new):
        """Give another object these words, without their inputs."""
        new.offsets, new.tags, new.outcomes = self.offsets, self.tags, self.outcomes
        new.log_factors, new.first_signature, new.end_signature = self.log_factors, self.first_signature, self.end_signature
        new.signature_rows = self.signature_rows
        new.input_of.assign(self.input_of.size(), NONE)

    cdef void compute_inputs(self, int candidate) noexcept nogil:
        """The sums of the rows of a Shift, for each decision relation, unless they are there."""
        cdef const Model* n = self.model
        cdef size_t start = self.inputs.size()
        cdef int r
        if candidate == NONE or self.input_of[candidate] != NONE:
            return
        self.input_of[candidate] = <int32_t>(start / (n.n_decisions * n.width))
        self.inputs.resize(start + n.n_decisions * n.width)
        for r in range(n.n_decisions):
            self.add_rows(&self.inputs[start + <size_t>r * n.width], candidate, r)

    cdef void add_rows(self, float* sums, int candidate, int relation) noexcept nogil:
        cdef const Model* n = self.model
        cdef const NetworkTable* table
        cdef const float* weights
        cdef int k, row
        for k in range(n.n_networks):
            table = &n.tables[k]
            weights = table.decision_weights + <size_t>relation * n.n_rows * table.width
            add_row(sums + table.start, weights, SHIFT, table.width)
            add_row(sums + table.start, weights, n.n_actions + self.tags[candidate], table.width)
            add_row(sums + table.start, weights, self.outcomes[candidate], table.width)
            for row in range(self.first_signature[candidate], self.end_signature[candidate]):
                add_row(sums + table.start, weights, self.signature_rows[row], table.width)


cdef void add_row(float* sums, const float* weights, int row, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        sums[i] += weights[<size_t>row * width + i]
