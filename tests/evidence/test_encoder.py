"""The encoder: vectors of words, held against numpy."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from encoders import VOCABULARY, hidden_states, make_encoder, random_weights

from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.pieces import WordPieces
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import compressed, pack, unpack

PIECES = WordPieces(VOCABULARY)
WORDS = ("the", "dog", "dogs", "barked", "barking", "It", "rained", ".", "-LRB-", "dog-a", "x", "-" * 20)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return make_encoder()


def sentences(n: int, *, longest: int = 30) -> list[list[str]]:
    rng = random.Random(n)
    return [rng.choices(WORDS, k=rng.randrange(longest)) for _ in range(n)]


def expected(encoder: Encoder, words: list[str]) -> np.ndarray:
    """The vectors of a sentence of at most 510 pieces, by the slow reference."""
    pieces = [encoder.pieces.of_word(word) for word in words]
    ids = [VOCABULARY.index("[CLS]"), *(i for word in pieces for i in word), VOCABULARY.index("[SEP]")]
    return hidden_states(random_weights(), ids)[np.cumsum([len(word) for word in pieces])]


def test_encoder_vectors_are_those_of_the_last_pieces(encoder):
    for words, vectors in zip(sentences(20), encoder.vectors(sentences(20)), strict=True):
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(words), encoder.width)
        if words:
            assert np.allclose(vectors, expected(encoder, words), atol=1e-4)


@pytest.mark.parametrize("quantized", [False, True])
def test_encoder_vectors_do_not_depend_on_the_batch(quantized):
    encoder = make_encoder(quantized=quantized)
    batch = sentences(40)
    together = encoder.vectors(batch)
    for words, vectors in zip(batch, together, strict=True):
        assert np.allclose(encoder.vectors([words])[0], vectors, atol=1e-4)


def test_encoder_in_8_bits_is_near():
    exact, near = (np.concatenate(make_encoder(quantized=q).vectors(sentences(20))) for q in (False, True))
    assert np.sqrt(((exact - near) ** 2).mean()) < 0.1 * exact.std()


def test_encoder_batches_are_bounded(encoder, monkeypatch):
    sizes = []
    run = encoder._run
    monkeypatch.setattr(
        encoder, "_run", lambda pieces: sizes.append(len(pieces) * max(map(len, pieces))) or run(pieces)
    )
    encoder.vectors([["dog"] * n for n in (1, 2, 700, 900, *[30] * 200)])
    assert max(sizes) <= 2_048
    assert len(sizes) < 20


def test_encoder_reads_long_sentences_in_windows(encoder):
    words = ["dog", "the", "."] * 400
    (vectors,) = encoder.vectors([words])
    assert vectors.shape == (1_200, encoder.width)
    assert np.allclose(vectors[:382], expected(encoder, words[:510])[:382], atol=1e-4)
    assert np.allclose(vectors[-345:], expected(encoder, words[-510:])[-345:], atol=1e-4)
    assert np.allclose(vectors[383:600], expected(encoder, words[255:765])[128:345], atol=1e-4)
    assert np.allclose(encoder.vectors([words[:510]])[0], expected(encoder, words[:510]), atol=1e-4)


def test_encoder_takes_any_words(encoder):
    for words in ([], [""], ["x" * 10_000], ["-" * 10_000] * 3, ["\x00", "\ud800", "漢" * 600]):
        (vectors,) = encoder.vectors([words])
        assert vectors.shape == (len(words), encoder.width)
        assert np.isfinite(vectors).all()
    assert encoder.vectors([]) == []


def test_encoder_can_be_pickled_and_shared_by_threads(encoder):
    batch = sentences(10)
    vectors = np.concatenate(encoder.vectors(batch))
    assert np.array_equal(np.concatenate(pickle.loads(pickle.dumps(encoder)).vectors(batch)), vectors)
    with ThreadPoolExecutor(4) as threads:
        for each in threads.map(encoder.vectors, [batch] * 8):
            assert np.array_equal(np.concatenate(each), vectors)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this platform cannot fork")
def test_encoder_can_be_used_before_and_after_a_fork(encoder):
    batch = sentences(5)
    vectors = np.concatenate(encoder.vectors(batch))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert np.array_equal(np.concatenate(pool.apply(encoder.vectors, [batch])), vectors)


def test_encoder_is_stored(encoder):
    data = compressed(pack("encoder", 1, encoder.to_values()))
    stored = Encoder.from_values(unpack("encoder", 1, data))
    assert (stored.model, stored.card) == (encoder.model, encoder.card)
    assert stored.pieces.vocabulary == encoder.pieces.vocabulary


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", b"onnx"),
        ("model", np.zeros(3)),
        ("vocabulary", ("[CLS]", "[SEP]", "[UNK]", "[UNK]")),
        ("vocabulary", ("a",)),
        ("scores", np.zeros(3, np.float32)),
        ("letters", '{"lower": 1}'),
        ("letters", '{"other": true}'),
        ("card", '{"name": 1}'),
        ("card", "["),
        ("other", "1"),
    ],
)
def test_encoder_refuses_damaged_values(name, value):
    encoder = Encoder(b"", PIECES, {})
    with pytest.raises(
        ValueError, match=r"inconsistent in its|vocabulary|metadata|do(es)? not know|the scores of|Expected letters"
    ):
        Encoder.from_values({**encoder.to_values(), name: value})


def test_encoder_refuses_what_is_no_encoder():
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    with pytest.raises(ModelError, match="not ONNX that onnxruntime can load"):
        Encoder(b"no model", PIECES, {}).vectors([["dog"]])


def test_encoder_reads_no_weights_from_other_files(encoder, tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx", reason="the model of the test is written by onnx")
    monkeypatch.chdir(tmp_path)
    model = onnx.load_model_from_string(encoder.model)
    matrix = next(constant for constant in model.graph.initializer if list(constant.dims) == [16, 48])
    (tmp_path / "other").write_bytes(matrix.raw_data)
    matrix.ClearField("raw_data")
    matrix.data_location = onnx.TensorProto.EXTERNAL
    matrix.external_data.add(key="location", value="other")
    with pytest.raises(ModelError, match=r"[Ee]xternal data"):
        Encoder(model.SerializeToString(), PIECES, {}).vectors([["dog"]])


def test_encoder_refuses_a_vocabulary_that_is_too_large(encoder):
    pieces = WordPieces([*VOCABULARY, "unknown"])
    with pytest.raises(ModelError, match="cannot be run"):
        Encoder(encoder.model, pieces, {}).vectors([["unknown"]])


def test_encoder_without_onnxruntime_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install onnxruntime.*evidence = false"):
        Encoder(b"", PIECES, {}).vectors([["dog"]])
