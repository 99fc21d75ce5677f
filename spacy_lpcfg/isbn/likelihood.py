"""Log-likelihoods of derivations under a network, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.arrays import LANES
from spacy_lpcfg.isbn._network import Pass, Plan
from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.network import FEED_FORWARD, MEAN_FIELD, PARAMETERS, Network, check_approximation

_AT_ONCE = 64  # sequences of a forward pass
_OF_ROWS = ("latent_weights", "decision_weights", "outcome_weights")


class Gradient(NamedTuple):
    """The result of a forward and backward pass.

    log_likelihoods (float64, (n_sequences,)): Log-likelihoods in nats.
    by (dict): The gradient of their sum by each parameter, of the parameter's shape and precision.
    """

    log_likelihoods: np.ndarray
    by: dict[str, np.ndarray]


def log_likelihoods(network: Network, events: DecisionEvents, *, n_jobs: int = 1) -> np.ndarray:
    """Compute the log-likelihoods of sequences in nats, float64 (n_sequences,).

    n_jobs (int): Number of threads, which does not change the result.
    RAISES (ValueError): If the events do not match the network.
    """
    parameters = pad(network.parameters)
    check(events, parameters)
    results = [np.zeros(0)]
    for batch in _batches(events):
        results.append(Sweep(batch, parameters, network.approximation, network.n_states).forward(n_jobs))
    return np.concatenate(results)


def means_of(network: Network, events: DecisionEvents) -> np.ndarray:
    """Compute the means of the units at all positions under a feed-forward network, float32 (n_positions, n_states).

    RAISES (ValueError): If the events do not match the network.
    """
    parameters = pad(network.parameters)
    check(events, parameters)
    results = [np.zeros((0, network.n_states), dtype=np.float32)]
    for batch in _batches(events):
        results.append(Sweep(batch, parameters, network.approximation, network.n_states).means())
    return np.concatenate(results)


def _batches(events: DecisionEvents) -> Iterator[DecisionEvents]:
    """Yield all sequences in batches."""
    for first in range(0, events.n_sequences, _AT_ONCE):
        yield events.select(np.arange(first, min(first + _AT_ONCE, events.n_sequences)))


def gradient_of(
    parameters: Mapping[str, np.ndarray],
    approximation: str,
    events: DecisionEvents,
    *,
    keep: np.ndarray | None = None,
    n_jobs: int = 1,
) -> Gradient:
    """Compute the log-likelihoods of sequences and the gradient of their sum.

    parameters (mapping): Arrays as in `Network`, all float32 or all float64, which is the precision of the computation.
    approximation (str): As in `Network`.
    events (DecisionEvents): The sequences.
    keep (float, (n_positions, n_states), or None): Dropout factors of the means along latent edges (`draw_keep`).
    n_jobs (int): Number of threads, which does not change the result.
    RAISES (ValueError): If the events do not match the parameters.
    """
    check_approximation(approximation)
    n_states, padded = len(parameters["bias"]), pad(parameters)
    check(events, padded)
    by = {name: np.zeros_like(padded[name]) for name in PARAMETERS}
    log_likelihoods_of_sequences = Sweep(events, padded, approximation, n_states, keep).gradient(by, n_jobs)
    return Gradient(log_likelihoods_of_sequences, unpad(by, n_states))


def draw_keep(rng: np.random.Generator, n_positions: int, n_states: int, dropout: float) -> np.ndarray | None:
    """Draw dropout factors for the means along latent edges: 0, or 1 / (1 - dropout).

    dropout (float): Probability of 0.
    RETURNS (float32, (n_positions, n_states), or None): None without dropout.
    """
    if not dropout:
        return None
    mask = rng.random((n_positions, n_states), dtype=np.float32) >= dropout
    return mask * np.float32(1 / (1 - dropout))


def pad(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Pad the rows of parameters to whole blocks, as contiguous arrays; without a copy if they already are."""
    n_states = len(parameters["bias"])
    padding = -n_states % LANES
    padded = {}
    for name in PARAMETERS:
        array = np.ascontiguousarray(parameters[name], parameters["bias"].dtype)
        if padding and name != "outcome_bias":
            array = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, padding)])
        padded[name] = array
    return padded


def unpad(padded: Mapping[str, np.ndarray], n_states: int) -> dict[str, np.ndarray]:
    """Undo `pad`."""
    return {k: v if k == "outcome_bias" else np.ascontiguousarray(v[..., :n_states]) for k, v in padded.items()}


class Sweep:
    """A forward and backward pass over sequences, with its arrays.

    events (DecisionEvents): Sequences that `check` accepted.
    parameters (dict): Padded arrays of one precision.
    approximation (str), n_states (int): As in `Network`.
    keep (float, (n_positions, n_states), or None): Dropout factors, as for `gradient_of`.
    """

    def __init__(
        self,
        events: DecisionEvents,
        parameters: Mapping[str, np.ndarray],
        approximation: str,
        n_states: int,
        keep: np.ndarray | None = None,
    ) -> None:
        self.events, self.approximation, self.n_states = events, approximation, n_states
        self.plan = Plan(events)
        self.width, self.precision = len(parameters["bias"]), parameters["bias"].dtype
        plan, vectors = self.plan, self._vectors
        arrays: dict[str, Any] = {name: parameters[name] for name in PARAMETERS}
        arrays |= {"log_probabilities": np.empty(plan.n_choices), "means": vectors(plan.n_positions)}
        arrays |= {"distributions": self._numbers(), "passed": arrays["means"]}
        arrays["transposed"] = np.zeros_like(parameters["latent_weights"])
        arrays["transposed"][..., :n_states] = parameters["latent_weights"][..., :n_states].swapaxes(1, 2)
        if keep is not None:
            padded = np.zeros((plan.n_positions, self.width), dtype=self.precision)
            padded[:, :n_states] = keep
            arrays |= {"keep": padded, "passed": vectors(plan.n_positions)}
        if approximation != FEED_FORWARD:
            arrays["before"] = vectors(plan.n_choices)
        if approximation == MEAN_FIELD:
            arrays["settled"] = self._numbers()
        self.arrays = arrays

    def _vectors(self, n: int) -> np.ndarray:
        return np.empty((n, self.width), dtype=self.precision)

    def _numbers(self) -> np.ndarray:
        return np.empty(self.plan.n_outcomes, dtype=self.precision)

    def forward(self, n_jobs: int = 1) -> np.ndarray:
        """Compute the log-likelihoods, float64 (n_sequences,)."""
        self._run(("forward", "decide"), n_jobs)
        return self._log_likelihoods()

    def means(self) -> np.ndarray:
        """Compute the means at all positions, (n_positions, n_states)."""
        self._run(("forward",), 1)
        return self.arrays["means"][:, : self.n_states]

    def gradient(self, by: Mapping[str, np.ndarray], n_jobs: int = 1) -> np.ndarray:
        """Compute the log-likelihoods, and add the gradient of their sum to the padded arrays `by`."""
        plan = self.plan
        self.arrays |= {"pulls": self._vectors(plan.n_choices)}
        self.arrays |= {"asked": np.zeros_like(self.arrays["means"]), "gradients": self._vectors(plan.n_positions)}
        self.arrays |= {f"by_{name}": by[name] for name in PARAMETERS}
        if self.approximation != FEED_FORWARD:
            self.arrays["turns"] = self._numbers()
        self._run(("forward", "decide", "backward", "collect"), n_jobs)
        return self._log_likelihoods()

    def _run(self, rounds: tuple[str, ...], n_jobs: int) -> None:
        """Run each round in n_jobs threads; thread i takes the tasks i, i + n_jobs, ..."""
        kernel = Pass(self.plan, self.arrays, self.approximation, self.n_states)
        with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:
            for name in rounds:
                if name == "decide" and self.approximation != FEED_FORWARD:
                    continue
                if pool is None:
                    kernel.run(name, 0, 1)
                else:
                    list(pool.map(kernel.run, [name] * n_jobs, range(n_jobs), [n_jobs] * n_jobs))

    def _log_likelihoods(self) -> np.ndarray:
        ends = self.events.choice_offsets[self.events.sequence_offsets]
        sums = np.concatenate([[0.0], np.cumsum(self.arrays["log_probabilities"])])
        return np.diff(sums[ends])


def check(events: DecisionEvents, parameters: Mapping[str, np.ndarray]) -> None:
    """Check that the indices in events are in range, so that no kernel reads out of bounds.

    RAISES (ValueError): If they are not.
    """
    n_latent, n_inputs, n_outcomes = (len(parameters[name]) for name in _OF_ROWS)
    choices, lengths = events.choices, np.diff(events.sequence_offsets)
    positions = np.arange(events.n_positions) - np.repeat(events.sequence_offsets[:-1], lengths)
    problems = {
        "earlier positions": events.latent.shape == (events.n_positions, n_latent)
        and bool((events.latent < positions[:, None]).all()),
        "rows": not len(events.rows) or 0 <= events.rows.min() <= events.rows.max() < n_inputs,
        "ranges of outcomes": bool(((choices[:, 0] >= 0) & (choices[:, 1] <= n_outcomes)).all()),
        "outcomes": bool(((choices[:, 0] <= choices[:, 3]) & (choices[:, 3] < choices[:, 1])).all()),
        "masks": _masks_fit(events),
    }
    wrong = [name for name, holds in problems.items() if not holds]
    if wrong:
        raise ValueError(
            f"Expected events of a network with {n_latent} latent relations, {n_inputs} rows of decision weights and "
            f"{n_outcomes} outcomes; their {', '.join(wrong)} do not fit."
        )


def _masks_fit(events: DecisionEvents) -> bool:
    """Return whether masks are as long as the ranges, and allow the outcomes."""
    masked = events.choices[events.choices[:, 2] >= 0]
    sizes, indices = masked[:, 1] - masked[:, 0], masked[:, 3] - masked[:, 0]
    if not len(masked):
        return True
    if masked[:, 2].max() >= len(events.masks) or sizes.max() > events.masks.shape[1]:
        return False
    return bool((indices >= 0).all() and (indices < sizes).all() and events.masks[masked[:, 2], indices].all())
