"""The optimiser against the formulas of its paper, and the learner of sigmoid belief networks."""

from dataclasses import replace

import numpy as np
import pytest
from oracles.isbn_reference import random_events, random_parameters

from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn._adam import AdamTable, Schedule
from spacy_lpcfg.isbn.learning import ISBNLearner, LearningEpoch
from spacy_lpcfg.isbn.learning_settings import ISBNLexical, ISBNTraining
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import APPROXIMATIONS, Network
from spacy_lpcfg.isbn.training import Epoch, Trainer, Training
from spacy_lpcfg.trees import Tree, parse_trees

TEXTS = [
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(S (NP (DT the) (JJ old) (NN cat)) (VP (VBD barked)))",
    "(S (NP (NP (DT a) (NN walk)) (PP (IN in) (NP (NNP Rome)))) (VP (VBD walked) (ADVP (RB badly))))",
    "(S (NP (NNP Kim)) (VP (VBD slept)))",
]
TREES = list(parse_trees(TEXTS))
QUICK = ISBNLearner(n_states=6, n_epochs=3, training=ISBNTraining(batch_size=2), lexical=ISBNLexical(min_count=1))


def dense_adam(weights, gradients, rates, weight_decay, averaging):
    """Adam on all rows at every step, as in Algorithm 1 of Kingma and Ba, with a decay as in `_adam.pyx`; weights and
    their average after each step."""
    first, second, average, found = np.zeros_like(weights), np.zeros_like(weights), weights.copy(), []
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        root = np.sqrt(second / (1 - 0.999**t)) + 1e-12
        weights = (weights + rate / (1 - 0.9**t) * first / root) / (1 + rate / (1 - 0.9**t) * weight_decay / root)
        share = min(averaging, (1 + t) / (10 + t))
        average = share * average + (1 - share) * weights
        found.append((weights, average))
    return found


def lazy_adam(weights, gradients, rates, weight_decay, averaging, touched):
    """The same with `AdamTable`, of the rows that a step touches alone."""
    table = AdamTable(weights.astype(np.float32), Schedule(rates, weight_decay, averaging))
    for step, (gradient, rows) in enumerate(zip(gradients, touched, strict=True)):
        table.fetch(rows, step)
        table.gradient[rows] += gradient[rows]
        table.step(rows, step + 1)
        assert not table.gradient.any()
    table.fetch(np.arange(len(weights)), len(rates))
    return table.weights, table.averages


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_adam_is_that_of_the_paper(weight_decay):
    rng = np.random.default_rng(0)
    weights, gradients = rng.standard_normal((5, 9)), rng.standard_normal((60, 5, 9))
    rates, rows = np.linspace(0.1, 0, 60), [np.arange(5)] * 60
    expected = dense_adam(weights, gradients, rates, weight_decay, 0.9)[-1]
    found = lazy_adam(weights, gradients, rates, weight_decay, 0.9, rows)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-4)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_rows_that_steps_leave_out_go_where_no_gradient_leads(weight_decay):
    rng = np.random.default_rng(1)
    n_steps, weights = 400, rng.standard_normal((30, 4))
    touched = [np.flatnonzero(rng.random(30) < 0.1) for _ in range(n_steps)]
    gradients = np.zeros((n_steps, 30, 4))
    for gradient, rows in zip(gradients, touched, strict=True):
        gradient[rows] = 1 + rng.standard_normal((len(rows), 4))
    rates = 0.01 * np.linspace(1, 0, n_steps)
    expected, average = dense_adam(weights, gradients, rates, weight_decay, 0.99)[-1]
    found, found_average = lazy_adam(weights, gradients, rates, weight_decay, 0.99, touched)
    moved = np.abs(expected - weights).max()
    assert moved > 0.5
    np.testing.assert_allclose(found, expected, atol=0.03 * moved)
    np.testing.assert_allclose(found_average, average, atol=0.05 * moved)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_training_raises_the_likelihood_of_any_events(approximation):
    rng = np.random.default_rng(3)
    events = random_events(rng, n_sequences=6)
    start = Network(approximation, **random_parameters(rng, 7, scale=0.3))
    settings = Trainer(n_epochs=1, batch_size=1, learn_rate=0.03, averaging=0.0)
    training = Training(start, settings, np.full(80, 0.03))
    seen = [training.step(events) for _ in range(80)]
    assert seen[0] == pytest.approx(log_likelihoods(start, events).sum(), abs=1e-3)
    assert seen[-1] > 0.5 * seen[0]
    assert log_likelihoods(training.network(), events).sum() >= seen[-1] - 0.1


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_learner_learns_a_treebank_by_heart(approximation):
    seen: list[LearningEpoch] = []
    learner = replace(QUICK, approximation=approximation, n_states=16, n_epochs=60)
    steps = ISBNTraining(batch_size=2, learn_rate=0.1, dropout=0.0, weight_decay=0.0, averaging=0.9)
    learner = replace(learner, training=steps)
    model = learner.fit(TREES, held_out=TREES[:1], on_step=seen.append)
    assert [(step.network, step.epoch) for step in seen] == [(1, i + 1) for i in range(60)]
    assert seen[0].log_likelihood < -5
    assert seen[-1].log_likelihood > -0.7  # the choice among four sentences alone is log 4 nats in 4.5 words
    assert seen[-1].dev > seen[0].dev
    assert all(step.seconds > 0 for step in seen)
    assert model.networks[0].approximation == approximation
    assert model.meta["history"][-1] == {
        "network": 1,
        "epoch": 60,
        "log_likelihood": round(seen[-1].log_likelihood, 6),
        "dev": round(seen[-1].dev, 6),
    }


def test_trainer_keeps_the_epoch_that_is_best_on_held_out_sequences():
    rng = np.random.default_rng(4)
    events, dev = random_events(rng, n_sequences=4), random_events(rng, n_sequences=4)
    start = Network("feed-forward", **random_parameters(rng, 7, scale=0.3))
    seen: list[Epoch] = []
    trainer = Trainer(n_epochs=40, batch_size=2, learn_rate=0.05)
    found = trainer.fit(start, events, dev=dev, on_epoch=seen.append)
    best = max(epoch.dev for epoch in seen)
    assert seen[-1].dev < best
    assert log_likelihoods(found, dev).sum() == pytest.approx(best)


def test_learner_gives_the_same_bytes_for_the_same_seed_and_any_number_of_threads():
    first = QUICK.fit(TREES).to_bytes()
    assert QUICK.fit(iter(TREES)).to_bytes() == first
    assert replace(QUICK, n_jobs=3).fit(TREES).to_bytes() == first
    assert replace(QUICK, seed=1).fit(TREES).to_bytes() != first


def trainer(learner: ISBNLearner, n_trees: int, n_words: int) -> Trainer:
    """The trainer of a network on so many trees with so many words."""
    sizes = {"n_states": learner.n_states_of(n_trees), "n_epochs": learner.passes(n_trees)}
    return learner.training.trainer(**sizes, n_trees=n_trees, n_words=n_words)


def test_learner_takes_larger_and_faster_steps_on_larger_treebanks():
    few, some, many = (trainer(ISBNLearner(), n, 24 * n) for n in (100, 3500, 100_000))
    assert [each.batch_size for each in (few, some, many)] == [5, 10, 20]
    assert [each.n_epochs for each in (few, some, many)] == [14, 14, 4]
    assert ISBNLearner().passes(10_224) == 12
    assert ISBNLearner(n_epochs=3).passes(100_000) == 3
    assert [each.learn_rate for each in (few, some, many)] == pytest.approx([0.007, 0.007 * 2**0.5, 0.014])
    assert some.weight_decay * 350 == pytest.approx(ISBNTraining.weight_decay)
    assert trainer(ISBNLearner(), 3500, 7 * 3500).batch_size == 5  # short ones say little
    own = trainer(ISBNLearner(training=ISBNTraining(batch_size=7, learn_rate=0.1)), 3500, 84_000)
    assert (own.batch_size, own.learn_rate) == (7, 0.1)


def test_learner_knows_fewer_words_of_small_treebanks():
    words = frozenset(QUICK.fit(TREES).vocabulary.words)
    few = replace(QUICK, lexical=ISBNLexical()).fit(TREES)
    assert few.meta["learner"]["min_count"] == 5
    assert set(few.vocabulary.words) < words
    assert (ISBNLexical().min_count_of(84_000), ISBNLexical(min_count=4).min_count_of(84_000)) == (3, 4)
    assert ISBNLexical().min_count_of(600_000) == 6


def test_learner_of_many_trees_has_more_units_and_less_dropout(monkeypatch):
    assert [ISBNLearner().n_states_of(n) for n in (7_000, 7_001)] == [120, 160]
    assert [trainer(ISBNLearner(), n, 24 * n).dropout for n in (7_000, 7_001)] == pytest.approx([0.35, 0.3])
    own = ISBNLearner(n_states=40, training=ISBNTraining(dropout=0.1))
    assert (own.n_states_of(10_000), trainer(own, 10_000, 240_000).dropout) == (40, 0.1)
    monkeypatch.setattr("spacy_lpcfg.isbn.learning.MANY_TREES", len(TREES) - 1)
    monkeypatch.setattr("spacy_lpcfg.isbn.learning._UNITS_OF_MANY", 5)
    model = replace(QUICK, n_states=None).fit(TREES)
    assert model.networks[0].n_states == model.meta["learner"]["n_states"] == 5


def test_learner_learns_an_ensemble_from_consecutive_seeds():
    both = replace(QUICK, n_networks=2).fit(TREES)
    second = replace(QUICK, seed=1).fit(TREES)
    assert len(both.networks) == 2
    for name, array in both.networks[1].parameters.items():
        np.testing.assert_array_equal(array, second.networks[0].parameters[name])


def test_learner_tells_the_artificial_root_of_its_trees():
    assert QUICK.fit(TREES).meta["root_label"] == ""
    rooted = [Tree("ROOT", [tree]) for tree in TREES]
    assert QUICK.fit(rooted).meta["root_label"] == "ROOT"


def test_learner_skips_held_out_trees_with_unknown_labels():
    seen: list[LearningEpoch] = []
    QUICK.fit(TREES, held_out=parse_trees(["(X (Y z))"]), on_step=seen.append)
    assert np.isnan(seen[-1].dev)


def test_learner_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="Expected trees"):
        QUICK.fit([])
    wrong = [(QUICK, name, 0) for name in ("n_states", "n_epochs", "n_networks", "n_jobs")]
    wrong += [(QUICK, "approximation", "sideways"), (QUICK.lexical, "min_count", 0)]
    wrong += [(QUICK.training, name, -1) for name in ("batch_size", "learn_rate", "weight_decay", "averaging")]
    wrong += [(QUICK.training, "dropout", 1.0)]
    for settings, name, value in wrong:
        with pytest.raises(ValueError, match=name):
            replace(settings, **{name: value})


def test_tau_is_fitted_to_trees_that_nothing_is_learned_from(monkeypatch):
    """Held-out trees, or those that are left out of learning; with too few trees it is 1."""
    seen = []
    monkeypatch.setattr("spacy_lpcfg.isbn.learning.fit_tau", lambda *given: seen.append(given) or 0.25)
    calibrated = QUICK.fit(TREES, held_out=TREES[1:3])
    learned = QUICK.fit_networks(TREES, held_out=TREES[1:3])
    assert (calibrated.tau, learned.tau) == (0.25, 1.0)
    assert replace(calibrated, tau=1.0).to_bytes() == learned.to_bytes()
    assert QUICK.fit(TREES).to_bytes() == QUICK.fit_networks(TREES).to_bytes()
    assert len(seen) == 1
    many = replace(QUICK, n_epochs=1)
    calibrated = many.fit(TREES * 125)
    assert (calibrated.tau, calibrated.meta["n_trees"]) == (0.25, 490)
    assert len(seen) == 2
    assert ISBN.from_bytes(calibrated.to_bytes()).tau == 0.25
