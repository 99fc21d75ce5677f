"""Evidence by sparse features, held against a slow reference, and its storage."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from oracles.sparse_features import all_span_keys, scores, word_keys

from spacy_lpcfg.evidence._features import feature_keys, find_rows, hash_table
from spacy_lpcfg.evidence.atoms import FeatureVocabulary, text_hash
from spacy_lpcfg.evidence.features import FeatureEvidence, FeatureTable
from spacy_lpcfg.parsing.evidence import LARGEST_LOG_ODDS, EvidenceModel
from spacy_lpcfg.storage.container import compressed, pack, unpack
from spacy_lpcfg.words.signatures import suffix_signatures

WORDS = ["The", "old", "dogs", "barked", "at", "Fido", "."]
LIKELY = {".": 2, "The": 0, "dogs": 1}
CHAINS = (("NP",), ("S", "VP"), ("A|B",))
TAGS = ("DT", "NN", ".")


def names_of(words: list[str]) -> list[int]:
    return [text_hash(w if w in LIKELY else suffix_signatures(w, i == 0)[:5][-1]) for i, w in enumerate(words)]


def random_table(keys: set[int], n_classes: int, *, largest: int = 127) -> FeatureTable:
    """Random weights for three quarters of the keys."""
    rng = np.random.default_rng(0)
    known = np.array(sorted(keys), np.int32)
    known = np.ascontiguousarray(known[rng.random(len(known)) < 0.75])
    return FeatureTable(known, rng.integers(-largest, largest + 1, (len(known), n_classes)).astype(np.int8), 1 / 64)


def some_evidence(words: list[str] = WORDS) -> FeatureEvidence:
    """Evidence whose features are those of a sentence, whatever its tags are."""
    of_words = {key for keys in word_keys(words, LIKELY) for key in keys}
    lexicon = FeatureVocabulary(tuple(LIKELY), np.array(list(LIKELY.values()), np.int32))
    word_table = random_table(of_words, len(TAGS))
    logs = [scores(keys, weights_of(word_table)) for keys in word_keys(words, LIKELY)]
    tags = [int(each.argmax()) for each in logs]
    of_spans = {key for keys in all_span_keys(names_of(words), tags) for key in keys}
    return FeatureEvidence(CHAINS, TAGS, lexicon, word_table, random_table(of_spans, len(CHAINS), largest=20))


def weights_of(table: FeatureTable) -> dict[int, np.ndarray]:
    return dict(zip(table.keys.tolist(), table.weights * table.scale, strict=True))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_features_score_as_the_slow_reference(n):
    words = WORDS[:n]
    model = some_evidence(words)
    evidence = model.evidence([words])[0]
    logits = np.array([scores(keys, weights_of(model.of_words)) for keys in word_keys(words, LIKELY)])
    tags = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    of_spans = all_span_keys(names_of(words), logits.argmax(1).tolist())
    spans = [scores(keys, weights_of(model.of_spans)) for keys in of_spans]
    assert evidence.spans.dtype == evidence.tags.dtype == np.float32
    assert np.allclose(evidence.tags, np.log(tags), atol=1e-4)
    assert np.allclose(evidence.spans, np.clip(spans, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS), atol=1e-4)


def test_features_keep_the_contract():
    model = some_evidence()
    assert isinstance(model, EvidenceModel)
    strange = ["", "x" * 10_000, "\ud800", "漢字", "-LRB-"]
    for words, evidence in zip(([], strange), model.evidence([[], strange]), strict=True):
        n = len(words)
        assert (evidence.spans.shape, evidence.tags.shape) == ((n * (n + 1) // 2, 3), (n, 3))
        assert np.allclose(np.exp(evidence.tags).sum(1), 1, atol=1e-5)


def test_features_of_long_sentences_are_those_of_their_spans(monkeypatch):
    model = some_evidence()
    whole = model.evidence([WORDS * 5])[0].spans
    monkeypatch.setattr("spacy_lpcfg.evidence.features._CHUNK", 17)
    assert np.array_equal(model.evidence([WORDS * 5])[0].spans, whole)


def test_features_bound_log_odds():
    model = some_evidence()
    model = replace(model, of_spans=replace(model.of_spans, scale=100.0))
    assert np.abs(model.evidence([WORDS])[0].spans).max() == np.float32(LARGEST_LOG_ODDS)


def test_features_that_lack_an_atom_have_no_key():
    atoms = np.array([[5, 0], [5, 7]], np.int32)
    keys = feature_keys(atoms, np.array([[0, 0, -1], [1, 0, 1]], np.int32))
    assert (keys < 0).tolist() == [[False, True], [False, False]]
    assert keys[0, 0] == keys[1, 0] != keys[1, 1]


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_features_are_found_in_the_hash_table(n):
    numbers = np.random.default_rng(0).permutation(3 * n + 3).astype(np.int32) * 641
    keys = np.sort(numbers[:n])
    wanted = np.append(numbers, np.int32(-1))[None]
    places = {key: i for i, key in enumerate(keys.tolist())}
    expected = [places.get(key, -1) for key in wanted[0].tolist()]
    find_rows(wanted, keys, hash_table(keys))
    assert wanted[0].tolist() == expected


def test_features_are_rounded_to_eight_bits():
    weights = np.array([[2.0, -1.0], [0.001, -0.002], [0.0, 0.5]], np.float32)
    table = FeatureTable(np.array([3, 5, 9], np.int32), weights).rounded()
    assert table.keys.tolist() == [3, 9]
    assert table.weights.dtype == np.int8
    assert np.allclose(table.weights * table.scale, weights[[0, 2]], atol=table.scale / 2)
    assert FeatureTable(np.zeros(0, np.int32), weights[:0]).rounded().weights.shape == (0, 2)


def test_features_are_stored():
    model = some_evidence()
    stored = FeatureEvidence.from_values(unpack("x", 1, compressed(pack("x", 1, model.to_values()))))
    for each in (stored, pickle.loads(pickle.dumps(model))):
        assert (each.chains, each.tags) == (CHAINS, TAGS)
        one, other = each.evidence([WORDS])[0], model.evidence([WORDS])[0]
        assert np.array_equal(one.spans, other.spans)
        assert np.array_equal(one.tags, other.tags)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chains", ()),
        ("chains", ("NP", "NP", "S")),
        ("chains", ("NP",)),
        ("tags", (1, 2, 3)),
        ("words", ("The", "The", ".")),
        ("words", ("The",)),
        ("likely_tags", np.array([0, 1, 3], np.int32)),
        ("likely_tags", None),
        ("word.keys", np.array([2, 1], np.int32)),
        ("word.keys", np.array([-1, 1], np.int32)),
        ("word.keys", np.array([1, -(2**31)], np.int32)),
        ("word.keys", None),
        ("span.weights", np.zeros((1, 3), np.uint8)),
        ("span.weights", None),
        ("span.scale", float("nan")),
        ("span.scale", 0),
        ("span.scale", "1"),
        ("span.other", 1),
        ("other", 1),
    ],
)
def test_features_refuse_damaged_values(name, value):
    with pytest.raises(ValueError, match=r"feature evidence is inconsistent in its|does not know"):
        FeatureEvidence.from_values({**some_evidence().to_values(), name: value})
