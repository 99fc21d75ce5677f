"""Parsers from raw text of a language of which every phrase is known."""

import random

import pytest

from spacy_lpcfg.induced import learner
from spacy_lpcfg.induced.learner import Unsupervised, without_marks
from spacy_lpcfg.induced.reestimation import Reestimation
from spacy_lpcfg.learning.base import ModelLearned

NOUNS = [f"noun{one}{other}" for one in "abcdefgh" for other in "abcdefg"]
SETTINGS = {"n_classes": (6, 8), "reestimation": Reestimation(n_states=4, n_words=0, n_iterations=3)}


@pytest.fixture(scope="module")
def text() -> list[list[str]]:
    """Sentences such as `the old noun sees a noun`."""
    rng = random.Random(0)

    def phrase() -> list[str]:
        words = [rng.choice(["the", "a"]), *rng.choices(["old", "new", "red"], k=rng.random() < 0.5), rng.choice(NOUNS)]
        return [*words, "in", rng.choice(["the", "a"]), rng.choice(NOUNS)] if rng.random() < 0.3 else words

    return [[*phrase(), rng.choice(["sees", "has", "likes"]), *phrase()] for _ in range(600)]


@pytest.fixture(scope="module")
def learned(text):
    steps: list[ModelLearned] = []
    return Unsupervised(**SETTINGS).fit(text, text[:100], on_step=steps.append), steps


def test_unsupervised_finds_phrases(learned):
    model, steps = learned
    assert [member.tags.classes.n_classes - 1 for member in model.members] == [6, 8]
    assert steps == [ModelLearned(number, 4) for number in (1, 2, 3, 4)]
    posteriors = model.posteriors([["the", "nounab", "sees", "a", "nounba"]])[0]
    assert posteriors[0, 2] > 0.9
    assert posteriors[3, 5] > 0.9


def test_unsupervised_repeats_itself(text, learned):
    assert Unsupervised(**SETTINGS).fit(text, text[:100]).to_bytes() == learned[0].to_bytes()


@pytest.mark.parametrize(("n_sentences", "n_sampled"), [(0, 0), (5, 5), (6, 3), (10, 5), (11, 4)])
def test_unsupervised_learns_grammars_from_a_sample_that_is_as_large_as_may_be(monkeypatch, n_sentences, n_sampled):
    samples = []
    monkeypatch.setattr(learner, "_SAMPLE", 5)
    monkeypatch.setattr(Unsupervised, "_start", lambda *arguments: samples.append(arguments[-1]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Unsupervised().fit([["a", "b", "c"]] * n_sentences)
    assert list(map(len, samples)) == [n_sampled]


def test_without_marks_leaves_words():
    text = [["``", "Go", ",", "100", "%", "!"], ["."], ["-LRB-", "a", "-RRB-"]]
    assert list(without_marks(text)) == [("Go", "100", "%"), ("a",)]


@pytest.mark.parametrize(
    ("settings", "message"), [({"n_classes": ()}, "number of word classes"), ({"n_rounds": 0}, "n_rounds")]
)
def test_unsupervised_refuses_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        Unsupervised(**settings)
