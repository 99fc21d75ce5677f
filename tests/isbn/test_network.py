"""Likelihoods and gradients of sigmoid belief networks, against the equations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.isbn_reference import bound, random_events, random_parameters, sequence_log_likelihoods, settle, slope
from scipy.special import expit, log_softmax

from spacy_lpcfg.isbn._network import settled
from spacy_lpcfg.isbn.likelihood import draw_keep, gradient_of, log_likelihoods
from spacy_lpcfg.isbn.network import APPROXIMATIONS, Network

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 19)
approximately = pytest.mark.parametrize("approximation", APPROXIMATIONS)
with_dropout = pytest.mark.parametrize("dropout", [0.0, 0.4])


def drawn(seed, n_states, dropout=0.0, **settings):
    rng = np.random.default_rng(seed)
    parameters, events = random_parameters(rng, n_states, **settings), random_events(rng)
    return parameters, events, draw_keep(rng, events.n_positions, n_states, dropout)


@approximately
@with_dropout
@settings(max_examples=5)
@given(seed=SEEDS, n_states=SIZES)
def test_log_likelihoods_are_those_of_the_equations(approximation, dropout, seed, n_states):
    parameters, events, keep = drawn(seed, n_states, dropout)
    found = gradient_of(parameters, approximation, events, keep=keep).log_likelihoods
    expected = sequence_log_likelihoods(parameters, approximation, events, keep)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@approximately
@with_dropout
@settings(max_examples=10)
@given(seed=SEEDS, n_states=SIZES)
def test_gradients_are_differences(approximation, dropout, seed, n_states):
    parameters, events, keep = drawn(seed, n_states, dropout)

    def total():
        return gradient_of(parameters, approximation, events, keep=keep).log_likelihoods.sum()

    gradient = gradient_of(parameters, approximation, events, keep=keep).by
    rng = np.random.default_rng(seed)
    for name, array in parameters.items():
        direction = rng.standard_normal(array.shape)
        step = 1e-5 * direction
        array += step
        ahead = total()
        array -= 2 * step
        behind = total()
        array += step
        expected = (ahead - behind) / 2e-5
        assert (gradient[name] * direction).sum() == pytest.approx(expected, rel=1e-6, abs=1e-6), name


@approximately
def test_gradient_of_each_parameter_is_a_difference(approximation):
    parameters, events, keep = drawn(0, 5, 0.3)
    gradient = gradient_of(parameters, approximation, events, keep=keep).by
    for name, array in parameters.items():
        for index in np.ndindex(array.shape):
            value, totals = array[index], []
            for step in (1e-5, -1e-5):
                array[index] = value + step
                totals.append(gradient_of(parameters, approximation, events, keep=keep).log_likelihoods.sum())
            array[index] = value
            expected = (totals[0] - totals[1]) / 2e-5
            assert gradient[name][index] == pytest.approx(expected, rel=1e-6, abs=1e-7), (name, index)


@given(seed=SEEDS, n_states=SIZES, n_outcomes=st.integers(1, 30), scale=st.sampled_from([0.3, 1.0, 3.0, 10.0]))
@example(seed=19, n_states=19, n_outcomes=16, scale=10.0)  # a step that has to be halved more than six times
def test_newton_maximises(seed, n_states, n_outcomes, scale):
    rng = np.random.default_rng(seed)
    theta, biases = rng.standard_normal(n_states), rng.standard_normal(n_outcomes)
    weights, chosen = scale * rng.standard_normal((n_outcomes, n_states)), int(rng.integers(n_outcomes))
    found = settled(theta, weights, biases, chosen)
    prior = theta + weights[chosen]
    assert abs(slope(found, prior, weights, biases)).max() < 1e-9 * max(1.0, abs(weights).max())
    best = bound(expit(found), prior, weights, biases)
    for size in (1e-4, 1e-2, 1.0):
        other = expit(found + size * rng.standard_normal((20, n_states)))
        assert all(bound(means, prior, weights, biases) <= best + 1e-12 * abs(best) for means in other)


def test_newton_finds_what_another_optimiser_finds():
    rng = np.random.default_rng(1)
    theta, weights, biases = rng.standard_normal(9), rng.standard_normal((12, 9)), rng.standard_normal(12)
    np.testing.assert_allclose(settled(theta, weights, biases, 3), settle(theta, weights, biases, 3), atol=1e-6)


@given(seed=SEEDS, n_states=st.integers(1, 130), scale=st.sampled_from([0.3, 1.0, 3.0, 10.0]))
def test_newton_in_single_precision_agrees(seed, n_states, scale):
    rng = np.random.default_rng(seed)
    theta, biases = rng.standard_normal(n_states), rng.standard_normal(40)
    weights = scale * rng.standard_normal((40, n_states)) / np.sqrt(n_states)
    arrays = [x.astype(np.float32) for x in (theta, weights, biases)]
    exact, found = settled(theta, weights, biases, 7), settled(*arrays, 7)
    assert found.dtype == np.float32
    np.testing.assert_allclose(expit(found), expit(exact), atol=2e-3)


@approximately
@settings(max_examples=10)
@given(seed=SEEDS, n_states=SIZES)
def test_single_precision_agrees_with_double(approximation, seed, n_states):
    parameters, events, _ = drawn(seed, n_states, scale=0.5)
    single = {name: array.astype(np.float32) for name, array in parameters.items()}
    exact, found = (gradient_of(each, approximation, events) for each in (parameters, single))
    np.testing.assert_allclose(found.log_likelihoods, exact.log_likelihoods, atol=2e-3)
    for name, array in found.by.items():
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, exact.by[name], atol=5e-3)


@approximately
@with_dropout
def test_threads_change_nothing(approximation, dropout):
    parameters, events, keep = drawn(5, 13, dropout, dtype=np.float32)
    one, three = (gradient_of(parameters, approximation, events, keep=keep, n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one.log_likelihoods, three.log_likelihoods)
    for name, array in one.by.items():
        np.testing.assert_array_equal(array, three.by[name])


@approximately
def test_sequences_are_independent(approximation):
    parameters, events, _ = drawn(7, 6, dtype=np.float32)
    network = Network(approximation, **parameters)
    whole = log_likelihoods(network, events)
    alone = [float(log_likelihoods(network, events.select([i]))[0]) for i in range(events.n_sequences)]
    np.testing.assert_allclose(whole, alone, atol=1e-5)
    np.testing.assert_allclose(whole, gradient_of(parameters, approximation, events).log_likelihoods, atol=1e-5)


def test_many_outcomes_and_units_are_normalised():
    """Sums over 999 outcomes, more than any block, make probabilities."""
    rng = np.random.default_rng(2)
    _, events, _ = drawn(0, 1)
    n_states, n_outcomes = 120, 999
    parameters = random_parameters(rng, n_states, dtype=np.float32)
    parameters["outcome_weights"] = rng.standard_normal((n_outcomes, n_states)).astype(np.float32)
    parameters["outcome_bias"] = rng.standard_normal(n_outcomes).astype(np.float32)
    choices = np.array([[0, n_outcomes, -1, 77]], dtype=np.int32)
    one = replace(events.select([0]), choices=choices, choice_offsets=np.array([0, 1]))
    one = replace(one, **_first_position(one))
    means = expit(parameters["bias"] + parameters["decision_weights"][one.rows].sum(axis=0))
    expected = log_softmax(parameters["outcome_weights"].astype(float) @ means + parameters["outcome_bias"])[77]
    assert gradient_of(parameters, "feed-forward", one).log_likelihoods[0] == pytest.approx(expected, abs=1e-4)


def _first_position(events):
    """The fields of events cut to their first position."""
    n_rows = events.row_offsets[1]
    return {
        "sequence_offsets": np.array([0, 1]),
        "latent": events.latent[:1],
        "row_offsets": np.array([0, n_rows]),
        "rows": events.rows[:n_rows],
    }


def test_empty_events():
    parameters, events, _ = drawn(0, 4)
    found = gradient_of(parameters, "mean-field", events.select([]))
    assert len(found.log_likelihoods) == 0
    assert not any(array.any() for array in found.by.values())


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
            gradient_of(parameters, "feed-forward", replace(events, **fields))
    with pytest.raises(ValueError, match="one of feed-forward, mean-field"):
        gradient_of(parameters, "sideways", events)


def test_keep_scales_what_it_keeps():
    keep = draw_keep(np.random.default_rng(0), 400, 10, 0.2)
    assert set(np.unique(keep).tolist()) == {0.0, 1.25}
    assert keep.mean() == pytest.approx(1, abs=0.05)
    assert draw_keep(np.random.default_rng(0), 4, 10, 0.0) is None
