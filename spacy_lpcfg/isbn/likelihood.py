"""Log-likelihoods of sequences under a network, and their gradients by its parameters."""

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

_AT_ONCE = 64  # sequences of a pass that keeps nothing
_OF_ROWS = ("latent_weights", "decision_weights", "outcome_weights")


class Gradient(NamedTuple):
    """What a pass over sequences found.

    log_likelihoods (float64, (n_sequences,)): natural logarithms.
    by (dict): of their sum, by parameter, of the shapes and the precision of the parameters.
    """

    log_likelihoods: np.ndarray
    by: dict[str, np.ndarray]


def log_likelihoods(network: Network, events: DecisionEvents, *, n_jobs: int = 1) -> np.ndarray:
    """Natural logarithms of the probabilities of sequences, float64 (n_sequences,).

    n_jobs (int): threads; the result is the same for any number.
    RAISES (ValueError): If the events do not fit the network.
    """
    parameters = pad(network.parameters)
    check(events, parameters)
    found = [np.zeros(0)]
    for some in _parts(events):
        found.append(Sweep(some, parameters, network.approximation, network.n_states).forward(n_jobs))
    return np.concatenate(found)


def means_of(network: Network, events: DecisionEvents) -> np.ndarray:
    """The means at the positions of sequences under a feed-forward network, float32 (n_positions, n_states).

    RAISES (ValueError): If the events do not fit the network.
    """
    parameters = pad(network.parameters)
    check(events, parameters)
    found = [np.zeros((0, network.n_states), dtype=np.float32)]
    for some in _parts(events):
        found.append(Sweep(some, parameters, network.approximation, network.n_states).means())
    return np.concatenate(found)


def _parts(events: DecisionEvents) -> Iterator[DecisionEvents]:
    """All sequences, some at a time."""
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
    """Log-likelihoods of sequences and the gradient of their sum.

    parameters (mapping): arrays as in `Network`, all float32 or all float64: computed in that precision.
    approximation (str): as in `Network`.
    keep (float, (n_positions, n_states), or None): by what the means of each position are multiplied where latent
        relations pass them on (`draw_keep`); None for 1.
    n_jobs (int): threads; the result is the same for any number.
    RAISES (ValueError): If the events do not fit the parameters.
    """
    check_approximation(approximation)
    n_states, padded = len(parameters["bias"]), pad(parameters)
    check(events, padded)
    by = {name: np.zeros_like(padded[name]) for name in PARAMETERS}
    found = Sweep(events, padded, approximation, n_states, keep).gradient(by, n_jobs)
    return Gradient(found, unpad(by, n_states))


def draw_keep(rng: np.random.Generator, n_positions: int, n_states: int, dropout: float) -> np.ndarray | None:
    """Draw by what the means are multiplied along the latent edges: 0, or 1 / (1 - dropout).

    dropout (float): probability of 0.
    RETURNS (float32, (n_positions, n_states), or None): None without dropout.
    """
    if not dropout:
        return None
    kept = rng.random((n_positions, n_states), dtype=np.float32) >= dropout
    return kept * np.float32(1 / (1 - dropout))


def pad(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parameters as contiguous arrays whose rows are padded to whole blocks; no copy where they are already."""
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
    """The inverse of `pad`."""
    return {k: v if k == "outcome_bias" else np.ascontiguousarray(v[..., :n_states]) for k, v in padded.items()}


class Sweep:
    """A pass over some sequences: its arrays, and its rounds in threads.

    events (DecisionEvents): checked.
    parameters (dict): padded, of one precision.
    approximation (str), n_states (int): as in `Network`.
    keep (float, (n_positions, n_states), or None): as in `gradient_of`.
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
        """The log-likelihoods, float64 (n_sequences,)."""
        self._run(("forward", "decide"), n_jobs)
        return self._log_likelihoods()

    def means(self) -> np.ndarray:
        """The means at all positions, (n_positions, n_states)."""
        self._run(("forward",), 1)
        return self.arrays["means"][:, : self.n_states]

    def gradient(self, by: Mapping[str, np.ndarray], n_jobs: int = 1) -> np.ndarray:
        """The log-likelihoods; the gradient of their sum is added to the padded arrays `by`."""
        plan = self.plan
        self.arrays |= {"pulls": self._vectors(plan.n_choices)}
        self.arrays |= {"asked": np.zeros_like(self.arrays["means"]), "gradients": self._vectors(plan.n_positions)}
        self.arrays |= {f"by_{name}": by[name] for name in PARAMETERS}
        if self.approximation != FEED_FORWARD:
            self.arrays["turns"] = self._numbers()
        self._run(("forward", "decide", "backward", "collect"), n_jobs)
        return self._log_likelihoods()

    def _run(self, rounds: tuple[str, ...], n_jobs: int) -> None:
        """Run each round in n_jobs threads; thread i takes the pieces i, i + n_jobs, ..."""
        kernel = Pass(self.plan, self.arrays, self.approximation, self.n_states)
        with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:
            for name in rounds:
                if name == "decide" and self.approximation != FEED_FORWARD:
                    continue
                run = getattr(kernel, name)
                if pool is None:
                    run(0, 1)
                else:
                    list(pool.map(run, range(n_jobs), [n_jobs] * n_jobs))

    def _log_likelihoods(self) -> np.ndarray:
        ends = self.events.choice_offsets[self.events.sequence_offsets]
        sums = np.concatenate([[0.0], np.cumsum(self.arrays["log_probabilities"])])
        return np.diff(sums[ends])


def check(events: DecisionEvents, parameters: Mapping[str, np.ndarray]) -> None:
    """Check that the numbers in events are in range, so that no kernel reads beyond its arrays.

    RAISES (ValueError): If they are not.
    """
    n_latent, n_inputs, n_outcomes = (len(parameters[name]) for name in _OF_ROWS)
    choices, lengths = events.choices, np.diff(events.sequence_offsets)
    places = np.arange(events.n_positions) - np.repeat(events.sequence_offsets[:-1], lengths)
    problems = {
        "earlier positions": events.latent.shape == (events.n_positions, n_latent)
        and bool((events.latent < places[:, None]).all()),
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
    """Whether masks are as long as the ranges, and allow what was chosen."""
    masked = events.choices[events.choices[:, 2] >= 0]
    sizes, places = masked[:, 1] - masked[:, 0], masked[:, 3] - masked[:, 0]
    if not len(masked):
        return True
    if masked[:, 2].max() >= len(events.masks) or sizes.max() > events.masks.shape[1]:
        return False
    return bool((places >= 0).all() and (places < sizes).all() and events.masks[masked[:, 2], places].all())
