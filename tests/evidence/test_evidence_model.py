"""Evidence by an encoder: both parts together, and their storage."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from encoders import WIDTH, make_encoder, random_classifier

from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.parsing.evidence import EvidenceModel
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import StorageError, compressed, pack, unpack

SENTENCES = [["The", "dogs", "barked", "."], [], ["It", "rained"], ["dog"] * 30]


@pytest.fixture(scope="module")
def model() -> EncoderEvidence:
    return EncoderEvidence(make_encoder(quantized=True), random_classifier(WIDTH))


def test_evidence_model_keeps_the_contract(model):
    assert isinstance(model, EvidenceModel)
    assert (model.chains, model.tags) == ((("NP",), ("S", "VP")), ("A", "B", "C"))
    for words, evidence in zip(SENTENCES, model.evidence(SENTENCES), strict=True):
        n = len(words)
        assert evidence.spans.shape == (n * (n + 1) // 2, 2)
        assert evidence.tags.shape == (n, 3)
        assert np.allclose(np.exp(evidence.tags).sum(1), 1, atol=1e-5)
        alone = model.evidence([words])[0]
        assert np.allclose(alone.spans, evidence.spans, atol=1e-4)
        assert np.allclose(alone.tags, evidence.tags, atol=1e-4)
    assert model.evidence([]) == []


def test_evidence_model_is_stored(model):
    stored = EncoderEvidence.from_values(unpack("x", 1, compressed(pack("x", 1, model.to_values()))))
    for each in (stored, pickle.loads(pickle.dumps(model))):
        assert (each.chains, each.tags) == (model.chains, model.tags)
        for one, other in zip(each.evidence(SENTENCES), model.evidence(SENTENCES), strict=True):
            assert np.array_equal(one.spans, other.spans)
            assert np.array_equal(one.tags, other.tags)


def test_evidence_model_refuses_other_values(model):
    with pytest.raises(StorageError, match="does not know"):
        EncoderEvidence.from_values({**model.to_values(), "other.model": 1})
    with pytest.raises(StorageError, match="does not know"):
        EncoderEvidence.from_values({**model.to_values(), "encoder.other": 1})


def test_evidence_model_refuses_an_encoder_of_another_width():
    model = EncoderEvidence(make_encoder(), random_classifier(WIDTH + 1))
    with pytest.raises(ModelError, match=f"vectors of {WIDTH + 1} numbers.*got one with {WIDTH}"):
        model.evidence(SENTENCES)
