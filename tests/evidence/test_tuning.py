"""Tuning of encoders by torch, on an encoder of two small layers."""

from __future__ import annotations

import random
from itertools import chain

import numpy as np
import pytest
from encoders import VOCABULARY, write_hub

from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.pieces import WordPieces
from spacy_lpcfg.evidence.pretrained.examples import Sentence, batches, best_spans, classifier_f1
from spacy_lpcfg.evidence.pretrained.file import exported
from spacy_lpcfg.evidence.pretrained.hub import read_hub
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


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_the_best_tree_by_certain_scores_is_the_tree(tree):
    labels = Labels.of(TREES, least_count=1)
    classes = labels.example(tree, np.empty((0, 0))).spans
    log_odds = np.where(np.arange(len(labels.chains)) == classes[:, None] - 1, 5.0, -5.0)
    assert best_spans(log_odds, tuple(labels.chains)) == tree.spans()


def test_the_whole_sentence_has_a_bracket_even_if_none_is_likely():
    assert best_spans(np.array([[-3.0, -2.0]] * 6), [("NP",), ("S",)]) == [(0, 3, "S")]


def test_a_sentence_has_pieces_between_its_ends_and_the_last_one_of_each_word():
    sentence = Sentence.of(["-LRB-", "Dogged", "dog"], PIECES)
    assert [VOCABULARY[piece] for piece in sentence.pieces] == ["[CLS]", "(", "[UNK]", "dog", "[SEP]"]
    assert sentence.last.tolist() == [1, 2, 3]
    sentence = Sentence.of(["barked", "rain"], PIECES)
    assert [VOCABULARY[sentence.pieces[last]] for last in sentence.last] == ["##ed", "rain"]


def test_batches_have_each_sentence_once_and_similar_lengths():
    rng = random.Random(0)
    lengths = [rng.randrange(3, 60) for _ in range(500)] + [300]
    parts = batches(lengths, 200, rng)
    assert sorted(chain.from_iterable(parts)) == list(range(501))
    for batch in parts:
        assert len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= 200
    assert sum(max(lengths[i] for i in batch) * len(batch) for batch in parts) < 1.1 * sum(lengths)


@pytest.fixture(params=["bert", "electra"])
def hub(tmp_path, request):
    pytest.importorskip("torch", reason="the extra `encoder` is not installed")
    pytest.importorskip("onnx", reason="the extra `encoder` is not installed")
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    write_hub(tmp_path / "hub", request.param)
    return read_hub(tmp_path / "hub")


@pytest.fixture
def model(hub):
    from spacy_lpcfg.evidence.pretrained.network import TorchNetwork

    return TorchNetwork(hub.weights, Labels.of(TREES, least_count=1), np.random.default_rng(0)).eval()


def vectors_of(model, sentence: Sentence) -> np.ndarray:
    """The word vectors of a sentence by the network, (n_words, width)."""
    import torch

    pieces = torch.from_numpy(sentence.pieces[None])
    with torch.inference_mode():
        return model.encoder(pieces, torch.ones_like(pieces))[0].numpy()[sentence.last]


def test_an_exported_encoder_has_the_vectors_of_the_network(model, hub):
    vectors = exported(hub, quantized=False).vectors([tree.words for tree in TREES])
    for tree, rows in zip(TREES, vectors, strict=True):
        np.testing.assert_allclose(rows, vectors_of(model, Sentence.of(tree.words, PIECES)), atol=1e-5)


def test_a_frozen_classifier_has_the_scores_of_the_network(model):
    import torch

    from spacy_lpcfg.evidence.pretrained.network import Batch

    sentences = [Sentence.of(tree.words, PIECES) for tree in TREES]
    golds = [model.classifier.labels.example(tree, np.empty((0, 0))) for tree in TREES]
    with torch.no_grad():
        chains, tags = (x.numpy() for x in model(Batch.of(sentences, [gold.cases for gold in golds])))
    frozen = model.classifier.frozen()
    evidence = [frozen.evidence_of(vectors_of(model, s), tree.words) for s, tree in zip(sentences, TREES, strict=True)]
    np.testing.assert_allclose(np.concatenate([x.spans for x in evidence]), chains[:, 1:] - chains[:, :1], atol=1e-2)
    differences = np.concatenate([x.tags for x in evidence]) - tags
    np.testing.assert_allclose(differences, differences[:, :1].repeat(tags.shape[1], 1), atol=1e-2)


def test_tuning_learns_the_trees_in_8_bits_too_and_the_same_with_the_same_seed(hub):
    from dataclasses import replace

    from spacy_lpcfg.evidence.pretrained.tuning import tune

    lines: list[str] = []
    runs = [
        [*tune(hub.weights, hub.pieces, trees, n_epochs=n, tell=lines.append)]
        for trees, n in ((TREES * 20, 40), (TREES, 2), (TREES, 2))
    ]
    assert lines[0] == "100 trees, 7 chains, 9 tags"
    last = runs[0][-1]
    assert classifier_f1(exported(replace(hub, weights=last.weights)), last.classifier, TREES) == 100
    one, other = (run[-1].weights.arrays for run in runs[1:])
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert not np.array_equal(
        one["encoder.layer.0.output.dense.weight"], runs[1][0].weights.arrays["encoder.layer.0.output.dense.weight"]
    )
