"""`spacy-lpcfg encoder`, and a parser that learns by its file."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import spacy
from commands import SAMPLE, run
from encoders import make_encoder, write_hub, write_tokenizer

from spacy_lpcfg.components.cli.encoder import _tell_costs
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder, exported
from spacy_lpcfg.evidence.pretrained.hub import read_hub
from spacy_lpcfg.trees import parse_trees

TREES = "(S (NP (DT the) (NN dog)) (VP (VBD barked)) (. .))\n(S (NP (PRP it)) (VP (VBD rained)) (. .))\n"


@pytest.fixture
def hub(tmp_path):
    make_encoder()  # skips where a library is missing
    write_hub(tmp_path / "hub", "multilingual-e5")
    return tmp_path / "hub"


def test_cli_encoder_cuts_exports_and_tells_the_sizes(hub, tmp_path):
    (tmp_path / "text.txt").write_text("The dogs barked.\n\nIt rained.\n", encoding="utf-8")
    (tmp_path / "trees.mrg").write_text(TREES, encoding="utf-8")
    output = tmp_path / "x.encoder"
    texts = ("--text", tmp_path / "text.txt", "--text", tmp_path / "trees.mrg")
    printed = run("encoder", hub, "-o", output, *texts, "--pieces", 20).stdout
    assert "read hub: 0.1 MB, 36 pieces\nkept 20 of 36 pieces: 0.1 MB\n" in printed
    assert re.search(r"of 14 words, \d+.\d\d% fall back to other pieces, and \d+.\d\d% to the unknown one", printed)
    assert f"saved to {output}: 0.0 MB" in printed
    encoder = PretrainedEncoder.from_disk(output).encoder
    assert encoder.card["licence"] == "mit"
    assert encoder.card["vocabulary"] == "20 of 36 pieces, by text.txt, trees.mrg"
    assert "exists: name another file" in " ".join(run("encoder", hub, "-o", output, code=2).stderr.split())


def test_cli_encoder_needs_no_tokenizer_for_the_words_of_trees(hub, tmp_path):
    """Where spaCy cannot make the tokenizer: that of Japanese needs another library."""
    (tmp_path / "trees.mrg").write_text(TREES, encoding="utf-8")
    run("encoder", hub, "-o", tmp_path / "x", "--text", tmp_path / "trees.mrg", "--lang", "none", "--pieces", 20)


def test_cli_encoder_and_a_parser_that_learns_and_needs_no_file_afterwards(hub, tmp_path):
    output, model = tmp_path / "x.encoder", tmp_path / "model"
    run("encoder", hub, "-o", output)
    sets = ("--set", "n_states=1", "--set", "n_iterations=1")
    run("learn", "parser", SAMPLE / "dev.mrg", "--lang", "es", "--encoder", output, *sets, "-o", model)
    output.unlink()
    nlp = spacy.load(model)
    parser = nlp.get_pipe("lpcfg_parser")
    assert isinstance(parser.learned.evidence, EncoderEvidence)
    assert nlp("The dog barked.").spans["constituents"]


def test_cli_encoder_tunes_and_tells_what_each_step_costs(hub, tmp_path):
    pytest.importorskip("torch", reason="the extra `encoder` is not installed")
    (tmp_path / "none.mrg").touch()
    assert (
        "none.mrg: expected"
        in run("encoder", hub, "-o", tmp_path / "x", "--tune", tmp_path / "none.mrg", code=1).stderr
    )
    assert not (tmp_path / "x").exists()
    trees, text, output = tmp_path / "trees.mrg", tmp_path / "text.txt", tmp_path / "x.encoder"
    trees.write_text(TREES * 20, encoding="utf-8")
    text.write_text("the dog", encoding="utf-8")
    tuning = ("--tune", trees, "--dev", trees, "--epochs", 2, "--text", text, "--pieces", 25)
    printed = run("encoder", hub, "-o", output, *tuning).stdout
    assert len(re.findall(r"epoch \d of 2: F1 \d+", printed)) == 2
    assert re.search(r"all pieces, 32 bits: .* F1 .*\n.*32 bits: .* F1 .*\npieces of the texts, 8 bits: .*F1", printed)
    read = PretrainedEncoder.from_disk(output)
    assert read.encoder.card["tuned on"] == "trees.mrg"
    assert read.classifier is not None


def test_cli_encoder_tells_the_costs_of_bits_alone_without_a_cut(hub, capsys):
    read, trees = read_hub(hub), list(parse_trees(TREES))
    settings = ClassifierSettings(n_epochs=1, least_steps=1, hidden=8)
    tuned = SimpleNamespace(weights=read.weights, classifier=learn_classifier(exported(read), trees, settings=settings))
    _tell_costs(read, replace(read, card={}), tuned, trees)
    told = re.findall(r"^(.*), (\d+) bits:", capsys.readouterr().out, re.MULTILINE)
    assert told == [("all pieces", "32"), ("all pieces", "8")]


def test_cli_encoder_takes_onnx_as_it_is(tmp_path):
    (tmp_path / "model.onnx").write_bytes(make_encoder().model)
    write_tokenizer(tmp_path, is_unigram=False)
    refused = run("encoder", tmp_path, "-o", tmp_path / "x", "--text", SAMPLE / "dev.mrg", code=2).stderr
    assert "taken as it is" in " ".join(refused.replace("│", " ").split())
    run("encoder", tmp_path, "-o", tmp_path / "x")
    assert PretrainedEncoder.from_disk(tmp_path / "x").encoder.model == make_encoder().model


def test_cli_encoder_tells_what_is_wrong(tmp_path):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert "lacks model.safetensors" in run("encoder", tmp_path, "-o", tmp_path / "x", code=1).stderr
    refused = run("encoder", tmp_path, "-o", tmp_path / "x", "--dev", SAMPLE / "dev.mrg", code=2).stderr
    assert "learns with --tune alone" in " ".join(refused.split())
    for option, needed in (("--pieces", "--text"), ("--epochs", "--tune")):
        refused = run("encoder", tmp_path, "-o", tmp_path / "x", option, 20, code=2).stderr
        assert option in refused
        assert needed in refused
