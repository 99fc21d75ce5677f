"""Probabilities of sets of brackets that nest against the sum over all such sets."""

import math
import random

import numpy as np
import pytest
from oracles import nested_sets as slow

from spacy_lpcfg.stacking._spans import NestedSets
from spacy_lpcfg.stacking.marginals import bracket_probabilities

CASES = range(60)


def random_case(seed: int) -> tuple[list[slow.Bounds], list[float]]:
    """Candidates of a short sentence in any order, some of them over the same words, and scores."""
    rng = random.Random(seed)
    n_words = rng.randint(1, 7)
    bounds = [tuple(sorted(rng.sample(range(n_words + 1), 2))) for _ in range(rng.randint(1, 10))]
    return bounds, [rng.gauss(0, 3) for _ in bounds]


def nested(bounds: list[slow.Bounds], scores: list[float]) -> tuple[float, np.ndarray]:
    """ln Z and marginals."""
    sets = NestedSets(np.array(bounds, dtype=np.int32).reshape(-1, 2), np.array(scores))
    return sets.log_partition, sets.marginals()


def test_nested_sums_are_those_over_all_sets():
    for bounds, scores in map(random_case, CASES):
        log_z, p = nested(bounds, scores)
        assert log_z == pytest.approx(slow.log_partition(bounds, scores), abs=1e-9)
        assert p == pytest.approx(slow.marginals(bounds, scores), abs=1e-9)


@pytest.mark.parametrize("seed", CASES[::12])
def test_nested_gradient_is_that_of_the_loss(seed):
    """The loss is -ln P of a set, by differences: marginals, less 1 for what is in the set."""
    bounds, scores = random_case(seed)
    gold, h = random.Random(seed).choice(list(slow.nested_sets(bounds))), 1e-5

    def loss(scores):
        return slow.log_partition(bounds, scores) - sum(scores[i] for i in gold)

    p = nested(bounds, scores)[1]
    for i in range(len(bounds)):
        more, less = ([score + (k == i) * step for k, score in enumerate(scores)] for step in (h, -h))
        assert p[i] - (i in gold) == pytest.approx((loss(more) - loss(less)) / (2 * h), abs=1e-6)


def test_nested_brackets_that_do_not_cross_are_independent():
    bounds, scores = [(0, 4), (0, 2), (2, 4), (2, 4), (3, 4)], [1.0, -2.0, 0.5, 3.0, -40.0]
    log_z, p = nested(bounds, scores)
    assert p == pytest.approx([1 / (1 + math.exp(-score)) for score in scores])
    assert log_z == pytest.approx(sum(math.log1p(math.exp(score)) for score in scores))


def test_nested_sums_of_long_sentences_are_finite():
    """Hundreds of brackets that are sure: the sum itself would be infinite."""
    bounds = [(i, k) for i in range(150) for k in (i + 1, i + 2, 150) if k <= 150]
    for score in (50.0, -50.0, 0.0):
        log_z, p = nested(bounds, [score] * len(bounds))
        assert math.isfinite(log_z)
        assert np.isfinite(p).all()
        assert p.min() >= 0
        assert p.max() <= 1 + 1e-9


def test_nested_sets_of_nothing_are_one():
    log_z, p = nested([], [])
    assert (log_z, p.shape) == (0.0, (0,))


def test_probabilities_are_of_either_score():
    bounds, scores = random_case(3)
    other = [score / 2 for score in scores]
    found = bracket_probabilities(np.array(bounds, dtype=np.int32), np.array([scores, other]).T)
    assert found[:, 0] == pytest.approx([1 / (1 + math.exp(-score)) for score in scores])
    assert found[:, 1] == pytest.approx(slow.marginals(bounds, other))
    sure = bracket_probabilities(np.array([[0, 2], [1, 3]], dtype=np.int32), np.array([[1e4, 1e4], [-1e4, -1e4]]))
    assert sure == pytest.approx(np.array([[1.0, 1.0], [0.0, 0.0]]))
