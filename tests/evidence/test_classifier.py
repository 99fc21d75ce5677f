"""The span classifier, held against a slow reference, and its storage."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_lpcfg.evidence.classifier import N_CASES, SHAPES, SpanClassifier, case_of
from spacy_lpcfg.parsing.evidence import LARGEST_LOG_ODDS
from spacy_lpcfg.storage.container import compressed, pack, unpack

WORDS = ["The", "dogs", "-LRB-", "USA", "iPhone", "3rd", "."]
CHAINS = (("NP",), ("S", "VP"), ("A|B",), ("S",))
TAGS = ("NN", "DT", "VB")
WIDTH, HIDDEN = 5, 7


def random_classifier(seed: int = 0, *, scale: float = 1.0) -> SpanClassifier:
    rng = np.random.default_rng(seed)
    sizes = {"n_cases": N_CASES, "width": WIDTH, "hidden": HIDDEN, "n_chains": len(CHAINS), "n_tags": len(TAGS)}
    weights = {name: scale * rng.standard_normal([sizes[size] for size in shape]) for name, shape in SHAPES.items()}
    return SpanClassifier.of(CHAINS, TAGS, weights)


def activations(hidden: np.ndarray, weights: dict[str, np.ndarray], head: str) -> np.ndarray:
    normal = (hidden - hidden.mean()) / np.sqrt(hidden.var() + 1e-5)
    return np.maximum(normal * weights[f"{head}_gain"] + weights[f"{head}_shift"], 0)


def reference(classifier: SpanClassifier, vectors: np.ndarray, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of each span and the log-probabilities of tags, one by one."""
    w = {name: weight.astype(np.float64) for name, weight in classifier.weights.items()}
    case = {"The": 2, "dogs": 1, "-LRB-": 0, "USA": 3, "iPhone": 4, "3rd": 5, ".": 0}
    x = [vector + w["cases"][case[word]] for vector, word in zip(vectors, words, strict=True)]
    posts = [
        (x[i - 1] @ w["before"] + w["before_bias"] if i > 0 else 0)
        + (x[i] @ w["after"] + w["after_bias"] if i < len(x) else 0)
        for i in range(len(x) + 1)
    ]
    spans = [
        activations(posts[j] - posts[i] + w["span_bias"], w, "span") @ w["span_outputs"] + w["span_output_bias"]
        for i in range(len(x))
        for j in range(i + 1, len(x) + 1)
    ]
    tags = []
    for vector in x:
        hidden = activations(vector @ w["tag_hidden"] + w["tag_bias"], w, "tag")
        p = np.exp(hidden @ w["tag_outputs"] + w["tag_output_bias"])
        tags.append(np.log(p / p.sum()))
    return np.array(spans), np.array(tags)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_classifier_is_the_slow_reference(n):
    classifier, words = random_classifier(n), WORDS[:n]
    vectors = np.random.default_rng(n).standard_normal((n, WIDTH)).astype(np.float32)
    evidence = classifier.evidence_of(vectors, words)
    spans, tags = reference(classifier, vectors, words)
    assert evidence.spans.dtype == evidence.tags.dtype == np.float32
    assert np.allclose(evidence.spans, spans, atol=1e-4)
    assert np.allclose(evidence.tags, tags, atol=1e-4)


def test_classifier_of_long_sentences_is_that_of_their_spans(monkeypatch):
    vectors = np.random.default_rng(0).standard_normal((40, WIDTH)).astype(np.float32)
    classifier, words = random_classifier(), ["dogs"] * 40
    whole = classifier.evidence_of(vectors, words).spans
    monkeypatch.setattr("spacy_lpcfg.evidence.classifier._CHUNK", 17)
    assert np.allclose(classifier.evidence_of(vectors, words).spans, whole, atol=1e-5)


def test_classifier_without_words_has_no_rows():
    evidence = random_classifier().evidence_of(np.zeros((0, WIDTH), np.float32), [])
    assert (evidence.spans.shape, evidence.tags.shape) == ((0, len(CHAINS)), (0, len(TAGS)))


def test_classifier_bounds_log_odds():
    vectors = np.random.default_rng(0).standard_normal((7, WIDTH)).astype(np.float32)
    spans = random_classifier(scale=100).evidence_of(vectors, WORDS).spans
    assert np.abs(spans).max() == np.float32(LARGEST_LOG_ODDS)


def test_classifier_tells_cases_apart():
    assert [case_of(word) for word in ("-", "dog", "Dog", "DOG", "doG", "d0g", "I", "ß", "漢", "")] == [
        *(0, 1, 2, 3, 4, 5, 2, 1, 0, 0)
    ]


def test_classifier_is_stored():
    classifier = random_classifier()
    stored = SpanClassifier.from_values(unpack("x", 1, compressed(pack("x", 1, classifier.to_values()))))
    assert (stored.chains, stored.tags) == (CHAINS, TAGS)
    assert all(np.array_equal(stored.weights[name], classifier.weights[name]) for name in SHAPES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chains", ()),
        ("chains", ("NP", "NP", "S", "VP")),
        ("chains", ("NP",)),
        ("tags", (1, 2, 3)),
        ("cases", np.zeros((7, WIDTH), np.float16)),
        ("cases", None),
        ("before", np.zeros((WIDTH, 0), np.float16)),
        ("before", np.zeros(WIDTH, np.float16)),
        ("after", np.zeros((WIDTH, HIDDEN), np.float32)),
        ("tag_outputs", np.full((HIDDEN, len(TAGS)), np.nan, np.float16)),
        ("other", np.zeros(1)),
    ],
)
def test_classifier_refuses_damaged_values(name, value):
    with pytest.raises(ValueError, match=r"span classifier is inconsistent in its|does not know"):
        SpanClassifier.from_values({**random_classifier().to_values(), name: value})
