"""The scripts that tune and export encoders, on an encoder of two small layers."""

from __future__ import annotations

import importlib
import json
import random
from itertools import chain

import numpy as np
import pytest
from encoders import HEADS, LAYERS, VOCABULARY, WIDTH, random_weights
from paths import ROOT
from scripts_running import run

from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.pieces import WordPieces
from spacy_lpcfg.trees import parse_trees

TREES = list(
    parse_trees(
        [
            "(S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .))",
            "(S (NP (PRP It)) (VP (VBD rained) (NP (NP (DT the) (NNS dogs)) (PP (IN e) (NP (NNP a))))) (. .))",
            "(S (VP (VB Bark)))",
            "(FRAG (NP (NN rain)))",
            "(NP (DT the) (NN rain) (PP (IN e) (NP (NNP a))))",
        ]
    )
)
PIECES = WordPieces(VOCABULARY)


@pytest.fixture
def examples(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("span_examples")


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_the_best_tree_by_certain_scores_is_the_tree(examples, tree):
    labels = Labels.of(TREES, least_count=1)
    classes = labels.example(tree, np.empty((0, 0))).spans
    log_odds = np.where(np.arange(len(labels.chains)) == classes[:, None] - 1, 5.0, -5.0)
    assert examples.best_spans(log_odds, tuple(labels.chains)) == tree.spans()


def test_the_whole_sentence_has_a_bracket_even_if_none_is_likely(examples):
    assert examples.best_spans(np.array([[-3.0, -2.0]] * 6), [("NP",), ("S",)]) == [(0, 3, "S")]


def test_a_sentence_has_pieces_between_its_ends_and_the_last_one_of_each_word(examples):
    sentence = examples.Sentence.of(["-LRB-", "Dogged", "dog"], PIECES)
    assert [VOCABULARY[piece] for piece in sentence.pieces] == ["[CLS]", "(", "[UNK]", "dog", "[SEP]"]
    assert sentence.last.tolist() == [1, 2, 3]
    sentence = examples.Sentence.of(["barked", "rain"], PIECES)
    assert [VOCABULARY[sentence.pieces[last]] for last in sentence.last] == ["##ed", "rain"]


def test_batches_have_each_sentence_once_and_similar_lengths(examples):
    rng = random.Random(0)
    lengths = [rng.randrange(3, 60) for _ in range(500)] + [300]
    batches = examples.batches(lengths, 200, rng)
    assert sorted(chain.from_iterable(batches)) == list(range(501))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= 200
    assert sum(max(lengths[i] for i in batch) * len(batch) for batch in batches) < 1.1 * sum(lengths)


@pytest.fixture
def hub(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy", reason="the extra `encoder` is not installed")
    pytest.importorskip("onnx", reason="the extra `encoder` is not installed")
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    hub = tmp_path / "hub"
    hub.mkdir()
    config = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "layer_norm_eps": 1e-12}
    (hub / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer = {"model": {"vocab": {piece: i for i, piece in enumerate(VOCABULARY)}}}
    (hub / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    numpy_files.save_file(random_weights(), hub / "model.safetensors")
    return hub


def test_export_writes_the_encoder_its_vocabulary_and_its_card(hub, tmp_path):
    (hub / "card.json").write_text(json.dumps({"name": "Small", "licence": "MIT"}), encoding="utf-8")
    assert run("export_encoder.py", hub, tmp_path / "out").startswith("encoder.onnx: 0.")
    encoder = Encoder.from_folder(tmp_path / "out")
    assert encoder.vocabulary == VOCABULARY
    assert encoder.card["name"] == "Small"
    assert len(encoder.card["sha256"]) == 64
    assert encoder.vectors([["The", "dog"]])[0].shape == (2, WIDTH)


def test_export_reads_weights_with_a_prefix(hub, tmp_path):
    from safetensors.numpy import save_file

    run("export_encoder.py", hub, tmp_path / "one")
    save_file({f"bert.{name}": weight for name, weight in random_weights().items()}, hub / "model.safetensors")
    run("export_encoder.py", hub, tmp_path / "two")
    models = [(tmp_path / name / "encoder.onnx").read_bytes() for name in ("one", "two")]
    assert models[0] == models[1]


def test_export_says_what_a_folder_lacks(hub, tmp_path):
    from safetensors.numpy import save_file

    save_file({"shared.weight": np.zeros((2, 2), np.float32)}, hub / "model.safetensors")
    output = run("export_encoder.py", hub, tmp_path / "out", code=1)
    assert "Expected an encoder of BERT's kind, with embeddings.word_embeddings.weight, got shared.weight" in output
    (hub / "tokenizer.json").unlink()
    output = run("export_encoder.py", hub, tmp_path / "out", code=2)
    assert (
        f"expected a folder with config.json, tokenizer.json, model.safetensors; {hub} lacks tokenizer.json" in output
    )


@pytest.fixture
def network(examples):
    pytest.importorskip("torch", reason="the extra `encoder` is not installed")
    return importlib.import_module("span_network")


@pytest.fixture
def model(network, hub):
    return network.Model(hub, Labels.of(TREES, least_count=1), np.random.default_rng(0)).eval()


def test_an_exported_encoder_has_the_vectors_of_the_network(model, examples, hub, tmp_path):
    run("export_encoder.py", hub, tmp_path / "out", "--float")
    vectors = Encoder.from_folder(tmp_path / "out").vectors([tree.words for tree in TREES])
    for tree, rows in zip(TREES, vectors, strict=True):
        np.testing.assert_allclose(rows, model.vectors(examples.Sentence.of(tree.words, PIECES)), atol=1e-5)


def test_a_frozen_classifier_has_the_scores_of_the_network(model, network, examples):
    import torch

    sentences = [examples.Sentence.of(tree.words, PIECES) for tree in TREES]
    golds = [model.classifier.labels.example(tree, np.empty((0, 0))) for tree in TREES]
    with torch.no_grad():
        chains, tags = (x.numpy() for x in model(network.Batch.of(sentences, [gold.cases for gold in golds])))
    frozen = model.classifier.frozen()
    evidence = [frozen.evidence_of(model.vectors(s), tree.words) for s, tree in zip(sentences, TREES, strict=True)]
    np.testing.assert_allclose(np.concatenate([x.spans for x in evidence]), chains[:, 1:] - chains[:, :1], atol=1e-2)
    differences = np.concatenate([x.tags for x in evidence]) - tags
    np.testing.assert_allclose(differences, differences[:, :1].repeat(tags.shape[1], 1), atol=1e-2)


def test_tune_encoder_learns_exports_and_reports(network, hub, tmp_path):
    path, dev = tmp_path / "trees.mrg", tmp_path / "dev.mrg"
    for file, n in ((path, 20), (dev, 1)):
        file.write_text("".join(f"{tree}\n" for tree in TREES * n), encoding="utf-8")
    output = run("tune_encoder.py", hub, path, "--dev", dev, "--output", tmp_path / "out", "--epochs", 40)
    assert output.startswith("100 trees, 7 chains, 9 tags\n")
    assert "epoch 40, dev: F1 100.00" in output
    assert "8 bits, dev: F1 100.00" in output
    card = json.loads((tmp_path / "out" / "final" / "card.json").read_text("utf-8"))
    assert card["tuned on"] == "trees.mrg"
    names = {path.name for path in (tmp_path / "out" / "epoch40").iterdir()}
    assert names == {"card.json", "classifier.bin", "config.json", "model.safetensors", "tokenizer.json"}


def test_tuning_with_the_same_seed_gives_the_same_weights(network, hub, tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"{tree}\n" for tree in TREES), encoding="utf-8")
    for name in ("one", "two"):
        run("tune_encoder.py", hub, path, "--output", tmp_path / name, "--epochs", 2)
    weights = [(tmp_path / name / "epoch2" / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]
