"""Training of a network with stochastic gradient ascent on the likelihood: single steps, and whole runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.isbn._adam import AdamTable, Schedule
from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.likelihood import Sweep, check, draw_keep, log_likelihoods, pad, unpad
from spacy_lpcfg.isbn.network import BIASES, Network

_AT_HAND = 50  # batches that are selected together, since the time to select grows with what is selected from


class Epoch(NamedTuple):
    """The record of an epoch: one pass over the training sequences.

    number (int): Number of the epoch, from 1.
    log_likelihood (float): Log-likelihood of all sequences in nats, under dropout and before the step of each batch.
    dev (float): Log-likelihood of the held-out sequences in nats, under the averaged weights; nan if there are none.
    seconds (float): CPU seconds of this process, excluding the evaluation of held-out sequences.
    """

    number: int
    log_likelihood: float
    dev: float
    seconds: float


class Training:
    """The state of a network in training, with Adam, weight decay, dropout and weight averaging.

    network (Network): The initial network.
    settings (Trainer): Settings of dropout, weight decay, averaging, seed and threads; other settings are ignored.
    rates (float64, (n_steps,)): Learning rate of each step.
    """

    def __init__(self, network: Network, settings: Trainer, rates: np.ndarray) -> None:
        parameters = pad(network.parameters)
        self.start, self.settings = network, settings
        self.n_steps = 0
        decaying, lasting = (Schedule(rates, decay, settings.averaging) for decay in (settings.weight_decay, 0.0))
        self._tables, self._weights, self._gradients = {}, {}, {}
        for name, array in parameters.items():
            values = array.reshape(1 if name in BIASES else -1, array.shape[-1]).copy()
            table = self._tables[name] = AdamTable(values, lasting if name in BIASES else decaying)
            self._weights[name], self._gradients[name] = (x.reshape(array.shape) for x in (values, table.gradient))

    def step(self, batch: DecisionEvents) -> float:
        """Take a step along the gradient of the log-likelihood of a batch.

        batch (DecisionEvents): Sequences that `likelihood.check` accepted.
        RETURNS (float): The log-likelihood of the batch in nats before the step, under dropout.
        """
        rng = np.random.default_rng([self.settings.seed, self.n_steps])
        keep = draw_keep(rng, batch.n_positions, self.start.n_states, self.settings.dropout)
        sweep = Sweep(batch, self._weights, self.start.approximation, self.start.n_states, keep)
        touched = self._touched(batch, sweep.ranges)
        for name, rows in touched.items():
            self._tables[name].fetch(rows, self.n_steps)
        log_likelihood = float(sweep.gradient(self._gradients, self.settings.n_jobs).sum())
        self.n_steps += 1
        for name, rows in touched.items():
            self._tables[name].step(rows, self.n_steps)
        return log_likelihood

    def network(self) -> Network:
        """Return the network with the exponential moving average of the weights so far."""
        averages = {}
        for name, table in self._tables.items():
            table.fetch(np.arange(len(table.weights)), self.n_steps)
            averages[name] = table.averages.reshape(self._weights[name].shape).copy()
        return self.start.of(unpad(averages, self.start.n_states))

    def _touched(self, events: DecisionEvents, ranges: np.ndarray) -> dict[str, np.ndarray]:
        """Return, for each parameter array, the rows that a step on these events and ranges of outcomes reads."""
        touched = {name: np.arange(len(table.weights)) for name, table in self._tables.items()}
        outcomes = [np.arange(first, end) for first, end in ranges.tolist()]
        used = {"decision_weights": events.rows, "outcome_weights": np.concatenate([np.zeros(0, dtype=int), *outcomes])}
        return touched | {name: _distinct(rows, len(touched[name])) for name, rows in used.items()}


@dataclass(frozen=True)
class Trainer:
    """Settings of training, and the training loop.

    n_epochs (int): Number of passes over the sequences.
    batch_size (int): Number of sequences in a step.
    learn_rate (float): Learning rate of Adam at the first step, with cosine decay to 0.
    dropout (float): Probability that the mean of a unit is passed on as 0 along latent edges.
    weight_decay (float): L2 penalty of each step: this times half the sum of the squared weights, without biases.
    averaging (float): Decay of the exponential moving average of the weights, smaller in the first steps; 0 for none.
    seed (int): Seed of the order of the sequences, and of dropout.
    n_jobs (int): Number of threads, which does not change the result.
    """

    n_epochs: int
    batch_size: int
    learn_rate: float
    dropout: float = 0.0
    weight_decay: float = 0.0
    averaging: float = 0.999
    seed: int = 0
    n_jobs: int = 1

    def fit(
        self,
        network: Network,
        events: DecisionEvents,
        *,
        dev: DecisionEvents | None = None,
        on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    ) -> Network:
        """Train a network; return its averaged weights after the best epoch on `dev`, or the last one without `dev`.

        network (Network): The initial network.
        events (DecisionEvents), dev (DecisionEvents or None): Training and held-out sequences.
        on_epoch (callable): Called with an `Epoch` after each epoch.
        RAISES (ValueError): If the events do not match the network.
        """
        check(events, network.parameters)
        rng, training = np.random.default_rng(self.seed), self.start(network, events.n_sequences)
        best, best_dev, clock = network, -np.inf, time.process_time()
        for number in range(1, self.n_epochs + 1):
            log_likelihood = sum(training.step(batch) for batch in self._batches(rng, events))
            seconds, dev_now = time.process_time() - clock, float("nan")
            if dev is not None and dev.n_sequences:
                averaged = training.network()
                dev_now = float(log_likelihoods(averaged, dev, n_jobs=self.n_jobs).sum())
                if not dev_now <= best_dev:
                    best, best_dev = averaged, dev_now
            on_epoch(Epoch(number, log_likelihood, dev_now, seconds))
            clock = time.process_time()
        return training.network() if best_dev == -np.inf else best

    def start(self, network: Network, n_sequences: int) -> Training:
        """Create the training state before the first step, with a learning rate for each step.

        network (Network): The initial network.
        n_sequences (int): Number of training sequences, from which the number of steps follows.
        """
        n_steps = self.n_epochs * -(-n_sequences // self.batch_size)
        return Training(network, self, self.learn_rate * (1 + np.cos(np.pi * np.arange(n_steps) / n_steps)) / 2)

    def _batches(self, rng: np.random.Generator, events: DecisionEvents) -> Iterator[DecisionEvents]:
        """Yield all sequences in random order, `batch_size` at a time."""
        order, at_hand = rng.permutation(events.n_sequences), _AT_HAND * self.batch_size
        for first in range(0, len(order), at_hand):
            selected = events.select(order[first : first + at_hand])
            for start in range(0, selected.n_sequences, self.batch_size):
                yield selected.select(np.arange(start, min(start + self.batch_size, selected.n_sequences)))


def _distinct(numbers: np.ndarray, n: int) -> np.ndarray:
    """Return the sorted distinct values of integers from 0 to n - 1."""
    occurs = np.zeros(n, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs)
