"""The learner of span classifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.evidence.classifier import SHAPES
from spacy_lpcfg.evidence.learning import AdamW, ClassifierSettings, learn_classifier
from spacy_lpcfg.trees import Tree, normalize, parse_trees, read_trees

TREE = "(S (NP (DT the) (NN dog)) (VP (VBD slept)))"


def parse_tree(text: str) -> Tree:
    return next(parse_trees(text))


class HashedWords:
    """An encoder whose vectors depend on words and their neighbours."""

    width = 24

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return [self._vectors(["", *words, ""]) for words in sentences]

    def _vectors(self, words: Sequence[str]) -> np.ndarray:
        own = [np.random.default_rng([*word.encode(), 1]).standard_normal(8) for word in words]
        rows = [np.concatenate(own[i - 1 : i + 2]) for i in range(1, len(words) - 1)]
        return np.array(rows, np.float32).reshape(len(rows), self.width)


def trees(n: int) -> list[Tree]:
    read = (normalize(tree) for tree in read_trees([SAMPLE / "train.mrg"]))
    return [tree for tree in read if tree is not None][:n]


def accuracy(encoder: HashedWords, settings: ClassifierSettings, treebank: list[Tree]) -> tuple[float, float]:
    """Shares of spans with a bracket, and of tags, that are right after learning."""
    classifier = learn_classifier(encoder, treebank, settings=settings)
    is_right, tags = [], []
    for tree, vectors in zip(treebank, encoder.vectors([tree.words for tree in treebank]), strict=True):
        evidence = classifier.evidence_of(vectors, tree.words)
        n = len(tree.words)
        for start, end, label in tree.spans():
            chain = classifier.chains[evidence.spans[start * n - start * (start - 1) // 2 + end - start - 1].argmax()]
            is_right.append(label in chain)
        tags += [classifier.tags[i] == tag for i, tag in zip(evidence.tags.argmax(1), tree.tags, strict=True)]
    return float(np.mean(is_right)), float(np.mean(tags))


def test_learning_finds_brackets_and_tags():
    settings = ClassifierSettings(n_epochs=40, least_steps=1, hidden=32, rate=0.01, batch_words=20, dropout=0.0)
    right, tags = accuracy(HashedWords(), settings, trees(20))
    assert right > 0.8
    assert tags > 0.9


def test_learning_depends_on_the_seed_only():
    settings = ClassifierSettings(n_epochs=2, hidden=8, batch_words=50, least_steps=1)
    once, again, other = (learn_classifier(HashedWords(), trees(10), settings=settings, seed=s) for s in (1, 1, 2))
    assert all(np.array_equal(once.weights[name], again.weights[name]) for name in SHAPES)
    assert not np.array_equal(once.weights["before"], other.weights["before"])


def test_learning_counts_rare_chains_as_their_first_label():
    rare = parse_tree("(S (VP (VB go)) (NP (NP (NN home))))")
    classifier = learn_classifier(
        HashedWords(), [parse_tree(TREE), rare], settings=ClassifierSettings(least_steps=1, hidden=4, least_count=2)
    )
    assert classifier.chains == (("NP",), ("S",), ("VP",))
    assert classifier.tags == ("DT", "NN", "VB", "VBD")
    rare_too = ClassifierSettings(least_steps=1, hidden=4, least_count=1)
    assert ("NP", "NP") in learn_classifier(HashedWords(), [rare], settings=rare_too).chains


def test_learning_starts_from_a_classifier():
    one, other = parse_tree(TREE), parse_tree("(S (NP (DT the) (NNS dogs)) (ADJP (JJ big)))")
    settings = ClassifierSettings(n_epochs=1, least_steps=1, hidden=8, rate=0.0)
    start = learn_classifier(HashedWords(), [one], settings=settings, seed=1)
    classifier = learn_classifier(HashedWords(), [other], settings=settings, seed=2, start=start)
    assert (classifier.chains, classifier.tags) == ((("ADJP",), ("NP",), ("S",)), ("DT", "JJ", "NNS"))
    assert np.array_equal(classifier.weights["before"], start.weights["before"])
    assert np.array_equal(classifier.weights["span_outputs"][:, 1:], start.weights["span_outputs"][:, :2])
    assert np.array_equal(classifier.weights["tag_output_bias"][:1], start.weights["tag_output_bias"][:1])
    with pytest.raises(ValueError, match=r"with before of the shape \(24, 9\), got \(24, 8\)"):
        learn_classifier(HashedWords(), [other], settings=ClassifierSettings(hidden=9), start=start)


@pytest.mark.parametrize(("settings", "n_steps"), [({"n_epochs": 3}, 6), ({"least_steps": 7}, 10)])
def test_learning_takes_enough_steps(settings, n_steps, monkeypatch):
    steps = []
    step = AdamW.step
    monkeypatch.setattr(AdamW, "step", lambda self, *args: steps.append(args) or step(self, *args))
    treebank = [parse_tree(TREE)] * 2
    chosen = ClassifierSettings(**{"n_epochs": 5, "least_steps": 1, "hidden": 2, "batch_words": 3, **settings})
    start = learn_classifier(HashedWords(), treebank, settings=chosen)
    assert len(steps) == n_steps
    learn_classifier(HashedWords(), treebank, settings=chosen, start=start)
    assert len(steps) == n_steps + 2 * chosen.n_epochs


def test_learning_needs_brackets():
    with pytest.raises(ValueError, match="trees with constituents to learn a span classifier from, got none"):
        learn_classifier(HashedWords(), [parse_tree("(UH Yes)")], settings=ClassifierSettings())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_epochs": 0}, "n_epochs"),
        ({"dropout": 1.0}, "dropout"),
        ({"rate": -1.0}, "rate"),
        ({"least_count": 0}, "least_count"),
    ],
)
def test_learning_refuses_impossible_settings(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ClassifierSettings(**settings)
