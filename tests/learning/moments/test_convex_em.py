"""The convex EM against its equations as loops, a general optimiser, and parameters that the data were made from."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from spacy_lpcfg.learning.moments.convex_em import ConvexEM, conditionals, rule_weights, transition

EXACT = ConvexEM(max_iterations=20_000, tolerance=0.0)


@pytest.fixture(params=[(4, 9, 9), (9, 4, 9), (9, 9, 4)])
def rule(request):
    """Observations of one rule: counts, features, and the ratios of these; one side or another has the fewest."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 6, size=40).astype(float)
    features = np.stack([rng.integers(n, size=40) for n in request.param], axis=1)
    return (
        counts,
        features,
        [rng.dirichlet(np.full(m, 0.3), size=n) * m for n, m in zip(request.param, (3, 2, 2), strict=True)],
    )


def log_likelihood(t, counts, features, ratios) -> float:
    """Equation (1) as loops over the observations and the states."""
    total = 0.0
    for n, seen in zip(counts, features, strict=True):
        o, y, z = (of_side[feature] for of_side, feature in zip(ratios, seen, strict=True))
        states = itertools.product(range(len(o)), range(len(y)), range(len(z)))
        total += n * np.log(sum(t[i, j, k] * o[i] * y[j] * z[k] for i, j, k in states))
    return total


@pytest.mark.parametrize("prior", [0.0, 5.0])
def test_rule_weights_never_fall(rule, prior):
    start = np.full((3, 2, 2), 1 / 12)
    last = -np.inf
    for iterations in range(1, 40):
        t = rule_weights(*rule, start, prior=prior, settings=ConvexEM(iterations, -np.inf))
        assert t.min() >= 0
        assert t.sum() == pytest.approx(1)
        objective = log_likelihood(t, *rule) + prior * np.sum(start * np.log(np.maximum(t, 1e-300)))
        assert objective >= last - 1e-9
        last = objective


def test_rule_weights_are_the_optimum(rule):
    """Against a general optimiser over the softmax of free numbers, from several starts of EM."""
    found = minimize(
        lambda x: -log_likelihood((np.exp(x) / np.exp(x).sum()).reshape(3, 2, 2), *rule), np.zeros(12), method="BFGS"
    )
    rng = np.random.default_rng(0)
    for _ in range(2):
        start = rng.dirichlet(np.ones(12)).reshape(3, 2, 2)
        t = rule_weights(*rule, start, prior=0.0, settings=EXACT)
        assert log_likelihood(t, *rule) >= -found.fun - 1e-4


def test_rule_weights_with_a_strong_prior_stay(rule):
    start = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(3, 2, 2)
    np.testing.assert_allclose(rule_weights(*rule, start, prior=1e9, settings=ConvexEM()), start, atol=1e-6)


def table(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """n features of m states, the first m of them pivots: p(f | h), (n, m)."""
    found = rng.dirichlet(np.ones(n), size=m).T
    found[:m] *= np.eye(m)
    return found / found.sum(axis=0)


def test_transition_is_recovered():
    """The maximum of equation (3), where Q was made of r, t and s."""
    rng = np.random.default_rng(0)
    pi, r, s = rng.dirichlet(np.ones(3)), table(rng, 7, 3), table(rng, 6, 4)
    t = rng.dirichlet(np.ones(4), size=3)
    q = (r * pi) @ t @ s.T
    found = transition(csr_array(q), r * pi / (r @ pi)[:, None], s / q.sum(axis=0)[:, None], EXACT)
    np.testing.assert_allclose(found, t, atol=1e-6)


def test_conditionals_are_recovered():
    rng = np.random.default_rng(1)
    pi, r, s = rng.dirichlet(np.ones(3)), table(rng, 7, 3), rng.dirichlet(np.ones(5), size=3).T
    found = conditionals(csr_array((r * pi) @ s.T), r * pi / (r @ pi)[:, None], EXACT)
    np.testing.assert_allclose(found, s, atol=1e-6)


def test_em_stops_when_it_gains_less_than_the_tolerance():
    objectives = [-10.0, -5.0, -4.0, -3.9, -3.89]
    taken = []

    def step(x: np.ndarray) -> tuple[np.ndarray, float]:
        taken.append(objectives[len(taken)])
        return x + 1, taken[-1]

    assert ConvexEM(100, 0.5).maximize(step, np.zeros(1)) == 4
    assert taken == objectives[:4]
