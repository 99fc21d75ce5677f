"""Random dynamic sigmoid belief networks and label sequences drawn from them.

The generative story of section 7.1 of Henderson and Titov (2010): a state vector S of binary units gives a label Y,
both give an input element X, and all three give the next state vector, until a label 0 or the greatest length. Such a
network is an incremental one with one latent relation and one decision relation, both to the previous position, and two
elementary decisions a position.

Differs: the paper does not say how it draws its networks, nor what distribution the first state vector has. Here all
parameters are normal with mean 0 and one standard deviation, and the first state vector is a position without previous
one: its units have their biases alone.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax

END = 0
"""The label that ends a sequence."""

BATCH = 256
"""Sequences that are drawn at once."""


class DynamicSBN(NamedTuple):
    """Parameters of a dynamic sigmoid belief network over N units, L labels and X inputs. All arrays are float64.

    bias (N,): Of the units.
    latent (N, N): To each unit from those of the previous state vector; J in the paper.
    from_label (L, N): From the previous label to the units; B.
    from_input (X, N): From the previous input to the units; B.
    to_label (L, N): From the units to the labels; W.
    to_label_bias (L,): Of the labels.
    to_input (L, X, N): From the units to the inputs, where the label is known; W of the second decision.
    to_input_bias (L, X): Of the inputs.
    max_length (int): At which a sequence ends with any label.
    """

    bias: np.ndarray
    latent: np.ndarray
    from_label: np.ndarray
    from_input: np.ndarray
    to_label: np.ndarray
    to_label_bias: np.ndarray
    to_input: np.ndarray
    to_input_bias: np.ndarray
    max_length: int = 100

    @classmethod
    def random(
        cls,
        *,
        n_states: int = 5,
        n_labels: int = 6,
        n_inputs: int = 8,
        max_length: int = 100,
        scale: float = 1.5,
        has_edges: bool = True,
        seed: int = 0,
    ) -> DynamicSBN:
        """With parameters drawn from a normal distribution.

        n_states (int): N, the units of a state vector.
        n_labels (int): With the one that ends a sequence; two or more.
        n_inputs (int): Distinct input elements.
        max_length (int): Of a sequence.
        scale (float): Standard deviation of every parameter.
        has_edges (bool): Whether labels and inputs have edges to the next state vector; else their weights are 0.
        seed (int): The same one gives the same network.
        """
        drawn = partial(np.random.default_rng(seed).normal, 0.0, scale)
        return cls(
            bias=drawn(n_states),
            latent=drawn((n_states, n_states)),
            from_label=has_edges * drawn((n_labels, n_states)),
            from_input=has_edges * drawn((n_inputs, n_states)),
            to_label=drawn((n_labels, n_states)),
            to_label_bias=drawn(n_labels),
            to_input=drawn((n_labels, n_inputs, n_states)),
            to_input_bias=drawn((n_labels, n_inputs)),
            max_length=max_length,
        )

    @property
    def n_states(self) -> int:
        return len(self.bias)

    @property
    def n_labels(self) -> int:
        return len(self.from_label)

    @property
    def n_inputs(self) -> int:
        return len(self.from_input)

    def sample(self, n_elements: int, *, seed: int = 0) -> Sequences:
        """Whole sequences, of as few as give the number of elements or more.

        n_elements (int): One or more.
        seed (int): The same one gives the same sequences.
        """
        rng = np.random.default_rng(seed)
        parts = [_draw(self, BATCH, rng)]
        while sum(len(part.labels) for part in parts) < n_elements:
            parts.append(_draw(self, BATCH, rng))
        ends = np.cumsum(np.concatenate([part.lengths for part in parts]))
        offsets = np.concatenate([[0], ends[: np.searchsorted(ends, n_elements) + 1]])
        labels, inputs = (np.concatenate([getattr(part, name) for part in parts]) for name in ("labels", "inputs"))
        return Sequences(offsets, labels[: offsets[-1]], inputs[: offsets[-1]])


class Sequences:
    """Labelled sequences as flat arrays.

    offsets (int64, (n_sequences + 1,)): Where each begins; none is empty.
    labels (int64, (n_elements,)): Of the elements.
    inputs (int64, (n_elements,)): What is seen of them.
    """

    def __init__(self, offsets: np.ndarray, labels: np.ndarray, inputs: np.ndarray):
        self.offsets, self.labels, self.inputs = offsets, labels, inputs

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the sequences, int64 (n_sequences,)."""
        return np.diff(self.offsets)

    @cached_property
    def columns(self) -> list[np.ndarray]:
        """Element numbers by place: `columns[t]` are the t-th elements of those sequences that have one.

        The order of sequences is the same in all columns, the longest first, so that a shorter column is one of the
        first sequences.
        """
        order = np.argsort(-self.lengths, kind="stable")
        starts, lengths = self.offsets[:-1][order], self.lengths[order]
        return [starts[lengths > t] + t for t in range(int(lengths[0]))]

    def legal(self, n_labels: int, max_length: int) -> np.ndarray:
        """Labels that the lengths of the sequences allow, bool (n_elements, n_labels).

        The label 0 is that of the last element of a sequence which is shorter than the greatest length, and there the
        only one; the last element of a sequence of that length may have any.
        """
        allowed = np.ones((len(self.labels), n_labels), bool)
        allowed[:, END] = False
        last = self.offsets[1:] - 1
        is_short = self.lengths < max_length
        allowed[last] = True
        allowed[last[is_short], END + 1 :] = False
        return allowed


def _draw(model: DynamicSBN, n: int, rng: np.random.Generator) -> Sequences:
    """A number of sequences, element by element."""
    labels = np.full((n, model.max_length), -1)
    inputs = np.zeros_like(labels)
    eta, alive = np.tile(model.bias, (n, 1)), np.arange(n)
    for t in range(model.max_length):
        states = (rng.random(eta.shape) < expit(eta)).astype(float)
        y = _choose(states @ model.to_label.T + model.to_label_bias, rng)
        x = _choose(np.einsum("nxj,nj->nx", model.to_input[y], states) + model.to_input_bias[y], rng)
        labels[alive, t], inputs[alive, t] = y, x
        eta = model.bias + states @ model.latent.T + model.from_label[y] + model.from_input[x]
        eta, alive = eta[y != END], alive[y != END]
    is_there = labels >= 0
    offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
    return Sequences(offsets, labels[is_there], inputs[is_there])


def _choose(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """From each row of scores one column, with the probability that the exponentials of its scores give it."""
    cumulative = np.cumsum(np.exp(log_softmax(scores, axis=1)), axis=1)
    return np.sum(rng.random((len(scores), 1)) * cumulative[:, -1:] >= cumulative, axis=1)
