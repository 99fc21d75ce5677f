from itertools import pairwise

import numpy as np
import pytest
from networks import TREES, tiny
from oracles.isbn_search import sigmoid

from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.events import events_of
from spacy_lpcfg.isbn.likelihood import log_likelihoods, means_of
from spacy_lpcfg.isbn.normalizers import constant_normalizers, fit_normalizers
from spacy_lpcfg.trees.transforms import normalize


def events(isbn: ISBN):
    return events_of([normalize(tree) for tree in TREES], isbn.vocabulary, isbn.relations)


def by_softmax(isbn: ISBN, means: list[np.ndarray], first: int, end: int) -> float:
    """The log-normaliser of a range of outcomes at some means of each network."""
    logits = [
        n.outcome_weights[first:end] @ x + n.outcome_bias[first:end] for n, x in zip(isbn.networks, means, strict=True)
    ]
    return float(np.logaddexp.reduce(np.mean(logits, axis=0)))


def test_means_are_those_that_the_likelihoods_come_from():
    isbn = tiny("feed-forward")
    network, some = isbn.networks[0], events(isbn)
    means, total = means_of(network, some), 0.0
    for position, (first_choice, end_choice) in enumerate(pairwise(some.choice_offsets)):
        for first, end, mask, chosen in some.choices[first_choice:end_choice]:
            logits = network.outcome_weights[first:end] @ means[position] + network.outcome_bias[first:end]
            if mask >= 0:
                logits = np.where(some.masks[mask, : end - first], logits, -np.inf)
            total += logits[chosen - first] - np.logaddexp.reduce(logits)
    assert total == pytest.approx(log_likelihoods(network, some).sum(), rel=1e-5)


@pytest.mark.parametrize("n_networks", [1, 2])
def test_linear_normalisers_are_nearer_than_constants_at_the_bias(n_networks):
    isbn = tiny(*n_networks * ["feed-forward"])
    some, errors = events(isbn), {"linear": [], "constant": []}
    means = [means_of(network, some) for network in isbn.networks]
    positions = np.repeat(np.arange(some.n_positions), np.diff(some.choice_offsets))
    found = {
        "linear": fit_normalizers(isbn.vocabulary, isbn.networks, some),
        "constant": constant_normalizers(isbn.vocabulary, isbn.networks),
    }
    ranges = list(pairwise(isbn.vocabulary.word_offsets.tolist()))
    for position, (first, end, _, _) in zip(positions, some.choices.tolist(), strict=True):
        if (first, end) in ranges:
            here = [each[position] for each in means]
            exact = by_softmax(isbn, here, first, end)
            for name, values in found.items():
                intercept, *slopes = values[ranges.index((first, end))]
                errors[name].append(intercept + slopes @ np.concatenate(here) - exact)
    assert np.square(errors["linear"]).mean() < np.square(errors["constant"]).mean() / 2
    assert np.mean(errors["linear"]) == pytest.approx(0, abs=1e-4)


def test_constants_are_the_normalisers_at_the_bias():
    isbn = tiny("feed-forward", "feed-forward")
    means = [sigmoid(network.bias) for network in isbn.networks]
    ranges = pairwise(isbn.vocabulary.word_offsets.tolist())
    found = constant_normalizers(isbn.vocabulary, isbn.networks)
    assert found[:, 0] == pytest.approx([by_softmax(isbn, means, *each) for each in ranges], abs=1e-5)
    assert not found[:, 1:].any()


def test_networks_whose_means_decisions_change_have_none():
    isbn = tiny("mean-field-step")
    assert fit_normalizers(isbn.vocabulary, isbn.networks, events(isbn)) is None
