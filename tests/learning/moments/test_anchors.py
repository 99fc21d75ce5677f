"""Anchors against the vertices that points were made from, and simplex regression against a quadratic programme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from spacy_lpcfg.learning.moments.anchors import fast_anchor_words, simplex_regression, squared_distances

SEEDS = st.integers(0, 10_000)


def mixtures(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """n points of the simplex of m vertices, many of them on its faces."""
    weights = rng.dirichlet(np.full(m, 0.7), size=n) * (rng.random((n, m)) < 0.7)
    weights[weights.sum(axis=1) == 0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def quadratic_programme(target: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    m = len(vertices)
    found = minimize(
        lambda gamma: np.sum((gamma @ vertices - target) ** 2),
        np.full(m, 1 / m),
        jac=lambda gamma: 2 * vertices @ (gamma @ vertices - target),
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda gamma: gamma.sum() - 1, "jac": lambda gamma: np.ones(m)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


@given(SEEDS, st.integers(1, 6), st.integers(0, 4))
def test_anchors_are_the_vertices(seed, m, more):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(m, m + more))
    rows = np.concatenate([mixtures(rng, m, 30) @ vertices, vertices])
    order = rng.permutation(len(rows))
    found = rows[order][fast_anchor_words(rows[order], m)]
    np.testing.assert_allclose(np.array(sorted(found.tolist())), np.array(sorted(vertices.tolist())), atol=1e-12)


def test_anchors_are_replaced_when_others_span_more():
    """The point farthest from the origin is no vertex of the best choice when two others are nearly across it."""
    rows = np.array([[3.0, 3.0], [-0.5, 3.9], [3.9, -0.5]])
    assert sorted(fast_anchor_words(rows, 2).tolist()) == [1, 2]


@pytest.mark.parametrize(
    ("rows", "n"),
    [
        (np.zeros((4, 3)), 0),
        (np.ones((4, 3)), 1),
        (np.outer([1.0, 2.0, 3.0], [1.0, 1.0]), 1),
        (np.eye(3)[[0, 0, 1, 1]], 2),
        (np.eye(2), 2),
        (np.empty((0, 3)), 0),
    ],
)
def test_anchors_are_fewer_where_rows_span_fewer_dimensions(rows, n):
    assert len(set(fast_anchor_words(rows, 5).tolist())) == len(fast_anchor_words(rows, 5)) == n


@given(SEEDS, st.integers(1, 5), st.integers(1, 6))
def test_simplex_regression_is_the_quadratic_programme(seed, m, d):
    rng = np.random.default_rng(seed)
    vertices, targets = rng.normal(size=(m, d)), 1.5 * rng.normal(size=(6, d))
    found = simplex_regression(targets, vertices, max_iterations=20_000, min_gain=1e-12)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for gamma, target in zip(found, targets, strict=True):
        best = quadratic_programme(target, vertices)
        mine, other = (np.sum((weights @ vertices - target) ** 2) for weights in (gamma, best))
        assert mine <= other + 1e-9


@given(SEEDS, st.integers(1, 6))
def test_simplex_regression_finds_the_weights_of_mixtures(seed, m):
    rng = np.random.default_rng(seed)
    weights = mixtures(rng, m, 20)
    vertices = np.eye(m) + 0.3 * rng.random((m, m))
    found = simplex_regression(weights @ vertices, vertices, max_iterations=20_000, min_gain=1e-18)
    np.testing.assert_allclose(found, weights, atol=1e-7)


@pytest.mark.parametrize("review", [1, 16])
def test_simplex_regression_stops_within_its_tolerance(review):
    rng = np.random.default_rng(0)
    vertices, targets = rng.normal(size=(16, 16)), rng.normal(size=(200, 16))
    exact = simplex_regression(targets, vertices, max_iterations=10_000, min_gain=1e-13)
    rough = simplex_regression(targets, vertices, min_gain=0.05, review=review)
    error = np.sum((rough @ vertices - targets) ** 2, axis=1) - np.sum((exact @ vertices - targets) ** 2, axis=1)
    assert (error / 2 <= 0.05).all()
    assert error.max() > 1e-9


def test_squared_distances_are_those_of_two_points():
    points = np.random.default_rng(0).normal(size=(4, 3))
    wanted = [[np.sum((a - b) ** 2) for a in points] for b in points]
    np.testing.assert_allclose(squared_distances(points), wanted, atol=1e-12)


@pytest.mark.parametrize("vertices", [np.zeros((3, 2)), np.ones((3, 2)), np.ones((1, 2))], ids=str)
def test_simplex_regression_bears_equal_vertices(vertices):
    with np.errstate(all="raise"):
        found = simplex_regression(np.array([[0.5, 2.0], [0.0, 0.0]]), vertices, min_gain=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
