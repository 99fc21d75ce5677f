"""The learner of evidence by sparse features."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracles.sparse_features import all_span_keys, scores
from paths import SAMPLE

from spacy_lpcfg.evidence import feature_learning
from spacy_lpcfg.evidence._features import descend
from spacy_lpcfg.evidence.feature_learning import Descent, FeatureSettings, Lesson, learn_features
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.trees import Tree, normalize, parse_trees, read_trees

TREE = "(S (NP (DT the) (NN dog)) (VP (VBD slept)))"


def parse_tree(text: str) -> Tree:
    return next(parse_trees(text))


def trees(n: int) -> list[Tree]:
    read = (normalize(tree) for tree in read_trees([SAMPLE / "train.mrg"]))
    return [tree for tree in read if tree is not None][:n]


def test_feature_learning_keeps_the_commonest_features_within_the_limit(monkeypatch):
    treebank = trees(30)
    settings = FeatureSettings(n_epochs=1, n_tag_epochs=1, least_count=1, least_tag_count=1)
    n_features = len(learn_features(treebank, settings=settings).of_spans.keys)
    monkeypatch.setattr(feature_learning, "MOST_WEIGHTS", 1000)
    model = learn_features(treebank, settings=settings)
    assert n_features > len(model.of_spans.keys) == 1000 // len(model.chains)
    assert len(model.of_words.keys) == 1000 // len(model.tags)


def test_feature_learning_finds_brackets_and_tags():
    treebank = trees(60)
    model = learn_features(treebank, settings=FeatureSettings(n_epochs=10, least_count=2))
    are_right, are_tags = [], []
    for tree, evidence in zip(treebank, model.evidence([tree.words for tree in treebank]), strict=True):
        classes = Labels({chain: i for i, chain in enumerate(model.chains)}, {}).spans_of(tree)
        best = np.where(evidence.spans.max(1) > 0, evidence.spans.argmax(1) + 1, 0)
        are_right += (best == classes)[classes > 0].tolist()
        are_tags += [model.tags[i] == tag for i, tag in zip(evidence.tags.argmax(1), tree.tags, strict=True)]
    assert np.mean(are_right) > 0.8
    assert np.mean(are_tags) > 0.9


def test_feature_learning_depends_on_the_seed_only():
    once, again, other = (learn_features(trees(10), settings=FeatureSettings(), seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(once.of_spans.weights, again.of_spans.weights)
    assert np.array_equal(once.of_words.weights, again.of_words.weights)
    assert not np.array_equal(once.of_spans.weights, other.of_spans.weights)


def test_feature_learning_counts_rare_chains_as_their_first_label():
    rare = parse_tree("(S (VP (VB go)) (NP (NP (NN home))))")
    model = learn_features([parse_tree(TREE), rare], settings=FeatureSettings(least_chains=2))
    assert model.chains == (("NP",), ("S",), ("VP",))
    assert model.tags == ("DT", "NN", "VB", "VBD")


def test_feature_learning_needs_brackets():
    with pytest.raises(ValueError, match="trees with constituents"):
        learn_features([parse_tree("(UH Yes)")], settings=FeatureSettings())


def test_feature_learning_descends_as_adagrad_does():
    rng = np.random.default_rng(0)
    weights, squares = rng.random((2, 4, 3)).astype(np.float32)
    rows = np.array([[0, 2, -1], [2, 3, 2]], np.int32)
    gradients = np.array([[0.5, -0.25, 0], [1, 0, -1]], np.float32)
    expected, sums = weights.astype(float), squares.astype(float)
    for i, row in ((0, 0), (0, 2), (1, 2), (1, 3), (1, 2)):
        sums[row] += gradients[i] ** 2
        expected[row] -= 0.1 * gradients[i] / np.sqrt(sums[row])
    descend(rows, gradients, weights, squares, 0.1, 0.01)
    assert np.allclose(weights, expected, atol=1e-6)
    assert np.allclose(squares, sums, atol=1e-6)
    before = weights.copy()
    descend(rows, gradients / 200, weights, squares, 0.1, 0.01)
    assert np.array_equal(weights, before)


def test_feature_learning_step_is_the_gradient_of_the_slow_reference():
    """A small step of plain gradient descent: the sums of squared gradients are as good as constant."""
    names, tags = np.array([2**21, 2**22, 2**21], np.int32), np.array([0, 1, 0])
    classes, n_chains = np.array([0, 2, 1, 0, 0, 1]), 2
    of_spans = all_span_keys(names.tolist(), tags.tolist())
    keys = np.array(sorted({key for keys in of_spans for key in keys}), np.int32)
    start, rate = 1e8, 1e3
    learned = Descent.of(keys, n_chains, start)
    learned.table.weights[:] = np.random.default_rng(0).standard_normal(learned.table.weights.shape) / 10
    weights = dict(zip(keys.tolist(), learned.table.weights.astype(float), strict=True))
    gradients = {key: np.zeros(n_chains) for key in weights}
    for of_span, gold in zip(of_spans, classes, strict=True):
        odds = np.exp(np.append(0, scores(of_span, weights)))
        gradient = odds / odds.sum() - np.eye(n_chains + 1)[gold]
        for key in of_span:
            gradients[key] += gradient[1:]
    learned.span_step(Lesson(np.zeros((3, 0), np.int32), names, tags, classes), tags, rate)
    expected = [weights[key] - rate / np.sqrt(start) * gradients[key] for key in keys.tolist()]
    assert np.allclose(learned.table.weights, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"), [({"n_epochs": 0}, "n_epochs"), ({"least_chains": 0}, "least_chains")]
)
def test_feature_learning_refuses_impossible_settings(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        FeatureSettings(**settings)
