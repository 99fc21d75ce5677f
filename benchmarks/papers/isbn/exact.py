"""Exact inference in small dynamic sigmoid belief networks: what the approximations are held to.

A network of N units is a hidden Markov model of 2**N states, the values of its state vector. State `s` has in unit `i`
the bit `i` of the number `s`. N must be small: tables have 4**N entries for every label and input.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from benchmarks.papers.isbn.simulation import END, DynamicSBN, Sequences


def _log_bernoulli(eta: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """log P(s) of every state by the log-odds (..., N) of its units: (..., S)."""
    return eta @ bits.T - np.logaddexp(0, eta).sum(axis=-1, keepdims=True)


class ExactFilter:
    """The exact distribution of the next element given all earlier ones; a `labelling.Filter`.

    A belief is P(state | earlier labels and inputs), float64 (S,), of the S = 2**N states.

    initial (float64, (S,)): Probabilities of the first state.
    transition (float64, (L, X, S, S)): Of the next state (last axis) by label, input and state.
    emission (float64, (S, L, X)): Of the label and the input of a state.
    """

    def __init__(self, model: DynamicSBN):
        bits = (np.arange(2**model.n_states)[:, None] >> np.arange(model.n_states) & 1).astype(float)
        eta = model.bias + bits @ model.latent.T + model.from_label[:, None, None] + model.from_input[:, None]
        log_labels = log_softmax(bits @ model.to_label.T + model.to_label_bias, axis=1)
        log_inputs = log_softmax(np.einsum("sj,lxj->slx", bits, model.to_input) + model.to_input_bias, axis=2)
        self.initial = np.exp(_log_bernoulli(model.bias, bits))
        self.transition = np.exp(_log_bernoulli(eta, bits))
        self.emission = np.exp(log_labels[:, :, None] + log_inputs)

    def start(self, n: int) -> np.ndarray:
        """Beliefs before the first elements of n sequences, (n, S)."""
        return np.tile(self.initial, (n, 1))

    def scores(self, beliefs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """log P(label, input | earlier ones) for all labels, (n, L)."""
        return np.log(np.einsum("ns,sln->nl", beliefs, self.emission[:, :, inputs]))

    def advance(self, beliefs: np.ndarray, labels: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Beliefs after an element was seen, (n, S)."""
        weights = beliefs * self.emission[:, labels, inputs].T
        weights /= weights.sum(axis=1, keepdims=True)
        after = np.empty_like(weights)
        for label, input_ in set(zip(labels.tolist(), inputs.tolist(), strict=True)):
            rows = (labels == label) & (inputs == input_)
            after[rows] = weights[rows] @ self.transition[label, input_]
        return after


def posteriors(model: DynamicSBN, sequences: Sequences) -> np.ndarray:
    """P(label of an element | all inputs of its sequence, and its length), by forward and backward passes.

    RETURNS (float64, (n_elements, L)): Rows sum to 1.
    """
    filter_ = ExactFilter(model)
    transition, emission = filter_.transition, filter_.emission
    legal = sequences.legal(model.n_labels, model.max_length).astype(float)
    forward = np.empty((len(sequences.labels), len(filter_.initial)))
    beliefs = filter_.start(len(sequences.lengths))
    inner = np.einsum("slx,lxst->xst", emission[:, END + 1 :], transition[END + 1 :])
    for column in sequences.columns:
        forward[column] = beliefs = beliefs[: len(column)]
        beliefs = np.einsum("ns,nst->nt", beliefs, inner[sequences.inputs[column]])
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    values = np.empty_like(legal)
    backward = np.ones((0, len(filter_.initial)))
    for column in reversed(sequences.columns):
        inputs = sequences.inputs[column]
        backward = np.concatenate([backward, np.ones((len(column) - len(backward), len(filter_.initial)))])
        ahead = _ahead(transition, inputs, backward) * emission[:, :, inputs].transpose(2, 0, 1)
        ahead = ahead * legal[column][:, None]
        joint = np.einsum("ns,nsl->nl", forward[column], ahead)
        values[column] = joint / joint.sum(axis=1, keepdims=True)
        backward = ahead.sum(axis=2)
        backward /= backward.sum(axis=1, keepdims=True)
    return values


def _ahead(transition: np.ndarray, inputs: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Return the sum over next states of transition times `backward` (n, S), by state and label, (n, S, L)."""
    values = np.empty((len(inputs), transition.shape[2], len(transition)))
    for input_ in np.unique(inputs):
        rows = inputs == input_
        values[rows] = np.einsum("lst,nt->nsl", transition[:, input_], backward[rows], optimize=True)
    return values
