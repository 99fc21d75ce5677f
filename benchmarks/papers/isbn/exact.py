"""Exact inference in small dynamic sigmoid belief networks, and Gibbs sampling: what the approximations are held to.

A network of N units is a hidden Markov model of 2**N states, the values of its state vector. State `s` has in unit `i`
the bit `i` of the number `s`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_softmax, logsumexp

from benchmarks.papers.isbn.simulation import END, DynamicSBN, Sequences

MOST_STATES = 8
"""Units of the largest network that this is done for: tables have 4**N entries for every label and input."""


class Tables:
    """The distributions of a network over its S = 2**N states, L labels and X inputs, as logarithms.

    log_initial (float64, (S,)): Of the first state.
    log_transition (float64, (L, X, S, S)): Of the next state (last axis) by label, input and state.
    log_emission (float64, (S, L, X)): Of the label and the input of a state.
    RAISES (ValueError): If the network has more than `MOST_STATES` units.
    """

    def __init__(self, model: DynamicSBN):
        if model.n_states > MOST_STATES:
            raise ValueError(f"Expected at most {MOST_STATES} units for exact inference, got {model.n_states}.")
        bits = all_states(model.n_states)
        eta = model.bias + bits @ model.latent.T + model.from_label[:, None, None] + model.from_input[:, None]
        log_labels = log_softmax(bits @ model.to_label.T + model.to_label_bias, axis=1)
        log_inputs = log_softmax(np.einsum("sj,lxj->slx", bits, model.to_input) + model.to_input_bias, axis=2)
        self.log_initial = _log_bernoulli(model.bias, bits)
        self.log_transition = _log_bernoulli(eta, bits)
        self.log_emission = log_labels[:, :, None] + log_inputs


def all_states(n: int) -> np.ndarray:
    """The values of a vector of binary units, float64 (2**n, n)."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def _log_bernoulli(eta: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """log P(s) of every state by the log-odds (..., N) of its units: (..., S)."""
    return eta @ bits.T - np.logaddexp(0, eta).sum(axis=-1, keepdims=True)


class ExactFilter:
    """The exact distribution of the next element given all earlier ones; a `labelling.Filter`.

    A belief is P(state | earlier labels and inputs), float64 (S,).
    """

    def __init__(self, model: DynamicSBN):
        tables = Tables(model)
        self.initial = np.exp(tables.log_initial)
        self.transition = np.exp(tables.log_transition)
        self.emission = np.exp(tables.log_emission)

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
        for rows, label, input_ in _groups(labels, inputs):
            after[rows] = weights[rows] @ self.transition[label, input_]
        return after


def _groups(labels: np.ndarray, inputs: np.ndarray) -> list[tuple[np.ndarray, int, int]]:
    """Rows with the same label and input."""
    pairs, which = np.unique(np.stack([labels, inputs]), axis=1, return_inverse=True)
    return [(np.flatnonzero(which.ravel() == i), int(y), int(x)) for i, (y, x) in enumerate(pairs.T)]


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


def gibbs_posteriors(
    model: DynamicSBN, sequences: Sequences, *, burn_in: int = 200, sweeps: int = 1000, seed: int = 0
) -> np.ndarray:
    """P(label of an element | all inputs of its sequence, and its length), by Gibbs sampling.

    A sweep draws every unit of the state vectors of even places, then of odd ones, which are independent given the even
    ones, then all labels, given everything else each. Averaged is the distribution that a label was drawn from.

    burn_in (int): Sweeps that do not count.
    sweeps (int): That count, one or more.
    seed (int): The same one gives the same result.
    RETURNS (float64, (n_elements, L)): Rows sum to 1.
    """
    sampler = _Gibbs(model, sequences, np.random.default_rng(seed))
    for _ in range(burn_in):
        sampler.sweep()
    total = sampler.sweep()
    for _ in range(sweeps - 1):
        total += sampler.sweep()
    return total / sweeps


class _Gibbs:
    """State vectors and labels of all elements, and tables of what they are drawn from.

    Row `(label * X + input) * S + state` of `before` has the log-probabilities of the state after these, and the last
    row those of the first state; row `(label * X + input) * (S + 1) + next state` of `after` has those of the next
    state by state, where next state S stands for none; `given_both` are the distributions of labels, by input, state
    and next state.
    """

    def __init__(self, model: DynamicSBN, sequences: Sequences, rng: np.random.Generator):
        tables = Tables(model)
        n_labels, n_inputs, n_states, _ = tables.log_transition.shape
        self.sizes = n_inputs, n_states
        self.n_units, self.inputs, self.rng = model.n_states, sequences.inputs, rng
        self.before = np.concatenate([tables.log_transition.reshape(-1, n_states), tables.log_initial[None]])
        end = np.zeros((n_labels, n_inputs, 1, n_states))
        emission = tables.log_emission.transpose(1, 2, 0)
        after = np.concatenate([tables.log_transition.transpose(0, 1, 3, 2), end], axis=2) + emission[:, :, None]
        self.after = after.reshape(-1, n_states)
        self.given_both = _label_distributions(after)
        self._place(sequences, model.max_length)
        self.labels = np.where(self.is_free, rng.integers(END + 1, n_labels, size=len(self.inputs)), END)
        self.states = np.append(rng.integers(n_states, size=len(self.inputs)), n_states)

    def _place(self, sequences: Sequences, max_length: int) -> None:
        """Find the elements with neighbours, those with several possible labels, and the two halves of a sweep."""
        index = np.arange(len(self.inputs)) - np.repeat(sequences.offsets[:-1], sequences.lengths)
        last = sequences.offsets[1:] - 1
        self.is_first = index == 0
        self.next = np.arange(len(self.inputs)) + 1
        self.next[last] = len(self.inputs)
        self.is_free = np.ones(len(self.inputs), bool)
        self.is_free[last] = sequences.lengths == max_length
        self.halves = [np.flatnonzero(index % 2 == parity) for parity in (0, 1)]

    def sweep(self) -> np.ndarray:
        """Draw all once; the distributions that the labels were drawn from, (n_elements, L)."""
        for half in self.halves:
            self._draw_states(half)
        _, n_states = self.sizes
        row = (self.inputs * n_states + self.states[:-1]) * (n_states + 1) + self.states[self.next]
        chances = self.given_both[row]
        chances[~self.is_free] = np.eye(chances.shape[1])[END]
        cumulative = np.cumsum(chances, axis=1)
        cumulative[:, -1] = 1.0
        self.labels = np.sum(self.rng.random((len(row), 1)) >= cumulative, axis=1)
        return chances

    def _draw_states(self, half: np.ndarray) -> None:
        """Units of elements none of which is beside another."""
        n_inputs, n_states = self.sizes
        pair = self.labels * n_inputs + self.inputs
        row = np.where(self.is_first[half], len(self.before) - 1, (pair * n_states + self.states[:-1])[half - 1])
        log_weights = self.before[row]
        log_weights += self.after[pair[half] * (n_states + 1) + self.states[self.next[half]]]
        states, each = self.states[half], np.arange(len(half))
        chances = self.rng.random((self.n_units, len(half)))
        for unit, chance in enumerate(chances):
            off, on = states & ~(1 << unit), states | (1 << unit)
            odds = log_weights[each, on] - log_weights[each, off]
            states = np.where(chance < expit(odds), on, off)
        self.states[half] = states


def _label_distributions(after: np.ndarray) -> np.ndarray:
    """Distributions of labels by input, state and next state (S for none), (X * S * (S + 1), L).

    after (float64, (L, X, S + 1, S)): log P(label, input, next state | state).
    """
    log_joint = after.transpose(1, 3, 2, 0).copy()
    log_joint[:, :, :-1, END] = -np.inf
    log_joint -= logsumexp(log_joint, axis=-1, keepdims=True)
    return np.exp(log_joint).reshape(-1, len(after))
