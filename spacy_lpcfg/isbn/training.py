"""Training of a network by stochastic gradient ascent of the likelihood: single steps, and whole runs."""

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

_AT_HAND = 50  # batches that are selected together: selecting takes time in proportion to what it selects from


class Training:
    """A network that learns from sequences, by Adam with weight decay, dropout and an average of the weights.

    network (Network): to begin with.
    rates (float64, (n_steps,)): learning rate of each step.
    weight_decay (float): a step maximises the log-likelihood of its sequences less half of this times the squares of
        all weights but the biases.
    averaging (float): share of itself that the average of the weights keeps at a step; less at the first steps; 0 for
        no average.
    dropout (float): probability that latent relations pass the mean of a unit of a position as 0.
    seed (int): of dropout.
    n_jobs (int): threads; the result is the same for any number.
    """

    def __init__(
        self,
        network: Network,
        *,
        rates: np.ndarray,
        weight_decay: float = 0.0,
        averaging: float = 0.999,
        dropout: float = 0.0,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        parameters = pad(network.parameters)
        self.start, self.dropout, self.seed, self.n_jobs = network, dropout, seed, n_jobs
        self.n_steps = 0
        decaying, lasting = (Schedule(rates, decay, averaging) for decay in (weight_decay, 0.0))
        self._tables, self._weights, self._gradients = {}, {}, {}
        for name, array in parameters.items():
            values = array.reshape(1 if name in BIASES else -1, array.shape[-1]).copy()
            table = self._tables[name] = AdamTable(values, lasting if name in BIASES else decaying)
            self._weights[name], self._gradients[name] = (x.reshape(array.shape) for x in (values, table.gradient))

    def step(self, some: DecisionEvents) -> float:
        """Take a step up the gradient of the log-likelihood of some sequences.

        some (DecisionEvents): checked by `likelihood.check`.
        RETURNS (float): the log-likelihood before the step, under dropout.
        """
        rng = np.random.default_rng([self.seed, self.n_steps])
        keep = draw_keep(rng, some.n_positions, self.start.n_states, self.dropout)
        sweep = Sweep(some, self._weights, self.start.approximation, self.start.n_states, keep)
        touched = self._touched(some, sweep.plan.ranges)
        for name, rows in touched.items():
            self._tables[name].fetch(rows, self.n_steps)
        log_likelihood = float(sweep.gradient(self._gradients, self.n_jobs).sum())
        self.n_steps += 1
        for name, rows in touched.items():
            self._tables[name].step(rows, self.n_steps)
        return log_likelihood

    def network(self) -> Network:
        """The network with the average of the weights so far."""
        averages = {}
        for name, table in self._tables.items():
            table.fetch(np.arange(len(table.weights)), self.n_steps)
            averages[name] = table.averages.reshape(self._weights[name].shape).copy()
        return self.start.of(unpad(averages, self.start.n_states))

    def _touched(self, events: DecisionEvents, ranges: np.ndarray) -> dict[str, np.ndarray]:
        """The rows of each table that a step on some events uses, which decide over these ranges of outcomes."""
        touched = {name: np.arange(len(table.weights)) for name, table in self._tables.items()}
        outcomes = [np.arange(first, end) for first, end in ranges.tolist()]
        used = {"decision_weights": events.rows, "outcome_weights": np.concatenate([np.zeros(0, dtype=int), *outcomes])}
        return touched | {name: _distinct(rows, len(touched[name])) for name, rows in used.items()}


class Epoch(NamedTuple):
    """Log-likelihoods and time of one pass over the sequences.

    number (int): from 1 on.
    log_likelihood (float): of all sequences, each as it came, under dropout.
    dev (float): of the held-out sequences under the average of the weights; nan if there are none.
    seconds (float): CPU seconds of this process, those on held-out sequences not counted.
    """

    number: int
    log_likelihood: float
    dev: float
    seconds: float


@dataclass(frozen=True)
class Trainer:
    """Trains networks on sequences.

    n_epochs (int): passes over the sequences; batch_size (int): sequences of a step.
    learn_rate (float): of Adam at the first step; it falls to 0 along a cosine.
    dropout, weight_decay, averaging, n_jobs: as in `Training`.
    seed (int): of the order of the sequences, and of dropout.
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
        on_epoch: Callable[[Epoch], None] | None = None,
    ) -> Network:
        """Train a network to the last epoch; with held-out sequences take the epoch that makes them likeliest.

        network (Network): to begin with.
        events, dev (DecisionEvents): of any kind; dev without sequences counts as none.
        on_epoch (callable or None): called after each epoch.
        RAISES (ValueError): If the events do not fit the network.
        """
        check(events, network.parameters)
        rng, training = np.random.default_rng(self.seed), self.start(network, events.n_sequences)
        best, best_dev, clock = network, -np.inf, time.process_time()
        for number in range(1, self.n_epochs + 1):
            log_likelihood = sum(training.step(some) for some in self._batches(rng, events))
            seconds, dev_now = time.process_time() - clock, float("nan")
            if dev is not None and dev.n_sequences:
                found = training.network()
                dev_now = float(log_likelihoods(found, dev, n_jobs=self.n_jobs).sum())
                if not dev_now <= best_dev:
                    best, best_dev = found, dev_now
            if on_epoch is not None:
                on_epoch(Epoch(number, log_likelihood, dev_now, seconds))
            clock = time.process_time()
        return training.network() if best_dev == -np.inf else best

    def start(self, network: Network, n_sequences: int) -> Training:
        """The training of a network on so many sequences, before its first step."""
        n_steps = self.n_epochs * -(-n_sequences // self.batch_size)
        return Training(
            network,
            rates=self.learn_rate * (1 + np.cos(np.pi * np.arange(n_steps) / n_steps)) / 2,
            weight_decay=self.weight_decay,
            averaging=self.averaging,
            dropout=self.dropout,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )

    def _batches(self, rng: np.random.Generator, events: DecisionEvents) -> Iterator[DecisionEvents]:
        """All sequences in random order, batch_size at a time."""
        order, at_hand = rng.permutation(events.n_sequences), _AT_HAND * self.batch_size
        for first in range(0, len(order), at_hand):
            some = events.select(order[first : first + at_hand])
            for start in range(0, some.n_sequences, self.batch_size):
                yield some.select(np.arange(start, min(start + self.batch_size, some.n_sequences)))


def _distinct(numbers: np.ndarray, n: int) -> np.ndarray:
    """The numbers that occur, of those below n, in order."""
    occurs = np.zeros(n, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs)
