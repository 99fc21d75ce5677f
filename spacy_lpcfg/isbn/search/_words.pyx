# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The first stage of the search: the candidates of each word, and what a Shift of one adds to later positions."""

from libc.stdint cimport int32_t, uint8_t

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport NONE, SHIFT, Model, Table


cdef class Words:
    """The words of a sentence as the networks may know them: a candidate is a tag of a word."""

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.clear()

    cdef void clear(self) noexcept nogil:
        self.offsets.clear()
        self.tags.clear()
        self.outcomes.clear()
        self.log_factors.clear()
        self.first_form.clear()
        self.end_form.clear()
        self.form_rows.clear()
        self.input_of.clear()
        self.inputs.clear()
        self.offsets.push_back(0)

    cdef void add(self, candidates):
        """Append words, as `NetworkVocabulary.candidates` describes them."""
        cdef const int32_t[::1] offsets = candidates.offsets, tags = candidates.tags, outcomes = candidates.outcomes
        cdef const float[::1] log_factors = candidates.log_factors
        cdef const uint8_t[::1] has_forms = candidates.has_forms
        cdef const int32_t[::1] form_offsets = candidates.form_offsets, form_rows = candidates.form_rows
        cdef int word, c, first_form = <int>self.form_rows.size()
        for c in range(form_rows.shape[0]):
            self.form_rows.push_back(form_rows[c])
        for word in range(offsets.shape[0] - 1):
            for c in range(offsets[word], offsets[word + 1]):
                self.tags.push_back(tags[c])
                self.outcomes.push_back(outcomes[c])
                self.log_factors.push_back(log_factors[c])
                self.first_form.push_back(first_form + form_offsets[word])
                self.end_form.push_back(first_form + form_offsets[word + 1 if has_forms[c] else word])
                self.input_of.push_back(NONE)
            self.offsets.push_back(<int32_t>self.tags.size())

    cdef void copy_to(self, Words new):
        """Give another object these words, without their inputs."""
        new.offsets, new.tags, new.outcomes = self.offsets, self.tags, self.outcomes
        new.log_factors, new.first_form, new.end_form = self.log_factors, self.first_form, self.end_form
        new.form_rows = self.form_rows
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
        cdef const Table* table
        cdef const float* weights
        cdef int k, row
        for k in range(n.n_networks):
            table = &n.tables[k]
            weights = table.decision_weights + <size_t>relation * n.n_rows * table.width
            add_row(sums + table.start, weights, SHIFT, table.width)
            add_row(sums + table.start, weights, n.n_actions + self.tags[candidate], table.width)
            add_row(sums + table.start, weights, self.outcomes[candidate], table.width)
            for row in range(self.first_form[candidate], self.end_form[candidate]):
                add_row(sums + table.start, weights, self.form_rows[row], table.width)


cdef void add_row(float* sums, const float* weights, int row, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        sums[i] += weights[<size_t>row * width + i]
