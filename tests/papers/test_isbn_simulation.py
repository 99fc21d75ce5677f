"""Dynamic sigmoid belief networks: exact inference against enumeration, and the approximations."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.isbn.exact import ExactFilter, posteriors
from benchmarks.papers.isbn.label_learning import fit_labels, label_events, label_log_likelihoods
from benchmarks.papers.isbn.labelling import (
    UPDATES,
    Approximation,
    Softmaxes,
    Unigram,
    decode,
    log_probabilities,
    objective,
)
from benchmarks.papers.isbn.simulation import DynamicSBN, Sequences

TINY = {"n_states": 2, "n_labels": 3, "n_inputs": 2, "max_length": 3}
seeds = st.integers(0, 10_000)


def sequence_of(labels: tuple[int, ...], inputs: tuple[int, ...]) -> Sequences:
    return Sequences(np.array([0, len(labels)]), np.array(labels), np.array(inputs))


def probability(model: DynamicSBN, labels: tuple[int, ...], inputs: tuple[int, ...]) -> float:
    """Sum the generative story's probability of a sequence over all values of all its state vectors."""
    vectors = list(itertools.product((0, 1), repeat=model.n_states))
    every = itertools.product(vectors, repeat=len(labels))
    return sum(joint(model, states, labels, inputs) for states in every)


def joint(model: DynamicSBN, states: tuple, labels: tuple[int, ...], inputs: tuple[int, ...]) -> float:
    """Return the probability of a sequence with its state vectors, unit by unit."""
    found = 1.0
    for t, (state, y, x) in enumerate(zip(states, labels, inputs, strict=True)):
        for i, on in enumerate(state):
            eta = model.bias[i]
            if t:
                eta += sum(model.latent[i, j] * states[t - 1][j] for j in range(model.n_states))
                eta += model.from_label[labels[t - 1], i] + model.from_input[inputs[t - 1], i]
            found *= 1 / (1 + math.exp(-eta if on else eta))
        found *= chance(model.to_label, model.to_label_bias, state, y)
        found *= chance(model.to_input[y], model.to_input_bias[y], state, x)
    return found


def chance(weights: np.ndarray, bias: np.ndarray, state: tuple[int, ...], chosen: int) -> float:
    scores = [sum(w * s for w, s in zip(row, state, strict=True)) + b for row, b in zip(weights, bias, strict=True)]
    return math.exp(scores[chosen]) / sum(map(math.exp, scores))


def label_sequences(model: DynamicSBN, length: int) -> list[tuple[int, ...]]:
    """All that the generative story may give."""
    last = range(model.n_labels) if length == model.max_length else [0]
    return list(itertools.product(*[range(1, model.n_labels)] * (length - 1), last))


@settings(max_examples=20)
@given(seeds, st.integers(1, 3))
def test_simulation_exact_filter_sums_over_all_states(seed, length):
    model = DynamicSBN.random(**TINY, seed=seed)
    rng = np.random.default_rng(seed)
    labels = label_sequences(model, length)[int(rng.integers(len(label_sequences(model, length))))]
    inputs = tuple(map(int, rng.integers(model.n_inputs, size=length)))
    found = log_probabilities(ExactFilter(model), sequence_of(labels, inputs)).sum()
    assert found == pytest.approx(math.log(probability(model, labels, inputs)), abs=1e-10)


@settings(max_examples=20)
@given(seeds, st.integers(1, 3))
def test_simulation_posteriors_and_exact_beam_agree_with_enumeration(seed, length):
    model = DynamicSBN.random(**TINY, scale=2.5, seed=seed)
    inputs = tuple(map(int, np.random.default_rng(seed).integers(model.n_inputs, size=length)))
    weights = {labels: probability(model, labels, inputs) for labels in label_sequences(model, length)}
    expected = np.zeros((length, model.n_labels))
    for labels, weight in weights.items():
        expected[range(length), labels] += weight / sum(weights.values())
    sequence = sequence_of(min(weights), inputs)
    np.testing.assert_allclose(posteriors(model, sequence), expected, atol=1e-12)
    found = decode(ExactFilter(model), sequence, sequence.legal(model.n_labels, model.max_length), beam=30)
    assert weights[tuple(found)] == pytest.approx(max(weights.values()))


def test_simulation_sequences_of_different_lengths_do_not_mix():
    model = DynamicSBN.random(seed=4)
    sequences = model.sample(40, seed=1)
    legal = sequences.legal(model.n_labels, model.max_length)
    model_of = {name: Approximation(model, name) for name in UPDATES} | {"exact": ExactFilter(model)}
    together = {name: (log_probabilities(m, sequences), decode(m, sequences, legal)) for name, m in model_of.items()}
    marginals = posteriors(model, sequences)
    for start, end in list(itertools.pairwise(sequences.offsets))[:5]:
        alone = sequence_of(sequences.labels[start:end], sequences.inputs[start:end])
        np.testing.assert_allclose(posteriors(model, alone), marginals[start:end], atol=1e-12)
        for name, (log_p, labels) in together.items():
            np.testing.assert_allclose(log_probabilities(model_of[name], alone), log_p[start:end], atol=1e-9)
            assert decode(model_of[name], alone, legal[start:end]).tolist() == labels[start:end].tolist()


def test_simulation_samples_have_the_frequencies_of_the_exact_model():
    model = DynamicSBN.random(**(TINY | {"max_length": 2}), seed=0)
    sequences = model.sample(30_000, seed=0)
    n = len(sequences.lengths)
    drawn = Counter(
        (tuple(sequences.labels[start:end]), tuple(sequences.inputs[start:end]))
        for start, end in itertools.pairwise(sequences.offsets)
    )
    possible = [
        (labels, inputs)
        for length in (1, 2)
        for labels in label_sequences(model, length)
        for inputs in itertools.product(range(model.n_inputs), repeat=length)
    ]
    probabilities = np.array([probability(model, *each) for each in possible])
    assert probabilities.sum() == pytest.approx(1)
    assert set(drawn) <= set(possible)
    deviations = np.array([drawn[each] for each in possible]) - n * probabilities
    assert np.all(np.abs(deviations) < 5 * np.sqrt(n * probabilities) + 5)


@settings(max_examples=20)
@given(seeds, st.sampled_from(sorted(UPDATES)))
def test_simulation_approximations_are_distributions(seed, name):
    model = DynamicSBN.random(**TINY, scale=3.0, seed=seed)
    approximation = Approximation(model, name)
    beliefs = np.random.default_rng(seed).normal(size=(4, model.n_states)) * 3
    scores = [approximation.scores(beliefs, np.full(4, x)) for x in range(model.n_inputs)]
    np.testing.assert_allclose(np.exp(scores).sum(axis=(0, 2)), 1)


@settings(max_examples=20)
@given(seeds, st.floats(0.5, 15))
def test_simulation_mean_field_is_the_maximum(seed, scale):
    rng = np.random.default_rng(seed)
    tables = Softmaxes(scale * rng.normal(size=(2, 6, 4)), rng.normal(size=(2, 6)))
    table, chosen, theta = rng.integers(2, size=5), rng.integers(6, size=5), scale * rng.normal(size=(5, 4))
    after, target = UPDATES["mean-field"](theta, tables, table, chosen), theta + tables.weights[table, chosen]
    best = objective(after, target, tables, table)
    for size in (0.01, 0.3, 3.0):
        other = after + size * rng.normal(size=after.shape)
        assert np.all(objective(other, target, tables, table) <= best + 1e-9 * (1 + np.abs(best)))


@pytest.mark.parametrize("name", sorted(UPDATES))
def test_simulation_approximations_are_exact_where_units_say_nothing(name):
    model = DynamicSBN.random(seed=5)
    model = model._replace(to_label=0 * model.to_label, to_input=0 * model.to_input)
    sequences = model.sample(300, seed=1)
    found = log_probabilities(Approximation(model, name), sequences)
    np.testing.assert_allclose(found, log_probabilities(ExactFilter(model), sequences), atol=1e-9)


@pytest.mark.parametrize("name", sorted(UPDATES))
@pytest.mark.parametrize("n_states", [2, 9])
def test_simulation_kernels_agree_with_the_dense_approximations(name, n_states):
    model = DynamicSBN.random(n_states=n_states, seed=n_states, scale=1.5, max_length=40)
    sequences = model.sample(600, seed=1)
    expected = np.add.reduceat(log_probabilities(Approximation(model, name), sequences), sequences.offsets[:-1])
    np.testing.assert_allclose(label_log_likelihoods(model, name, sequences), expected, rtol=1e-3)


def test_simulation_events_are_elements():
    sequences = Sequences(np.array([0, 2, 3]), np.array([2, 0, 0]), np.array([1, 0, 1]))
    events = label_events(sequences, 3, 2)
    assert events.latent.tolist() == [[-1], [0], [-1]]
    assert np.split(events.rows, events.row_offsets[1:-1])[1].tolist() == [2, 4]
    assert events.row_offsets.tolist() == [0, 0, 2, 2]
    assert events.choices.tolist() == [
        [0, 3, -1, 2], [7, 9, -1, 8],
        [0, 3, -1, 0], [3, 5, -1, 3],
        [0, 3, -1, 0], [3, 5, -1, 4],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["feed-forward", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mean-field", "mean-field-step"))],
)
def test_simulation_approximations_learn(name):
    model = DynamicSBN.random(seed=4, max_length=30)
    train, dev, tested = (model.sample(n, seed=n) for n in (4_000, 1_000, 2_000))
    fit = fit_labels(train, dev, like=model, approximation=name, n_epochs=10, seed=1)
    log_p = label_log_likelihoods(fit.model, name, tested).sum() / len(tested.labels)
    unigram, exact = Unigram(train, model.n_labels, model.n_inputs), ExactFilter(model)
    low, high = (float(log_probabilities(each, tested).mean()) for each in (unigram, exact))
    assert low + 0.5 * (high - low) < log_p < high
    assert fit.dev_log_likelihood == pytest.approx(label_log_likelihoods(fit.model, name, dev).sum())
    legal = tested.legal(model.n_labels, model.max_length)
    labels = decode(Approximation(fit.model, name), tested, legal)
    assert np.mean(labels == tested.labels) > np.mean(decode(unigram, tested, legal, beam=1) == tested.labels) + 0.02
