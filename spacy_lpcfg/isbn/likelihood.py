"""Log-likelihoods of derivations under a network, and their gradients."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import LANES
from spacy_lpcfg.isbn._network import Pass
from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.network import FEED_FORWARD, MEAN_FIELD, PARAMETERS, Network

_AT_ONCE = 64  # sequences of a forward pass
_OF_ROWS = ("latent_weights", "decision_weights", "outcome_weights")


def log_likelihoods(network: Network, events: DecisionEvents, *, n_jobs: int = 1) -> np.ndarray:
    """Compute the log-likelihood of each sequence in nats, float64 (n_sequences,).

    network (Network): The network.
    events (DecisionEvents): The sequences, which are derivations of trees.
    n_jobs (int): Number of threads, which does not change the result.
    RAISES (ValueError): If the events do not match the network.
    """
    parameters = pad(network.parameters)
    check(events, parameters)
    results = [np.zeros(0)]
    for first in range(0, events.n_sequences, _AT_ONCE):
        batch = events.select(np.arange(first, min(first + _AT_ONCE, events.n_sequences)))
        results.append(Sweep(batch, parameters, network.approximation, network.n_states).forward(n_jobs))
    return np.concatenate(results)


def draw_keep(rng: np.random.Generator, n_positions: int, n_states: int, dropout: float) -> np.ndarray | None:
    """Draw dropout factors for the means along latent edges: 0, or 1 / (1 - dropout).

    rng (Generator): Source of random numbers.
    n_positions, n_states (int): The shape of the result.
    dropout (float): Probability that a factor is 0.
    RETURNS (float32, (n_positions, n_states), or None): The factors; None if `dropout` is 0.
    """
    if not dropout:
        return None
    mask = rng.random((n_positions, n_states), dtype=np.float32) >= dropout
    return mask * np.float32(1 / (1 - dropout))


def pad(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Pad the last axis of the parameter arrays with zeros to a multiple of `LANES`, except for `outcome_bias`.

    RETURNS (dict): Contiguous float32 arrays by name; an array that is so already is not copied.
    """
    single = {name: np.ascontiguousarray(parameters[name], np.float32) for name in PARAMETERS}
    return {name: array if name == "outcome_bias" else pad_rows(array) for name, array in single.items()}


def pad_rows(array: np.ndarray) -> np.ndarray:
    """Pad the last axis of an array with zeros to a multiple of `LANES`."""
    n_missing = -array.shape[-1] % LANES
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, n_missing)]) if n_missing else array


def unpad(padded: Mapping[str, np.ndarray], n_states: int) -> dict[str, np.ndarray]:
    """Return the parameter arrays without the padding that `pad` added to the last axis."""
    return {k: v if k == "outcome_bias" else np.ascontiguousarray(v[..., :n_states]) for k, v in padded.items()}


class Sweep:
    """A forward and backward pass over sequences, with its arrays.

    events (DecisionEvents): Sequences that `check` accepted.
    parameters (mapping): Parameter arrays by name, as `pad` returns them.
    approximation (str), n_states (int): As in `Network`.
    keep (float, (n_positions, n_states), or None): Dropout factors of the means along latent edges (`draw_keep`); None
        without dropout.
    ranges (int32, (n_groups, 2)): The distinct ranges of outcomes of all decisions, as (first, end); an attribute only.
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
        self._width, self._n_choices = len(parameters["bias"]), len(events.choices)
        arrays: dict[str, Any] = {**vars(events), **parameters, **self._groups()}
        arrays |= {"log_probabilities": np.empty(self._n_choices), "means": self._vectors(events.n_positions)}
        self._n_outcomes = int(arrays["outcome_offsets"][-1])
        arrays |= {"distributions": self._numbers(), "passed": arrays["means"]}
        arrays["transposed"] = np.zeros_like(parameters["latent_weights"])
        arrays["transposed"][..., :n_states] = parameters["latent_weights"][..., :n_states].swapaxes(1, 2)
        if keep is not None:
            padded = np.zeros((events.n_positions, self._width), dtype=np.float32)
            padded[:, :n_states] = keep
            arrays |= {"keep": padded, "passed": self._vectors(events.n_positions)}
        if approximation != FEED_FORWARD:
            arrays["before"] = self._vectors(self._n_choices)
        if approximation == MEAN_FIELD:
            arrays["settled"] = self._numbers()
        self._arrays = arrays

    def _groups(self) -> dict[str, np.ndarray]:
        """Return the arrays with which a `Pass` groups decisions with equal ranges of outcomes; set `ranges`."""
        firsts, ends = self.events.choices[:, :2].T
        order = np.lexsort((ends, firsts)).astype(np.int32)
        bounds = self.events.choices[order, :2]
        starts = np.flatnonzero((np.diff(bounds, axis=0, prepend=-1) != 0).any(axis=1))
        self.ranges = bounds[starts]
        positions = np.arange(self.events.n_positions, dtype=np.int32)
        return {
            "position_of": np.repeat(positions, np.diff(self.events.choice_offsets)),
            "outcome_offsets": np.concatenate([[0], np.cumsum(ends - firsts, dtype=np.int64)]),
            "group_choices": order,
            "group_offsets": np.append(starts, len(order)),
        }

    def _vectors(self, n: int) -> np.ndarray:
        return np.empty((n, self._width), dtype=np.float32)

    def _numbers(self) -> np.ndarray:
        return np.empty(self._n_outcomes, dtype=np.float32)

    def forward(self, n_jobs: int = 1) -> np.ndarray:
        """Compute the log-likelihood of each sequence in nats, float64 (n_sequences,)."""
        self._run(("forward", "decide"), n_jobs)
        return self._log_likelihoods()

    def gradient(self, by: Mapping[str, np.ndarray], n_jobs: int = 1) -> np.ndarray:
        """Compute the log-likelihood of each sequence, and add the gradient of their sum to the arrays in `by`.

        by (mapping of str to array): Padded arrays by the names of parameters, changed in place.
        n_jobs (int): Number of threads.
        RETURNS (float64, (n_sequences,)): Log-likelihoods in nats.
        """
        arrays = self._arrays
        arrays |= {"pulls": self._vectors(self._n_choices), "gradients": self._vectors(self.events.n_positions)}
        arrays |= {"asked": np.zeros_like(arrays["means"]), **{f"by_{name}": by[name] for name in PARAMETERS}}
        if self.approximation != FEED_FORWARD:
            arrays["turns"] = self._numbers()
        self._run(("forward", "decide", "backward", "collect"), n_jobs)
        return self._log_likelihoods()

    def _run(self, rounds: tuple[str, ...], n_jobs: int) -> None:
        """Run kernels one after the other, each in n_jobs threads; thread i takes the tasks i, i + n_jobs, ...

        rounds (tuple of str): Names of the kernels; "decide" is skipped unless the approximation is FEED_FORWARD.
        n_jobs (int): Number of threads.
        """
        kernel = Pass(self._arrays, self.approximation, self.n_states)
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
        sums = np.concatenate([[0.0], np.cumsum(self._arrays["log_probabilities"])])
        return np.diff(sums[ends])


def check(events: DecisionEvents, parameters: Mapping[str, np.ndarray]) -> None:
    """Check that events fit the parameters of a network, so that no kernel reads out of bounds.

    events (DecisionEvents): The sequences.
    parameters (mapping of str to array): Parameter arrays by name, padded or not.
    RAISES (ValueError): If indices are out of range or masks do not fit; the message names the fields.
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
    """Return whether each mask covers the range of outcomes of its decision, and allows the outcome."""
    masked = events.choices[events.choices[:, 2] >= 0]
    sizes, indices = masked[:, 1] - masked[:, 0], masked[:, 3] - masked[:, 0]
    if not len(masked):
        return True
    if masked[:, 2].max() >= len(events.masks) or sizes.max() > events.masks.shape[1]:
        return False
    return bool((indices >= 0).all() and (indices < sizes).all() and events.masks[masked[:, 2], indices].all())
