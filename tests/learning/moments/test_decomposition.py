"""Theorem 2 of Cohen and Collins (2014), and section 5.2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.moments.decomposition import AnchorSettings, _vertices, anchor_states, decompose

EXACT = ConvexEM(max_iterations=20_000, tolerance=1e-15)


def separable(rng: np.random.Generator, n: int, m: int, least: float = 0.15) -> np.ndarray:
    """p(f | h), (n, m), of which one feature of each state is its pivot (definition 2)."""
    found = rng.dirichlet(np.ones(n - m), size=m).T * (1 - least)
    pivots = np.eye(m) * least
    return np.concatenate([pivots, found])[rng.permutation(n)]


def representation(q: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """E[phi(g) | f] and E[phi(f) | g], by the singular vectors of Q."""
    u, _, vt = np.linalg.svd(q)
    return (q / q.sum(axis=1, keepdims=True)) @ vt[:m].T, (q / q.sum(axis=0)).T @ u[:, :m]


def matching(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The permutation of the columns found that fits the truth."""
    return linear_sum_assignment(np.abs(found[:, :, None] - truth[:, None, :]).sum(axis=0).T)[1]


@pytest.mark.parametrize("way", ["transition", "direct"])
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 3))
def test_theorem_2(way, seed, m):
    """From Q alone: pi, r and s up to one permutation."""
    rng = np.random.default_rng(seed)
    pi, r, s = rng.dirichlet(np.full(m, 5.0)), separable(rng, m + 6, m), separable(rng, m + 5, m)
    q = (r * pi) @ s.T
    v, w = representation(q, m)
    precise = AnchorSettings(tolerance=1e-20)
    inside = anchor_states(v, q.sum(axis=1), m, precise).posteriors
    outside = anchor_states(w, q.sum(axis=0), m, precise).posteriors if way == "transition" else None
    found = decompose(csr_array(q), inside, outside, EXACT)
    order = matching(found.inside, r)
    np.testing.assert_allclose(found.pi[order], pi, atol=1e-6)
    np.testing.assert_allclose(found.inside[:, order], r, atol=1e-6)
    np.testing.assert_allclose(found.outside[:, order], s, atol=1e-6)


def test_more_states_than_there_are_are_not_found():
    rng = np.random.default_rng(0)
    r, s = separable(rng, 9, 2), separable(rng, 8, 2)
    q = r @ s.T / 2
    v, _ = representation(q, 5)
    assert anchor_states(v, q.sum(axis=1), 5).posteriors.shape == (9, 2)


def test_features_alike_are_one_state():
    assert (anchor_states(np.ones((4, 3)), np.ones(4), 3).posteriors == 1).all()
    assert (anchor_states(np.zeros((4, 3)), np.ones(4), 3).posteriors == 1).all()


def test_rare_features_are_no_anchors_when_they_are_shrunk():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    counts = np.array([100.0, 100.0, 1.0])
    assert anchor_states(vectors, counts, 2).posteriors[2].max() == 1
    shrunk = anchor_states(vectors, counts, 2, AnchorSettings(shrink=50.0)).posteriors
    assert shrunk[0].max() == shrunk[1].max() == 1 > shrunk[2].max()


def test_rare_features_are_no_anchors_when_they_are_no_candidates():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    found = anchor_states(vectors, np.array([100.0, 100.0, 1.0]), 2, AnchorSettings(candidates=1.0))
    assert sorted(found.anchors) == [0, 1]
    unseen = anchor_states(vectors, np.array([100.0, 100.0, 0.0]), 2)
    assert sorted(unseen.anchors) == [0, 1]


def test_affine_vertices_are_one_more_than_dimensions_and_chosen_again():
    """The point farthest from the mean is no vertex of the best two, which are on both sides of it."""
    triangle = np.array([[0.0, 2.0], [1.0, -1.0], [-1.0, -1.0], [0.0, 0.0]])
    assert sorted(_vertices(triangle, 4, True)) == [0, 1, 2]
    assert len(_vertices(triangle, 4, False)) == 2
    points = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 4.5], *[[0.0, -0.5]] * 9])
    assert sorted(_vertices(points, 2, True)) == [0, 1]
    assert _vertices(np.zeros((4, 3)), 3, True).tolist() == [0]
