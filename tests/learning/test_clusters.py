"""Clusters of projections as states."""

from dataclasses import replace

import numpy as np
import pytest
from oracles.tensor_form import tree_log_probability, tree_weight
from scipy.sparse import csr_array

from spacy_lpcfg.learning import Clusters, LexicalSettings, StateSmoothing, TreebankPCFG
from spacy_lpcfg.learning.clusters import cluster, representation
from spacy_lpcfg.learning.moments.projections import Features, Projector, noisy
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.parallel import in_order


@pytest.fixture(scope="module")
def treebank(sample) -> IndexedTreebank:
    return IndexedTreebank.of(read_skeletons(sample), LexicalSettings())


def test_representation_weighs_dimensions_by_how_well_they_agree():
    """Y and Z are x and y of a pair with correlation r, scaled so that E[Y Z] = 1."""
    rng = np.random.default_rng(0)
    r = np.array([0.9, 0.5])
    x = rng.normal(size=(50_000, 2))
    y = r * x + np.sqrt(1 - r**2) * rng.normal(size=x.shape)
    for agreement in (0.0, 0.5, 1.0):
        found = representation(3 * x, y / (3 * r), agreement)
        np.testing.assert_allclose((found**2).mean(axis=0), np.tile(r ** (2 * agreement), 2), rtol=0.05)


def test_clusters_are_groups_of_like_nodes(treebank):
    """The scatter within clusters is less than that of as many random groups."""
    projections = Projector(4, 5, 0).bases(treebank).project_all(treebank)
    states = cluster(treebank, projections, 0.5, 0)
    nodes, rng = treebank.nodes, np.random.default_rng(0)
    for a in np.flatnonzero(projections.n_states > 1):
        group, m = np.flatnonzero(nodes.symbol == a), projections.n_states[a]
        assert set(states[group]) == set(range(states[group].max() + 1))
        assert states[group].max() < m
        points = representation(projections.inside[group, :m], projections.outside[group, :m], 0.5)
        random = [scatter(points, rng.permutation(states[group])) for _ in range(5)]
        assert scatter(points, states[group]) < np.mean(random)


def scatter(points: np.ndarray, states: np.ndarray) -> float:
    return sum(len(of) * of.var(axis=0).sum() for of in (points[states == h] for h in np.unique(states)))


def test_likelihood_is_above_that_of_the_pcfg(sample):
    history = []
    learner = Clusters(n_states=4, n_iterations=3, tokens_per_state=5, smoothing=StateSmoothing(0.0, 0.0, 0.0, 0.0))
    grammar = learner.fit(sample, on_step=history.append)
    pcfg = TreebankPCFG().fit(sample)
    latent, plain = (sum(tree_log_probability(by, tree) for tree in sample) for by in (grammar, pcfg))
    assert latent > plain + 100
    assert [step.iteration for step in history] == [0, 1, 2, 3]
    assert np.isnan(history[0].log_likelihood)
    assert (np.diff([step.log_likelihood for step in history[1:]]) > 0).all()


def test_no_iterations_give_the_grammar_of_the_clusters(sample):
    grammar = Clusters(n_states=3, n_iterations=0).fit(sample)
    assert grammar.is_proper
    assert grammar.n_states.max() == 3
    assert all(tree_weight(grammar, tree) > 0 for tree in sample)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_clusters_are_found_by_as_many_jobs_as_asked_for(sample, monkeypatch, n_jobs):
    """As many as read the trees and project them."""
    asked = []

    def spied(function, calls, *, n_jobs=None):
        asked.append(n_jobs)
        return in_order(function, calls, n_jobs=n_jobs)

    monkeypatch.setattr("spacy_lpcfg.learning.clusters.in_order", spied)
    learner = Clusters(n_states=3, tokens_per_state=10, n_iterations=0)
    found = replace(learner, n_jobs=n_jobs).fit(sample[:20])
    assert asked == [n_jobs]
    assert found.to_bytes() == learner.fit(sample[:20]).to_bytes()


@pytest.mark.parametrize("noise", [{"dropout": 0.3}, {"noise": 0.3}], ids=str)
def test_noise_changes_the_projections(treebank, noise):
    plain, noisy = (
        Projector(4, 5, 0, Features(**settings)).bases(treebank).project_all(treebank) for settings in ({}, noise)
    )
    assert not np.allclose(plain.inside, noisy.inside)


def test_noise_is_of_features():
    """One factor a feature: 0 for a share of them, and others around 1."""
    n = 20_000
    features = csr_array(np.ones((2, n)))
    factors = noisy(features, 0.25, 0.5, np.random.default_rng(0)).toarray()
    np.testing.assert_array_equal(factors[0], factors[1])
    kept = factors[0][factors[0] != 0]
    assert len(kept) / n == pytest.approx(0.75, abs=0.02)
    assert (kept.mean(), kept.std()) == pytest.approx((1, 0.5), abs=0.02)


@pytest.mark.parametrize("noise", [{"dropout": -0.1}, {"dropout": 1.0}, {"noise": -0.1}], ids=str)
def test_impossible_noise_is_refused(noise):
    with pytest.raises(ValueError, match=f"{next(iter(noise))}.* of at least 0"):
        Features(**noise)
