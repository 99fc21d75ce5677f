"""The parameters of an ISBN as the search reads them.

The networks of an ensemble stand side by side in every vector: only their products and their means are apart.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t

from spacy_lpcfg.isbn.normalizers import normalizers_of
from spacy_lpcfg.isbn.search._types cimport FEED_FORWARD, LEFT_CHILD, RIGHT_CHILD, Model, NetworkTable

cdef extern from "mean_field.h" namespace "isbn" nogil:
    int padded(int n_states)


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
        m.masks, m.word_offsets = self.bytes(vocabulary.masks), self.integers(offsets)
        couples = couples_of(latent.tolist())
        self.number_relations(latent, decisions)
        m.couples, m.n_couples, m.n_products = self.integers(couples), len(couples), m.n_latent + len(couples)
        padded_networks = [_Padded(network, couples) for network in isbn.networks]
        for network in padded_networks:
            self.tables.push_back(self.table(network))
        m.tables, m.n_networks = self.tables.data(), len(isbn.networks)
        m.bias = self.floats(np.concatenate([network.bias for network in padded_networks]))
        self.read_normalizers(normalizers_of(isbn), padded_networks)
        rows = [network.decision_weights.reshape(m.n_decisions, m.n_rows, -1) for network in padded_networks]
        m.action_rows = self.floats(np.concatenate([each[:, : m.n_actions] for each in rows], axis=2))

    cdef void number_relations(self, latent, decisions):
        cdef Model* m = &self.model
        fields = sorted({field for depth, field in latent.tolist() if depth >= 0})
        m.latent, m.n_latent = self.integers(latent), len(latent)
        m.decisions, m.n_decisions = self.integers(decisions), len(decisions)
        m.fields, m.n_fields = self.integers(fields), len(fields)

    cdef read_normalizers(self, normalizers, padded_networks):
        cdef Model* m = &self.model
        ends = np.cumsum([1] + [network.n_states for network in padded_networks])
        parts = np.split(normalizers, ends[:-1], axis=1)
        m.intercepts = self.floats(parts[0])
        m.slopes = self.floats(np.hstack([each.with_padding(part) for each, part in zip(padded_networks, parts[1:])]))

    cdef NetworkTable table(self, network):
        cdef NetworkTable table
        table.n_states, table.width, table.approximation = network.n_states, network.width, network.approximation
        table.start = self.model.width
        table.latent_weights = self.floats(network.latent_weights)
        table.decision_weights = self.floats(network.decision_weights)
        table.outcome_weights = self.floats(network.outcome_weights)
        table.outcome_bias = self.floats(network.outcome_bias)
        self.model.width += table.width
        self.model.settles |= table.approximation != FEED_FORWARD
        return table

    cdef const float* floats(self, array):
        cdef const float[::1] flat = np.ascontiguousarray(array, dtype=np.float32).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL

    cdef const int32_t* integers(self, array):
        cdef const int32_t[::1] flat = np.ascontiguousarray(array, dtype=np.int32).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL

    cdef const uint8_t* bytes(self, array):
        cdef const uint8_t[::1] flat = np.ascontiguousarray(array, dtype=np.uint8).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL


def couples_of(codes):
    """The numbers of each two relations that lead to the first and to the last child of the same node."""
    return [
        (r, codes.index([depth, RIGHT_CHILD]))
        for r, (depth, field) in enumerate(codes)
        if depth >= 0 and field == LEFT_CHILD and [depth, RIGHT_CHILD] in codes
    ]


class _Padded:
    """A network's parameters with rows padded to `width`; also the sums of the matrices of couples of relations."""

    def __init__(self, network, couples):
        latent = network.latent_weights
        sums = [latent[r] + latent[s] for r, s in couples]
        self.n_states = network.n_states
        self.width = padded(network.n_states)
        self.approximation = ["feed-forward", "mean-field-step", "mean-field"].index(network.approximation)
        self.latent_weights = self.with_padding(np.concatenate([latent, np.array(sums).reshape(-1, *latent.shape[1:])]))
        self.decision_weights = self.with_padding(network.decision_weights)
        self.outcome_weights = self.with_padding(network.outcome_weights)
        self.bias, self.outcome_bias = self.with_padding(network.bias), network.outcome_bias

    def with_padding(self, array):
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, self.width - self.n_states)])
