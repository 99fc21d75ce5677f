"""Combinations in an `lpcfg_parser`: by a config, by the command, saved and loaded."""

import re
from dataclasses import replace
from functools import partial

import pytest
import spacy
from commands import SAMPLE, run, sample_part, stderr_of
from paths import ROOT
from pipelines import pipeline_of, treebank
from spacy.cli.train import train

from spacy_lpcfg.combination import Combined
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.evaluation.calibration import tempered
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.stacking import Stacked

pytestmark = pytest.mark.slow

TEXT = "The ferry that my sister missed was the last one."
RAW = "The old ferry was sold.\n\nMy sister missed the last one.\n"
LEARNER = {
    "@misc": "spacy-lpcfg.Combined.v1",
    "weights": [0.4, 0.4, 0.2],
    "learners": {
        "grammar": {"@misc": "spacy-lpcfg.TreebankPCFG.v1"},
        "network": {"@misc": "spacy-lpcfg.ISBNLearner.v1", "n_states": 8, "n_epochs": 3},
        "mirrored": {
            "@misc": "spacy-lpcfg.Mirrored.v1",
            "learner": {"@misc": "spacy-lpcfg.ISBNLearner.v1", "n_states": 8, "n_epochs": 3, "seed": 1},
        },
    },
}


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline_of("lpcfg_parser", learner=LEARNER)
    nlp.initialize(lambda: treebank(0)(nlp))
    return nlp


def test_combined_parser_learns_by_a_config(nlp):
    assert isinstance(nlp.get_pipe("lpcfg_parser").grammar, Combined)
    doc = nlp(TEXT)
    assert len(doc._.constituency) == 1
    assert all(0 <= score <= 1 for score in doc.spans["constituents"].attrs["scores"])
    scores = nlp.evaluate(list(Treebank(SAMPLE / "dev.mrg")(nlp)))
    assert scores["evalb_f"] > 0.4


def test_command_learns_a_combination(tmp_path):
    trees = sample_part(tmp_path / "train.mrg", "train", 40)
    result = run("learn", "combined", trees, "--dev", trees, "--output", tmp_path / "model", "--seed", 1)
    assert "dev F1" in result.output
    nlp = spacy.load(tmp_path / "model")
    members = nlp.get_pipe("lpcfg_parser").grammar.members
    assert [type(member).__name__ for member in members] == ["Stacked", "ISBN", "Mirrored"]
    assert nlp.config["components"]["lpcfg_parser"]["learner"]["name"] == "balanced"
    assert {step["grammar"] for step in nlp.meta["fit"]} == {1}  # networks have histories of their own
    assert nlp(TEXT)._.constituency
    assert nlp.get_pipe("lpcfg_parser").score_temperature == PRESETS["balanced"].temperature


def test_command_sets_the_beam_of_networks(nlp, tmp_path):
    nlp.to_disk(tmp_path / "wide")
    narrow = spacy.load(tmp_path / "wide")
    parser = narrow.get_pipe("lpcfg_parser")
    parser.grammar = replace(parser.grammar, beam=1, lattice=None)
    narrow.to_disk(tmp_path / "narrow")

    def parsed(model: str, *options: str) -> str:
        return run("parse", tmp_path / model, "-", "--format", "jsonl", *options, text=TEXT).stdout

    assert parsed("wide", "--beam", "1") == parsed("narrow") != parsed("wide")


def test_command_learns_one_grammar_from_text(tmp_path):
    (tmp_path / "text").write_text(RAW, encoding="utf-8")
    trees = sample_part(tmp_path / "train.mrg", "train", 20)
    learn = "learn", "combined", trees, "--preset", "fast", "--output", tmp_path / "model"
    assert "--text" in stderr_of(run(*learn, code=2))
    run(*learn, "--text", tmp_path / "text")
    parser = spacy.load(tmp_path / "model").get_pipe("lpcfg_parser")
    assert isinstance(parser.grammar, Stacked)
    assert isinstance(parser.grammar.model, Grammar)
    assert (parser.grammar.model.temperature, parser.output.temperature) == (PRESETS["fast"].temperature, None)
    assert parser.learner.student.learner == preset("fast", text=(), span_layer=False).student
    assert next(iter(parser.learner.text)) == ["The", "old", "ferry", "was", "sold", "."]


def test_config_trains(tmp_path, monkeypatch):
    """By `spacy train`; networks have fewer states and passes, for the time. Commands learn the other presets."""
    monkeypatch.setattr("spacy_lpcfg.combination.presets.ISBNLearner", partial(ISBNLearner, n_states=4, n_epochs=1))
    trees = str(sample_part(tmp_path / "train.mrg", "train", 20))
    overrides = {"paths.train": trees, "paths.dev": trees, "vars.learner": "accurate"}
    train(ROOT / "configs" / "grammar.cfg", tmp_path / "out", overrides=overrides)
    nlp = spacy.load(tmp_path / "out" / "model-last")
    parser = nlp.get_pipe("lpcfg_parser")
    assert parser.score_temperature == parser.grammar.temperature == PRESETS["accurate"].temperature
    for parser.decoding in ("mbr", "rerank"):
        assert nlp(TEXT)._.constituency


def test_scores_are_calibrated(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    dev = sample_part(tmp_path / "dev.mrg", "dev", 60)
    result = run("calibrate", tmp_path / "model", dev, "--output", tmp_path / "calibrated")
    pattern = r"dev.mrg: expected calibration error of brackets ([0-9.]+)%, tags ([0-9.]+)%, whole trees [0-9.]+%"
    as_they_are, _, fitted = re.findall(pattern, result.output)
    assert all(float(after) <= float(before) for before, after in zip(as_they_are, fitted, strict=True))
    again = spacy.load(tmp_path / "calibrated")
    output = again.get_pipe("lpcfg_parser").output
    temperature, of_tags = output.temperature, output.tag_temperature
    assert f"temperatures {temperature:5.3f} and of tags {of_tags:5.3f}, fitted to these trees" in result.output
    docs = nlp(TEXT), again(TEXT)
    before, after = (doc.spans["constituents"] for doc in docs)
    assert [(span.start, span.end, span.label_) for span in before] == [
        (span.start, span.end, span.label_) for span in after
    ]
    assert after.attrs["scores"] == pytest.approx(tempered(before.attrs["scores"], temperature), abs=1e-6)


def test_temperature_goes_where_the_model_goes(nlp, tmp_path):
    """By files and bytes of the component and of the pipeline; the setting of the component overrules it."""
    component = nlp.get_pipe("lpcfg_parser")
    raw = nlp(TEXT).spans["constituents"].attrs["scores"]
    plain, saved = component.grammar, tmp_path / "pipe"
    component.grammar = replace(plain, temperature=2.0)
    try:
        warm = nlp(TEXT).spans["constituents"].attrs["scores"]
        component.to_disk(saved)
        data, whole = component.to_bytes(), nlp.to_bytes()
    finally:
        component.grammar = plain
    assert warm == pytest.approx(tempered(raw, 2.0), abs=1e-6)
    again = pipeline_of("lpcfg_parser")
    other = again.get_pipe("lpcfg_parser")
    for load in (partial(other.from_disk, saved), partial(other.from_bytes, data), partial(again.from_bytes, whole)):
        other.grammar = None
        load()
        assert again(TEXT).spans["constituents"].attrs["scores"] == pytest.approx(warm)
    other.output = replace(other.output, temperature=1.0)
    assert again(TEXT).spans["constituents"].attrs["scores"] == pytest.approx(raw)


def test_reranking_is_refused_where_it_cannot_be(nlp, tmp_path):
    """When the component learns or loads what cannot be reranked; what it had before stays."""
    plain = pipeline_of("lpcfg_parser", learner="pcfg")
    plain.initialize(lambda: treebank(20)(plain))
    plain.to_disk(tmp_path)
    both = pipeline_of("lpcfg_parser", decoding="rerank", learner="pcfg")
    parser = both.get_pipe("lpcfg_parser")
    refused = f"{', '.join(plain.get_pipe('lpcfg_parser').grammar.decodings)} for this model"
    with pytest.raises(ValueError, match=refused):
        both.initialize(lambda: treebank(20)(both))
    parser.from_bytes(nlp.get_pipe("lpcfg_parser").to_bytes())
    combined = parser.grammar
    for load in (
        lambda: parser.from_disk(tmp_path / "lpcfg_parser", exclude=["vocab"]),
        lambda: parser.from_bytes(plain.get_pipe("lpcfg_parser").to_bytes()),
    ):
        with pytest.raises(ModelError, match=f"cannot parse by what was loaded.*{refused}"):
            load()
        assert parser.grammar is combined
    assert both(TEXT)._.constituency
    with pytest.raises(ValueError, match=refused):
        spacy.load(tmp_path, config={"components.lpcfg_parser.decoding": "rerank"})
    with pytest.raises(ValueError, match="rerank"):
        spacy.blank("en").add_pipe("lpcfg_parser", config={"decoding": "votes"})


def test_command_decodes_as_it_is_told(nlp, tmp_path):
    """Whatever the pipeline was saved with."""
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "text").write_text(TEXT)
    for decoding in ("mbr", "vote", "rerank"):
        component = nlp.get_pipe("lpcfg_parser")
        component.decoding = decoding
        assert component.parser.parser.parser.decoding == decoding
        expected = nlp(TEXT)._.constituency[0].bracketed
        component.decoding = "mbr"
        parse = "parse", tmp_path / "model", tmp_path / "text", "--decoding", decoding
        assert expected in run(*parse).stdout
    refused = run("parse", "en-fast", tmp_path / "text", "--decoding", "rerank", code=2)
    assert "most-probable" in refused.stderr
