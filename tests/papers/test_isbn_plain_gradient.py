"""Plain gradient ascent climbs, and keeps the best network by the held-out sequences."""

import pytest

from benchmarks.papers.isbn.label_learning import label_events, start_label_network
from benchmarks.papers.isbn.plain_gradient import PlainGradient
from benchmarks.papers.isbn.simulation import DynamicSBN
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import FEED_FORWARD, MEAN_FIELD

MODEL = DynamicSBN.random(n_states=3, n_labels=3, n_inputs=4, scale=2.0, max_length=20, seed=1)
TRAIN, DEV = (label_events(MODEL.sample(n, seed=n), 3, 4) for n in (500, 200))


def dev_likelihood(approximation: str, **settings: float) -> float:
    start = start_label_network(approximation, n_states=3, n_labels=3, n_inputs=4, seed=0)
    network = PlainGradient(**{"learn_rate": 0.05, "precision": 1.0, **settings}).fit(start, TRAIN, dev=DEV)
    return float(log_likelihoods(network, DEV).sum())


@pytest.mark.parametrize("approximation", [FEED_FORWARD, MEAN_FIELD])
def test_plain_gradient_climbs(approximation):
    start = start_label_network(approximation, n_states=3, n_labels=3, n_inputs=4, seed=0)
    before = float(log_likelihoods(start, DEV).sum())
    by_epochs = [dev_likelihood(approximation, n_epochs=n) for n in (1, 20)]
    assert before < by_epochs[0] < by_epochs[1]


def test_plain_gradient_with_rates_that_are_too_large_ends_at_the_best_epoch():
    assert dev_likelihood(FEED_FORWARD, learn_rate=1.0, n_epochs=10) >= dev_likelihood(
        FEED_FORWARD, learn_rate=1.0, n_epochs=1
    )


def test_plain_gradient_prior_shrinks_weights():
    start = start_label_network(FEED_FORWARD, n_states=3, n_labels=3, n_inputs=4, seed=0)
    sums = []
    for precision in (0.0, 100.0):
        network = PlainGradient(learn_rate=0.05, precision=precision, n_epochs=5).fit(start, TRAIN, dev=DEV)
        sums.append(float((network.outcome_weights**2).sum()))
    assert sums[1] < 0.5 * sums[0]
