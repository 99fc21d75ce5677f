"""Stochastic gradient ascent of a network's likelihood, a step at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.isbn._adam import Schedule, Table
from spacy_lpcfg.isbn.events import Events
from spacy_lpcfg.isbn.likelihood import Sweep, check, draw_keep, pad, unpad
from spacy_lpcfg.isbn.network import Network

_BIASES = ("bias", "outcome_bias")


class Training:
    """A network that learns from sequences, by Adam with weight decay, dropout and an average of the weights.

    network (Network): to begin with.
    events (Events): the sequences.
    rates (float64, (n_steps,)): of learning, at each step that will be.
    weight_decay (float): what a step takes from the weights, but not from biases, is this times its rate.
    averaging (float): share of itself that the average of the weights keeps at a step; less at the first steps; 0 for
        no average.
    dropout (float): probability that latent relations pass the mean of a unit of a position as 0.
    seed (int): of dropout.
    n_jobs (int): threads; the result is the same for any number.
    RAISES (ValueError): If the events do not fit the network.
    """

    def __init__(
        self,
        network: Network,
        events: Events,
        *,
        rates: np.ndarray,
        weight_decay: float = 0.0,
        averaging: float = 0.999,
        dropout: float = 0.0,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        parameters = pad(network.parameters)
        check(events, parameters)
        self.start, self.events, self.dropout, self.seed, self.n_jobs = network, events, dropout, seed, n_jobs
        self.n_steps = 0
        decaying, lasting = (Schedule(rates, decay, averaging) for decay in (weight_decay, 0.0))
        self._tables, self._weights, self._gradients = {}, {}, {}
        for name, array in parameters.items():
            values = array.reshape(1 if name in _BIASES else -1, array.shape[-1]).copy()
            table = self._tables[name] = Table(values, lasting if name in _BIASES else decaying)
            self._weights[name], self._gradients[name] = (x.reshape(array.shape) for x in (values, table.gradient))

    def step(self, sequences: Sequence[int] | np.ndarray) -> float:
        """Up the gradient of the log-likelihood of some sequences; the log-likelihood before, under dropout."""
        some = self.events.select(sequences)
        touched = self._touched(some)
        for name, rows in touched.items():
            self._tables[name].fetch(rows, self.n_steps)
        rng = np.random.default_rng([self.seed, self.n_steps])
        keep = draw_keep(rng, some.n_positions, self.start.n_states, self.dropout)
        sweep = Sweep(some, self._weights, self.start.approximation, self.start.n_states, keep)
        log_likelihood = float(sweep.gradient(self._gradients, self.n_jobs).sum())
        self.n_steps += 1
        for name, rows in touched.items():
            self._tables[name].step(rows, self.n_steps)
        return log_likelihood

    def network(self) -> Network:
        """The network of the average of the weights so far."""
        averages = {}
        for name, table in self._tables.items():
            table.fetch(np.arange(len(table.weights)), self.n_steps)
            averages[name] = table.averages.reshape(self._weights[name].shape)
        return self.start.of(unpad(averages, self.start.n_states))

    def _touched(self, events: Events) -> dict[str, np.ndarray]:
        """The rows of each table that a step on some events uses."""
        touched = {name: np.arange(len(table.weights)) for name, table in self._tables.items()}
        touched["decision_weights"] = _distinct(events.rows, len(self._weights["decision_weights"]))
        ranges = np.unique(events.choices[:, :2], axis=0).tolist()
        outcomes = [np.arange(first, end) for first, end in ranges]
        touched["outcome_weights"] = _distinct(np.concatenate(outcomes), len(self._weights["outcome_weights"]))
        return touched


def _distinct(numbers: np.ndarray, n: int) -> np.ndarray:
    """The numbers that occur, of those below n, in order."""
    occurs = np.zeros(n, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs)
