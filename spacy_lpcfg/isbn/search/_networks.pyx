"""An ISBN as the search reads it: its parameters, the words of a sentence under them, and its decisions.

The networks of an ensemble stand side by side in every vector: only their products and their means are apart.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from spacy_lpcfg.isbn.mean_field cimport (
    FEED_FORWARD, MEAN_FIELD_STEP, add_inputs, add_logits, log_sum_exp, padded, settle, sigmoid, softmax, step)
from spacy_lpcfg.vectors cimport copy

from spacy_lpcfg.isbn.likelihood import pad
from spacy_lpcfg.isbn.network import APPROXIMATIONS

cdef float MIN_SHARE = 1e-4      # of the tolerance; less likely outcomes do not bend a Newton step


# Parameters ---------------------------------------------------------------------------------------


cdef class Networks:
    """An ISBN as the search reads it; any number of searches share one."""

    def __init__(self, isbn, latent, decisions):
        """latent, decisions (int32, (n, 2)): the codes of the relations."""
        cdef Model* m = &self.model
        vocabulary = isbn.vocabulary
        offsets = vocabulary.word_offsets
        self.arrays, self.labels, self.tags = [], tuple(vocabulary.labels), tuple(vocabulary.tags)
        m.n_actions, m.first_word, m.n_rows = vocabulary.n_actions, vocabulary.first_word, vocabulary.n_rows
        m.max_outcomes = padded(max(m.n_actions, m.first_word - m.n_actions, int(np.diff(offsets).max())))
        m.masks, m.word_offsets = <const uint8_t*> self.keep(vocabulary.masks, np.uint8), self.integers(offsets)
        couples = couples_of(latent.tolist())
        self.number_relations(latent, decisions)
        m.couples, m.n_couples, m.n_products = self.integers(couples), len(couples), m.n_latent + len(couples)
        parameters = [pad(network.parameters) for network in isbn.networks]
        for network, of_network in zip(isbn.networks, parameters):
            self.tables.push_back(self.table(network, of_network, couples))
        m.tables, m.n_networks = self.tables.data(), len(isbn.networks)
        m.bias = self.floats(np.concatenate([of_network["bias"] for of_network in parameters]))
        m.decision_weights = self.floats(np.hstack([of_network["decision_weights"] for of_network in parameters]))

    cdef void number_relations(self, latent, decisions):
        cdef Model* m = &self.model
        fields = sorted({field for depth, field in latent.tolist() if depth >= 0})
        m.latent, m.n_latent = self.integers(latent), len(latent)
        m.decisions, m.n_decisions = self.integers(decisions), len(decisions)
        m.fields, m.n_fields = self.integers(fields), len(fields)

    cdef NetworkTable table(self, network, parameters, couples):
        """Make the table of one network, at the end of all vectors; matrices of couples of relations are summed."""
        cdef NetworkTable table
        latent = parameters["latent_weights"]
        table.n_states, table.width = network.n_states, padded(network.n_states)
        table.approximation, table.start = APPROXIMATIONS.index(network.approximation), self.model.width
        table.latent_weights = self.floats(np.concatenate([latent, *[latent[[r]] + latent[[s]] for r, s in couples]]))
        table.outcome_weights = self.floats(parameters["outcome_weights"])
        table.outcome_bias = self.floats(parameters["outcome_bias"])
        self.model.width += table.width
        self.model.settles |= table.approximation != FEED_FORWARD
        return table

    cdef const float* floats(self, array):
        return <const float*> self.keep(array, np.float32)

    cdef const int32_t* integers(self, array):
        return <const int32_t*> self.keep(array, np.int32)

    cdef const void* keep(self, array, number):
        """Keep an array as contiguous numbers of one type; their pointer, NULL if there are none."""
        cdef const uint8_t[::1] flat = np.ascontiguousarray(array, dtype=number).reshape(-1).view(np.uint8)
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL


def couples_of(codes):
    """Return pairs of the numbers of relations that lead to the first and to the last child of the same node."""
    return [
        (r, codes.index([depth, RIGHT_CHILD]))
        for r, (depth, field) in enumerate(codes)
        if depth >= 0 and field == LEFT_CHILD and [depth, RIGHT_CHILD] in codes
    ]


# Words --------------------------------------------------------------------------------------------


cdef class SentenceWords:
    """The words of a sentence as the networks may know them: a candidate is a tag of a word."""

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.clear()

    cdef int clear(self) except -1 nogil:
        self.offsets.clear()
        self.candidates.clear()
        self.signature_rows.clear()
        self.inputs.clear()
        self.offsets.push_back(0)

    cdef void add(self, candidates):
        """Append words, as `NetworkVocabulary.candidates` describes them."""
        cdef const int32_t[::1] offsets = candidates.offsets, tags = candidates.tags, outcomes = candidates.outcomes
        cdef const float[::1] log_factors = candidates.log_factors
        cdef const uint8_t[::1] has_signatures = candidates.has_signatures
        cdef const int32_t[::1] signature_offsets = candidates.signature_offsets, signature_rows = candidates.signature_rows
        cdef int word, c, first_signature = <int>self.signature_rows.size()
        cdef Candidate new
        for c in range(signature_rows.shape[0]):
            self.signature_rows.push_back(signature_rows[c])
        for word in range(offsets.shape[0] - 1):
            for c in range(offsets[word], offsets[word + 1]):
                new.tag, new.outcome, new.log_factor, new.input = tags[c], outcomes[c], log_factors[c], NONE
                new.first_signature = first_signature + signature_offsets[word]
                new.end_signature = first_signature + signature_offsets[word + 1 if has_signatures[c] else word]
                self.candidates.push_back(new)
            self.offsets.push_back(<int32_t>self.candidates.size())

    cdef void copy_to(self, SentenceWords new):
        """Give another object these words."""
        copy(new.offsets, self.offsets)
        copy(new.candidates, self.candidates)
        copy(new.signature_rows, self.signature_rows)
        copy(new.inputs, self.inputs)

    cdef int compute_inputs(self, int candidate) except -1 nogil:
        """Compute the sums of the rows of a Shift, for each decision relation, unless they are there."""
        cdef const Model* n = self.model
        cdef size_t start = self.inputs.size()
        cdef Candidate* own
        cdef const float* weights
        cdef float* sums
        cdef int32_t rows[3]
        cdef int r
        if candidate == NONE or self.candidates[candidate].input != NONE:
            return 0
        self.inputs.resize(start + n.n_decisions * n.width)
        own = &self.candidates[candidate]
        own.input = <int32_t>(start / (n.n_decisions * n.width))
        rows[0], rows[1], rows[2] = SHIFT, n.n_actions + own.tag, own.outcome
        for r in range(n.n_decisions):
            sums, weights = &self.inputs[start + <size_t>r * n.width], n.decision_weights + <size_t>r * n.n_rows * n.width
            add_inputs(sums, weights, rows, 3, n.width)
            add_inputs(sums, weights, self.signature_rows.data() + own.first_signature,
                       own.end_signature - own.first_signature, n.width)


# Decisions ----------------------------------------------------------------------------------------


cdef class Scorer:
    """Decisions among ranges of outcomes by the means of a position.

    tolerance (float): residual of the equations for the means, where the approximation is "mean-field".
    """

    def __init__(self, Networks networks, float tolerance):
        cdef const Model* n = &networks.model
        self.networks, self.model, self.tolerance = networks, n, tolerance
        self.workspace.forcing = max(self.workspace.forcing, tolerance)
        self.workspace.negligible = max(self.workspace.negligible, MIN_SHARE * tolerance)
        self.logits.resize(n.max_outcomes)
        self.q.resize(3 * n.max_outcomes)
        self.spare_q.resize(n.max_outcomes)
        self.spare_means.resize(n.width)

    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil:
        cdef const NetworkTable* table
        cdef int k
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            sigmoid(means + table.start, theta + table.start, table.n_states)

    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil:
        """log P of each outcome of a range."""
        cdef const Model* n = self.model
        cdef float normaliser
        cdef int d
        if n.settles and n.n_networks == 1:
            normaliser = softmax(log_probabilities, &self.q[<size_t>stage * n.max_outcomes], means,
                                 choice_of(n.tables[0], first, end, allowed))
            for d in range(end - first):
                log_probabilities[d] -= normaliser
        else:
            self.add_all_logits(first, end, means, log_probabilities)
            self.to_logs(log_probabilities, end - first, allowed)

    cdef void to_logs(self, float* logits, int n, const uint8_t* allowed) noexcept nogil:
        """Make log P of n outcomes from their logits, -inf for those that are not allowed."""
        cdef float normaliser
        cdef int d
        if allowed != NULL:
            for d in range(n):
                if not allowed[d]:
                    logits[d] = -INFINITY
        memcpy(&self.logits[0], logits, n * sizeof(float))
        normaliser = log_sum_exp(&self.logits[0], n)
        for d in range(n):
            logits[d] -= normaliser

    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil:
        """log P of a word under its tag; leaves in `logits` what is proportional to P of all words of the tag."""
        cdef double logit
        self.add_all_logits(first, end, means, &self.logits[0])
        logit = self.logits[outcome - first]
        return logit - log_sum_exp(&self.logits[0], end - first)

    cdef void add_all_logits(self, int first, int end, const float* means, float* logits) noexcept nogil:
        """The mean of the networks' logits."""
        cdef const NetworkTable* table
        cdef int k
        memset(logits, 0, (end - first) * sizeof(float))
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            add_logits(logits, means + table.start, 1.0 / self.model.n_networks,
                       choice_of(table[0], first, end, NULL), &self.spare_q[0])

    cdef int update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                    const float* means) except -1 nogil:
        """Change theta by a decision among a range, which was taken by these means."""
        cdef const Model* n = self.model
        cdef Choice choice
        cdef const NetworkTable* table
        cdef int k
        for k in range(n.n_networks):
            table = &n.tables[k]
            if table.approximation == FEED_FORWARD:
                continue
            choice = choice_of(table[0], first, end, allowed)
            if n.n_networks > 1:
                softmax(&self.logits[0], &self.spare_q[0], means + table.start, choice)
            else:
                memcpy(&self.spare_q[0], &self.q[<size_t>stage * n.max_outcomes], (end - first) * sizeof(float))
            self.workspace.fit(choice)
            if table.approximation == MEAN_FIELD_STEP:
                step(theta + table.start, &self.spare_q[0], choice, chosen - first, self.workspace)
            else:
                memcpy(&self.spare_means[0], means + table.start, table.width * sizeof(float))
                settle(theta + table.start, &self.spare_means[0], &self.logits[0], &self.spare_q[0], choice,
                       chosen - first, self.tolerance, self.workspace)


cdef Choice choice_of(const NetworkTable& table, int first, int end, const uint8_t* allowed) noexcept nogil:
    cdef Choice choice
    choice.weights = table.outcome_weights + <size_t>first * table.width
    choice.biases = table.outcome_bias + first
    choice.allowed = allowed
    choice.n_outcomes, choice.n_states = end - first, table.n_states
    return choice
