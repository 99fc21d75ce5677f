"""Pretrained encoders of all families: folders of a hub, held against numpy, and files of our own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from encoders import (
    CONFIG,
    FAMILIES,
    UNIGRAMS,
    VOCABULARY,
    WIDTH,
    hidden_states,
    make_encoder,
    random_classifier,
    random_weights,
    write_hub,
    write_safetensors,
    write_tokenizer,
)

from spacy_lpcfg.evidence.pieces import UnigramPieces, WordPieces
from spacy_lpcfg.evidence.pretrained.cutting import cut_vocabulary
from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder, exported
from spacy_lpcfg.evidence.pretrained.hub import read_hub
from spacy_lpcfg.evidence.pretrained.safetensors import safetensors
from spacy_lpcfg.evidence.pretrained.tokenizers import read_pieces
from spacy_lpcfg.evidence.pretrained.weights import encoder_weights
from spacy_lpcfg.models.encoders import find_encoder
from spacy_lpcfg.parsing.model import ModelError

WORDS = ["The", "dogs", "barked", ",", "it", "rained", "é", "."]
PIECES = WordPieces(VOCABULARY)


@pytest.fixture
def hub(tmp_path):
    write_hub(tmp_path / "hub")
    return tmp_path / "hub"


@pytest.mark.parametrize("name", FAMILIES)
def test_an_encoder_of_each_family_has_the_vectors_of_the_reference(tmp_path, name):
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    pytest.importorskip("onnx", reason="encoders are exported by onnx")
    weights = write_hub(tmp_path / name, name)
    hub = read_hub(tmp_path / name)
    pieces = [hub.pieces.of_word(word) for word in WORDS]
    ids = [hub.pieces.first, *(i for word in pieces for i in word), hub.pieces.last]
    expected = hidden_states(weights, ids, FAMILIES[name].offset)[np.cumsum([len(word) for word in pieces])]
    (vectors,) = exported(hub, quantized=False).vectors([WORDS])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    (near,) = exported(hub).vectors([WORDS])
    assert np.sqrt(((near - expected) ** 2).mean()) < 0.1 * expected.std()
    assert hub.card["name"] == name
    assert hub.card["licence"] == "mit"
    assert len(hub.card["sha256"]) == 64


def test_a_cut_encoder_has_the_same_vectors_where_the_pieces_are_kept(tmp_path):
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    pytest.importorskip("onnx", reason="encoders are exported by onnx")
    write_hub(tmp_path, "multilingual-e5")
    hub = read_hub(tmp_path)
    cut = cut_vocabulary(hub.pieces, WORDS, 24)
    assert (len(cut.ids), cut.n_words, cut.n_changed, cut.n_unknown) == (24, 8, 0, 0)
    smaller = replace(hub, weights=hub.weights.of_pieces(cut.ids), pieces=hub.pieces.restricted(cut.ids))
    vectors = [exported(each, quantized=False).vectors([WORDS])[0] for each in (hub, smaller)]
    np.testing.assert_allclose(*vectors, atol=1e-6)


def test_words_whose_pieces_are_cut_off_fall_back_and_are_counted():
    pieces = UnigramPieces([piece for piece, _ in UNIGRAMS], np.array([s for _, s in UNIGRAMS], np.float32))
    words = ["dog"] * 3 + ["the"] * 2
    # special ones, the mark, and d, e, g, h, o and t: one piece of words has room
    cut = cut_vocabulary(pieces, words, 11)
    assert [pieces.vocabulary[i] for i in cut.ids] == ["<s>", "</s>", "<unk>", "▁", "▁dog", *"deghot"]
    assert cut[1:] == (5, 2, 0)
    assert cut_vocabulary(pieces, words, 4)[1:] == (5, 5, 5)


# Files that are wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "t5"}, "BERT's family.*got one of 't5'"),
        ({"hidden_act": "relu"}, "with 'relu'"),
        ({"position_embedding_type": "relative_key"}, "relative_key"),
        ({"num_hidden_layers": 3}, r"weights encoder\.layer\.2\..* got none: are all files"),
        ({"hidden_size": 32}, r"of the shape \(27, 32\), got of \(27, 16\)"),
        ({"num_attention_heads": 3}, "16 and 3 heads"),
        ({"intermediate_size": None}, "a number for intermediate_size or hidden_dim"),
    ],
)
def test_an_encoder_that_does_not_fit_its_config_is_refused(change, message):
    config = {**CONFIG, "model_type": "bert", **change}
    with pytest.raises(ModelError, match=message):
        encoder_weights(config, random_weights())


def test_an_encoder_without_embeddings_or_positions_is_refused():
    with pytest.raises(ModelError, match=r"with embeddings\.word_embeddings\.weight, got shared\.weight"):
        encoder_weights(CONFIG, {"shared.weight": np.zeros((2, 2), np.float32)})
    weights = random_weights()
    weights["embeddings.position_embeddings.weight"] = np.zeros((128, WIDTH), np.float32)
    with pytest.raises(ModelError, match="at least 512 positions, got 128"):
        encoder_weights(CONFIG, weights)


def test_a_folder_that_lacks_a_file_is_refused(hub, tmp_path):
    (hub / "model.safetensors").rename(hub / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"lacks model\.safetensors; pytorch_model\.bin is a pickle"):
        read_hub(hub)
    (hub / "pytorch_model.bin").rename(hub / "model.safetensors")
    (hub / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json, vocab\.txt or a SentencePiece model"):
        read_hub(hub)
    (hub / "vocab.txt").write_text("\n".join([*VOCABULARY, "more"]), encoding="utf-8")
    with pytest.raises(ModelError, match=f"at most {len(VOCABULARY)} pieces"):
        read_hub(hub)
    with pytest.raises(ModelError, match=r"lacks config\.json"):
        read_hub(tmp_path)


@pytest.mark.parametrize("data", [b"", b"no weights at all", (1_000).to_bytes(8, "little") + b"{}"])
def test_a_file_of_weights_that_is_something_else_is_refused(data):
    with pytest.raises(ValueError, match="Expected weights in the format safetensors"):
        safetensors(data, "x")


def test_weights_are_read_in_half_precision_and_integers_are_left_out(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float16).reshape(2, 3), "ids": np.arange(3)}
    write_safetensors(tmp_path / "x", arrays)
    data = (tmp_path / "x").read_bytes()
    read = safetensors(data, "x")
    assert [*read] == ["a"]
    np.testing.assert_array_equal(read["a"], arrays["a"].astype(np.float32))
    bfloat = b'{"b": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}'
    assert safetensors(len(bfloat).to_bytes(8, "little") + bfloat + b"\xc0\x3f", "y")["b"].tolist() == [1.5]
    with pytest.raises(ValueError, match="'a' are damaged"):
        safetensors(data[:-30], "x")


# Vocabularies -------------------------------------------------------------------------------------


def test_vocabularies_of_all_kinds_of_files_are_read(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    assert read_pieces(tmp_path).to_values() == {}
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    assert json.loads(read_pieces(tmp_path).to_values()["letters"]) == {"lower": False, "strip_accents": False}
    write_tokenizer(tmp_path, is_unigram=True)
    pieces = read_pieces(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").unlink()
    own = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *UNIGRAMS[4:-1]]
    (tmp_path / "sentencepiece.bpe.model").write_bytes(b"".join(_field(1, _piece(*each)) for each in own))
    same = read_pieces(tmp_path)
    assert same.vocabulary == pieces.vocabulary
    np.testing.assert_array_equal(same.to_values()["scores"], pieces.to_values()["scores"])


def _piece(piece: str, score: float) -> bytes:
    return _field(1, piece.encode()) + b"\x15" + np.float32(score).tobytes()


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("tokenizer.json", b'{"model": {"type": "BPE", "vocab": {}}}', "got one of 'BPE'"),
        ("tokenizer.json", b"[", "cannot be read"),
        ("tokenizer.json", b'{"model": {"type": "Unigram", "vocab": [["a", 1]]}}', "lacks <s>, </s>, <unk>"),
        ("tokenizer.json", b'{"model": {"vocab": {"[UNK]": 7}}, "added_tokens": []}', "without gaps"),
        ("vocab.txt", b"\xff", "cannot be read"),
        ("x.model", b"\x0a\xff", "its end is missing"),
        ("x.model", b"", "a unigram model of SentencePiece"),
    ],
)
def test_a_vocabulary_that_cannot_be_used_is_refused(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=message):
        read_pieces(tmp_path)


# Files of our own ---------------------------------------------------------------------------------


def test_an_encoder_and_its_classifier_are_kept_in_a_file(tmp_path):
    encoder = make_encoder()
    for kept in (None, random_classifier(WIDTH)):
        PretrainedEncoder(encoder, kept).to_disk(tmp_path / "x.encoder")
        read = find_encoder(str(tmp_path / "x.encoder"), "")
        assert read is not None
        assert (read.encoder.model, read.encoder.card) == (encoder.model, encoder.card)
        assert (read.classifier is None) == (kept is None)
    data = (tmp_path / "x.encoder").read_bytes()
    (tmp_path / "x.encoder").write_bytes(data[:-100] + bytes(100))
    with pytest.raises(ValueError, match=r"x\.encoder': .* is damaged"):
        find_encoder(str(tmp_path / "x.encoder"), "")


def test_an_encoder_in_onnx_is_taken_as_it_is(tmp_path):
    encoder = make_encoder()
    with pytest.raises(ModelError, match=r"such as encoder\.onnx"):
        PretrainedEncoder.from_folder(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(encoder.model)
    with pytest.raises(ModelError, match=r"tokenizer\.json, vocab\.txt"):
        PretrainedEncoder.from_folder(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    card = '{"licence": "MIT", "sha256": "of another", "data": ["a", "b"]}'
    (tmp_path / "card.json").write_text(card, encoding="utf-8")
    random_classifier(WIDTH).to_disk(tmp_path / "classifier.bin")
    read = find_encoder(str(tmp_path), "")
    assert read is not None
    assert read.classifier is not None
    assert (read.encoder.model, read.encoder.pieces.vocabulary) == (encoder.model, VOCABULARY)
    assert (read.encoder.card["name"], read.encoder.card["licence"]) == (tmp_path.name, "MIT")
    assert read.encoder.card["sha256"] == hashlib.sha256(encoder.model).hexdigest()
    assert read.encoder.card["data"] == "a, b"
