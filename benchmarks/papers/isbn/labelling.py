"""Labels for sequences of inputs, by any incremental model: likelihoods and beam search, as in section 7.1.

The models are filters, which carry a belief from element to element: the exact filter, a unigram model, and the three
approximations of a dynamic sigmoid belief network. These are dense float64 numpy here, in batches over sequences, and
share no code with the kernels that parsers learn and parse by.

Notation of section 5.3: theta are the log-odds of the means mu of the current state vector, q the distribution of a
decision with output weights W, and eta the log-odds that a state vector begins with.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax

from benchmarks.papers.isbn.simulation import DynamicSBN, Sequences
from spacy_lpcfg.isbn.network import FEED_FORWARD, MEAN_FIELD, MEAN_FIELD_STEP, check_approximation

TOLERANCE = 1e-9
"""Largest entry of the gradient where the mean-field objective counts as maximal."""

MOST_STEPS = 100
"""Newton steps; far fewer are needed, as the objective is concave and the first step halved until it rises."""


class Filter(Protocol):
    """A model that reads labelled sequences from left to right; beliefs are float64 arrays, a row each."""

    def start(self, n: int) -> np.ndarray:
        """Beliefs before the first elements of n sequences."""

    def scores(self, beliefs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """log P(label, input | earlier elements) for all labels, float64 (n, L)."""

    def advance(self, beliefs: np.ndarray, labels: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Beliefs after an element was seen."""


class Unigram:
    """Labels and inputs of an element together, independent of all others; counts are raised by one half."""

    def __init__(self, sequences: Sequences, n_labels: int, n_inputs: int):
        pairs = sequences.inputs * n_labels + sequences.labels
        counts = np.bincount(pairs, minlength=n_inputs * n_labels).reshape(n_inputs, n_labels) + 0.5
        self.log_joint = np.log(counts / counts.sum())

    def start(self, n: int) -> np.ndarray:
        return np.empty((n, 0))

    def scores(self, beliefs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        return self.log_joint[inputs]

    def advance(self, beliefs: np.ndarray, labels: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        return beliefs


class Approximation:
    """A dynamic sigmoid belief network by one of the approximations of section 5; a belief is eta.

    name (str): "feed-forward" (section 5.2), "mean-field" (5.3) or "mean-field-step", which makes one natural-gradient
        step from the means before a decision, where "mean-field" goes to the maximum of expression (13).
    RAISES (ValueError): If the name is none of these.
    """

    def __init__(self, model: DynamicSBN, name: str):
        check_approximation(name)
        self.model, self.update = model, UPDATES[name]
        self.label_table = Softmaxes(model.to_label[None], model.to_label_bias[None])
        self.input_table = Softmaxes(model.to_input, model.to_input_bias)

    def start(self, n: int) -> np.ndarray:
        return np.tile(self.model.bias, (n, 1))

    def scores(self, beliefs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        n, n_labels = len(beliefs), self.model.n_labels
        labels = np.tile(np.arange(n_labels), n)
        theta = self.update(np.repeat(beliefs, n_labels, axis=0), self.label_table, np.zeros(n * n_labels, int), labels)
        log_inputs = self.input_table.log_q(theta, labels)[np.arange(n * n_labels), np.repeat(inputs, n_labels)]
        return self.label_table.log_q(beliefs, np.zeros(n, int)) + log_inputs.reshape(n, n_labels)

    def advance(self, beliefs: np.ndarray, labels: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        model = self.model
        theta = self.update(beliefs, self.label_table, np.zeros(len(labels), int), labels)
        theta = self.update(theta, self.input_table, labels, inputs)
        return model.bias + expit(theta) @ model.latent.T + model.from_label[labels] + model.from_input[inputs]


class Softmaxes:
    """Output tables, one for each distribution that a decision may have, chosen by number.

    weights (float64, (n_tables, n_outcomes, N)), bias (float64, (n_tables, n_outcomes)).
    """

    def __init__(self, weights: np.ndarray, bias: np.ndarray):
        self.weights, self.bias = weights, bias

    def scores(self, theta: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Score the outcomes, (n, n_outcomes), by log-odds (n, N) of the means and the numbers (n,) of the tables."""
        return np.matmul(self.weights[table], expit(theta)[:, :, None])[:, :, 0] + self.bias[table]

    def log_q(self, theta: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Expression (10), the distribution of the next decision, as logarithms (n, n_outcomes)."""
        return log_softmax(self.scores(theta, table), axis=1)

    def moments(self, theta: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (n, N) and covariance (n, N, N) of a row of W that is drawn from q."""
        q, weights = softmax(self.scores(theta, table), axis=1), self.weights[table]
        mean = np.matmul(q[:, None], weights)[:, 0]
        second = np.matmul((q[:, :, None] * weights).transpose(0, 2, 1), weights)
        return mean, second - mean[:, :, None] * mean[:, None]


def _keep(theta: np.ndarray, tables: Softmaxes, table: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Feed-forward: what was decided says nothing of the state vector."""
    return theta


def _step(theta: np.ndarray, tables: Softmaxes, table: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """One step along the natural gradient of expression (13), the gradient by mu."""
    return theta + tables.weights[table, chosen] - tables.moments(theta, table)[0]


def _maximize(theta: np.ndarray, tables: Softmaxes, table: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The maximum of expression (13), by Newton's method on theta.

    theta (float64, (n, N)): Before the decision.
    table, chosen (int, (n,)): Of the decision, its distribution and its outcome.
    RETURNS (float64, (n, N)): After it.
    """
    target = theta + tables.weights[table, chosen]
    theta, rows = theta.copy(), np.arange(len(theta))
    for _ in range(MOST_STEPS):
        here, goal, numbers = theta[rows], target[rows], table[rows]
        mean, covariance = tables.moments(here, numbers)
        slope = here - goal + mean
        is_open = np.abs(slope).max(axis=1, initial=0.0) > TOLERANCE
        if not is_open.any():
            break
        rows, here, goal, numbers = rows[is_open], here[is_open], goal[is_open], numbers[is_open]
        spread = expit(here) * expit(-here)
        jacobian = np.eye(theta.shape[1]) + covariance[is_open] * spread[:, None]
        direction = -np.linalg.solve(jacobian, slope[is_open][:, :, None])[:, :, 0]
        theta[rows] = _climb(here, direction, goal, tables, numbers)
    return theta


def _climb(
    theta: np.ndarray, direction: np.ndarray, target: np.ndarray, tables: Softmaxes, table: np.ndarray
) -> np.ndarray:
    """A step that does not lower the objective, the direction halved as often as need be."""
    before = objective(theta, target, tables, table)
    size = np.ones((len(theta), 1))
    for _ in range(30):
        falls = objective(theta + size * direction, target, tables, table) < before - 1e-12 * (1 + np.abs(before))
        if not falls.any():
            break
        size[falls] /= 2
    return theta + size * direction


def objective(theta: np.ndarray, target: np.ndarray, tables: Softmaxes, table: np.ndarray) -> np.ndarray:
    """Expression (13) as a function of theta, where `target` is theta before the decision plus the chosen row of W."""
    entropy_and_prior = np.logaddexp(0, theta) + expit(theta) * (target - theta)
    return entropy_and_prior.sum(axis=1) - logsumexp(tables.scores(theta, table), axis=1)


UPDATES = {FEED_FORWARD: _keep, MEAN_FIELD: _maximize, MEAN_FIELD_STEP: _step}
"""What a decision does to theta, by the name of the approximation."""


def log_probabilities(model: Filter, sequences: Sequences) -> np.ndarray:
    """log P(label, input | earlier elements) of all elements, float64 (n_elements,)."""
    values = np.empty(len(sequences.labels))
    beliefs = model.start(len(sequences.lengths))
    for column in sequences.columns:
        labels, inputs = sequences.labels[column], sequences.inputs[column]
        beliefs = beliefs[: len(column)]
        values[column] = model.scores(beliefs, inputs)[np.arange(len(column)), labels]
        beliefs = model.advance(beliefs, labels, inputs)
    return values


def decode(model: Filter, sequences: Sequences, legal: np.ndarray, *, beam: int = 10) -> np.ndarray:
    """The likeliest labels given the inputs, by beam search.

    model (Filter): What scores them.
    sequences (Sequences): Of these only the inputs are looked at.
    legal (bool, (n_elements, L)): Labels that may be chosen, one or more of each element.
    beam (int): Hypotheses that are kept of a sequence.
    RETURNS (int64, (n_elements,)): Labels.
    """
    beliefs = model.start(len(sequences.lengths))[:, None]
    log_probability = np.zeros(beliefs.shape[:2])
    steps = []
    for column in sequences.columns:
        n, width = len(column), beliefs.shape[1]
        inputs = np.repeat(sequences.inputs[column], width)
        flat = beliefs[:n].reshape(n * width, -1)
        scores = log_probability[:n, :, None] + model.scores(flat, inputs).reshape(n, width, -1)
        scores = np.where(legal[column][:, None], scores, -np.inf).reshape(n, -1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :beam]
        parents, labels = np.divmod(best, legal.shape[1])
        steps.append((parents, labels))
        log_probability = np.take_along_axis(scores, best, axis=1)
        flat = np.take_along_axis(beliefs[:n], parents[:, :, None], axis=1).reshape(best.size, -1)
        inputs = np.repeat(sequences.inputs[column], best.shape[1])
        beliefs = model.advance(flat, labels.ravel(), inputs).reshape(*best.shape, -1)
    return _trace(sequences, steps)


def _trace(sequences: Sequences, steps: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Labels of the first hypothesis of each sequence's last element, followed to its beginning."""
    values = np.empty(len(sequences.inputs), int)
    at = np.zeros(len(sequences.lengths), int)
    for column, (parents, labels) in zip(reversed(sequences.columns), reversed(steps), strict=True):
        rows = np.arange(len(column))
        values[column] = labels[rows, at[: len(column)]]
        at[: len(column)] = parents[rows, at[: len(column)]]
    return values
