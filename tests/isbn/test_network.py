"""Likelihoods and gradients of sigmoid belief networks, against the equations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.isbn_reference import random_events, random_parameters, sequence_log_likelihoods, settle
from scipy.special import expit, log_softmax

from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.likelihood import Sweep, check, draw_keep, pad, unpad
from spacy_lpcfg.isbn.network import APPROXIMATIONS, Network

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 19)
ROUNDING = {"feed-forward": 2e-6, "mean-field-step": 2e-6, "mean-field": 1e-3}
"""Of single floats, and of the equations of mean fields, which are solved to a thousandth."""
approximately = pytest.mark.parametrize("approximation", APPROXIMATIONS)
with_dropout = pytest.mark.parametrize("dropout", [0.0, 0.4])


def drawn(seed, n_states, dropout=0.0, **settings):
    rng = np.random.default_rng(seed)
    parameters, events = random_parameters(rng, n_states, **settings), random_events(rng)
    return parameters, events, draw_keep(rng, events.n_positions, n_states, dropout)


def gradient_of(parameters, approximation, events, *, keep=None, n_jobs=1):
    """The log-likelihoods of sequences, and the gradient of their sum by each parameter."""
    n_states, padded = len(parameters["bias"]), pad(parameters)
    by = {name: np.zeros_like(array) for name, array in padded.items()}
    log_likelihoods = Sweep(events, padded, approximation, n_states, keep).gradient(by, n_jobs)
    return log_likelihoods, unpad(by, n_states)


@approximately
@with_dropout
@settings(max_examples=5)
@given(seed=SEEDS, n_states=SIZES)
def test_log_likelihoods_are_those_of_the_equations(approximation, dropout, seed, n_states):
    parameters, events, keep = drawn(seed, n_states, dropout)
    found, _ = gradient_of(parameters, approximation, events, keep=keep)
    expected = sequence_log_likelihoods(parameters, approximation, events, keep)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=ROUNDING[approximation])


@approximately
@with_dropout
@settings(max_examples=5)
@given(seed=SEEDS, n_states=SIZES)
def test_gradients_are_differences(approximation, dropout, seed, n_states):
    """Differences are those of the equations in double precision."""
    parameters, events, keep = drawn(seed, n_states, dropout, scale=0.5)
    _, gradient = gradient_of(parameters, approximation, events, keep=keep)
    rng = np.random.default_rng(seed)

    def total(name, array):
        return sequence_log_likelihoods({**parameters, name: array}, approximation, events, keep).sum()

    for name, array in parameters.items():
        direction = rng.standard_normal(array.shape)
        direction /= np.linalg.norm(direction)
        ahead, behind = (total(name, array.astype(float) + step * direction) for step in (1e-4, -1e-4))
        assert gradient[name].dtype == np.float32
        assert (gradient[name] * direction).sum() == pytest.approx(
            (ahead - behind) / 2e-4, abs=ROUNDING[approximation]
        ), name


@given(
    seed=SEEDS,
    n_states=st.integers(1, 130),
    n_outcomes=st.integers(1, 30),
    scale=st.sampled_from([0.3, 1.0, 3.0, 10.0]),
)
@example(seed=19, n_states=19, n_outcomes=16, scale=10.0)  # a step that has to be halved more than six times
def test_newton_maximises(seed, n_states, n_outcomes, scale):
    rng = np.random.default_rng(seed)
    theta, biases = rng.standard_normal(n_states), rng.standard_normal(n_outcomes)
    weights, chosen = scale * rng.standard_normal((n_outcomes, n_states)), int(rng.integers(n_outcomes))
    none = np.zeros((0, n_states, n_states))
    network = Network("mean-field", theta, none, none[:, 0], weights, biases)
    sweep = Sweep(one_choice(n_outcomes, chosen), pad(network.parameters), "mean-field", n_states)
    sweep.forward()
    np.testing.assert_allclose(
        sweep._arrays["means"][0, :n_states], expit(settle(theta, weights, biases, chosen)), atol=2e-3
    )


def one_choice(n_outcomes: int, chosen: int) -> DecisionEvents:
    """A sequence of one position with a single decision, and without inputs."""
    return DecisionEvents(
        sequence_offsets=np.array([0, 1]),
        latent=np.zeros((1, 0), dtype=np.int32),
        row_offsets=np.array([0, 0]),
        rows=np.zeros(0, dtype=np.int32),
        choice_offsets=np.array([0, 1]),
        choices=np.array([[0, n_outcomes, -1, chosen]], dtype=np.int32),
        masks=np.ones((1, 1), dtype=np.uint8),
    )


@approximately
@with_dropout
def test_threads_change_nothing(approximation, dropout):
    parameters, events, keep = drawn(5, 13, dropout)
    one, three = (gradient_of(parameters, approximation, events, keep=keep, n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one[0], three[0])
    for name, array in one[1].items():
        np.testing.assert_array_equal(array, three[1][name])


def test_many_outcomes_and_units_are_normalised():
    """Sums over 999 outcomes, more than any block, make probabilities."""
    rng = np.random.default_rng(2)
    n_states, n_outcomes = 120, 999
    parameters = random_parameters(rng, n_states)
    parameters["outcome_weights"] = rng.standard_normal((n_outcomes, n_states)).astype(np.float32)
    parameters["outcome_bias"] = rng.standard_normal(n_outcomes).astype(np.float32)
    one = replace(one_choice(n_outcomes, 77), latent=np.full((1, 2), -1, dtype=np.int32))
    means = expit(parameters["bias"])
    expected = log_softmax(parameters["outcome_weights"].astype(float) @ means + parameters["outcome_bias"])[77]
    assert gradient_of(parameters, "feed-forward", one)[0][0] == pytest.approx(expected, abs=1e-4)


def test_empty_events():
    parameters, events, _ = drawn(0, 4)
    log_likelihoods, by = gradient_of(parameters, "mean-field", events.select([]))
    assert len(log_likelihoods) == 0
    assert not any(array.any() for array in by.values())


def test_events_must_fit_the_network():
    parameters, events, _ = drawn(0, 4)
    wrong = {
        "rows": {"rows": events.rows + 100},
        "earlier positions": {"latent": events.latent + 100},
        "ranges of outcomes": {"choices": events.choices + np.array([0, 100, 0, 0], dtype=np.int32)},
        "outcomes": {"choices": events.choices + np.array([0, 0, 0, 100], dtype=np.int32)},
        "masks": {"masks": np.zeros_like(events.masks)},
    }
    for name, fields in wrong.items():
        with pytest.raises(ValueError, match=name):
            check(replace(events, **fields), parameters)
