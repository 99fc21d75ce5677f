"""Combinations in an `lpcfg_parser`: by a config, by the command, saved and loaded."""

import re
from dataclasses import replace
from functools import partial

import pytest
import spacy
from paths import ROOT
from spacy.cli.train import train
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner

from spacy_lpcfg.combination import Combined
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.evaluation.calibration import tempered
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.stacking import Stacked
from spacy_lpcfg.trees import read_trees

pytestmark = pytest.mark.slow

SAMPLE, CONFIG = ROOT / "assets" / "sample", ROOT / "configs" / "grammar.cfg"
TEXT = "The ferry that my sister missed was the last one."
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
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe("lpcfg_parser", config={"learner": LEARNER})
    nlp.initialize(lambda: Treebank(SAMPLE / "train.mrg")(nlp))
    return nlp


def test_combined_parser_learns_by_a_config(nlp):
    assert isinstance(nlp.get_pipe("lpcfg_parser").grammar, Combined)
    doc = nlp(TEXT)
    assert len(doc._.constituency) == 1
    assert all(0 <= score <= 1 for score in doc.spans["constituents"].attrs["scores"])
    scores = nlp.evaluate(list(Treebank(SAMPLE / "dev.mrg")(nlp)))
    assert scores["evalb_f"] > 0.4


def test_combined_parser_takes_tags(nlp):
    component = nlp.get_pipe("lpcfg_parser")
    gold = next(iter(Treebank(SAMPLE / "dev.mrg")(nlp)))
    component.tags = "given"
    try:
        doc = component(gold.reference.copy())
    finally:
        component.tags = "model"
    assert [token.tag_ for token in doc] == [token.tag_ for token in gold.reference]


def test_combined_parser_is_saved(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again(TEXT).to_bytes() == nlp(TEXT).to_bytes()


def test_command_learns_a_combination(tmp_path):
    trees = tmp_path / "train.mrg"
    trees.write_text("\n".join(str(tree) for tree, _ in zip(read_trees(SAMPLE / "train.mrg"), range(40), strict=False)))
    output = tmp_path / "model"
    arguments = ["learn", "combined", str(trees), "--dev", str(trees), "--output", str(output), "--seed", "1"]
    result = CliRunner().invoke(lpcfg_cli, arguments)
    assert result.exit_code == 0, result.output
    assert "dev F1" in result.output
    nlp = spacy.load(output)
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
        arguments = ["parse", str(tmp_path / model), "-", "--format", "jsonl", *options]
        result = CliRunner().invoke(lpcfg_cli, arguments, input=TEXT)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert parsed("wide", "--beam", "1") == parsed("narrow") != parsed("wide")


def test_command_learns_one_grammar_from_text(tmp_path):
    trees, text, output = tmp_path / "train.mrg", tmp_path / "text", tmp_path / "model"
    trees.write_text("\n".join(str(tree) for tree, _ in zip(read_trees(SAMPLE / "train.mrg"), range(20), strict=False)))
    text.write_text("The old ferry was sold.\n\nMy sister missed the last one.\n", encoding="utf-8")
    arguments = ["learn", "combined", str(trees), "--preset", "fast", "--output", str(output)]
    result = CliRunner().invoke(lpcfg_cli, arguments)
    assert result.exit_code == 2
    assert "--text" in result.output
    result = CliRunner().invoke(lpcfg_cli, [*arguments, "--text", str(text)])
    assert result.exit_code == 0, result.output
    parser = spacy.load(output).get_pipe("lpcfg_parser")
    assert isinstance(parser.grammar, Stacked)
    assert isinstance(parser.grammar.model, Grammar)
    assert (parser.grammar.model.temperature, parser.output.temperature) == (PRESETS["fast"].temperature, None)
    assert parser.learner.student.learner == preset("fast", text=(), span_layer=False).student
    assert next(iter(parser.learner.text)) == ["The", "old", "ferry", "was", "sold", "."]


@pytest.fixture
def paths(tmp_path):
    """Overrides of a config: a few trees, and two sentences of text."""
    trees, text = tmp_path / "train.mrg", tmp_path / "text"
    trees.write_text("\n".join(str(tree) for tree, _ in zip(read_trees(SAMPLE / "train.mrg"), range(20), strict=False)))
    text.write_text("The old ferry was sold.\nMy sister missed the last one.\n", encoding="utf-8")
    return {"paths.train": str(trees), "paths.dev": str(trees), "paths.text": str(text)}


@pytest.mark.parametrize("name", PRESETS)
def test_config_has_the_learner_of_its_preset(name, paths):
    """With a text and without, and no settings of the component besides."""
    for text in [paths["paths.text"]] if name == "fast" else [paths["paths.text"], None]:
        overrides = {**paths, "paths.text": text, "system.seed": 3, "vars.learner": name}
        config = load_config(CONFIG, overrides=overrides)
        assert {*config["components"]["lpcfg_parser"]} == {"factory", "learner"}
        parser = load_model_from_config(config, auto_fill=True).get_pipe("lpcfg_parser")
        taught = parser.learner.learners[0] if name == "balanced" else parser.learner
        sentences = text and taught.text
        assert text is None or [words[0] for words in sentences] == ["The", "My"]
        assert parser.learner == preset(name, text=sentences, seed=3)
        assert (parser.decoding, parser.output.temperature) == (None, None)


def test_config_trains(paths, tmp_path, monkeypatch):
    """By `spacy train`; networks have fewer states and passes, for the time. Commands learn the other presets."""
    monkeypatch.setattr("spacy_lpcfg.combination.presets.ISBNLearner", partial(ISBNLearner, n_states=4, n_epochs=1))
    train(CONFIG, tmp_path / "out", overrides={**paths, "paths.text": None, "vars.learner": "accurate"})
    nlp = spacy.load(tmp_path / "out" / "model-last")
    parser = nlp.get_pipe("lpcfg_parser")
    assert parser.score_temperature == parser.grammar.temperature == PRESETS["accurate"].temperature
    for parser.decoding in ("mbr", "rerank"):
        assert nlp(TEXT)._.constituency


def test_scores_are_calibrated(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    dev = tmp_path / "dev.mrg"
    dev.write_text("\n".join(str(tree) for tree, _ in zip(read_trees(SAMPLE / "dev.mrg"), range(60), strict=False)))
    arguments = ["calibrate", str(tmp_path / "model"), str(dev), "--output", str(tmp_path / "calibrated")]
    result = CliRunner().invoke(lpcfg_cli, arguments)
    assert result.exit_code == 0, result.output
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
    again = spacy.blank("en")
    again.add_pipe("lpcfg_sentencizer")
    other = again.add_pipe("lpcfg_parser")
    for load in (partial(other.from_disk, saved), partial(other.from_bytes, data), partial(again.from_bytes, whole)):
        other.grammar = None
        load()
        assert again(TEXT).spans["constituents"].attrs["scores"] == pytest.approx(warm)
    other.output = replace(other.output, temperature=1.0)
    assert again(TEXT).spans["constituents"].attrs["scores"] == pytest.approx(raw)


@pytest.mark.parametrize("bad", [0, -1, 1e300])
@pytest.mark.parametrize("name", ["lpcfg_parser", "isbn_parser"])
def test_temperature_is_checked(name, bad):
    with pytest.raises(ValueError, match="temperature to be a number above 0"):
        spacy.blank("en").add_pipe(name, config={"output": {"temperature": bad}})


def test_combined_parser_decodes_as_it_is_told(nlp):
    component = nlp.get_pipe("lpcfg_parser")
    words = TEXT[:-1].split()
    try:
        for decoding, own in (("vote", "vote"), ("rerank", "rerank"), ("mbr", "mbr")):
            component.decoding = decoding
            assert component.parser.parser.parser.decoding == own
            assert component.parser.parser.parse(words).tree.words == words
    finally:
        component.decoding = "mbr"
    of_its_own = f"{', '.join(component.grammar.decodings)} for this Combined, got 'trees'"
    with pytest.raises(ValueError, match=of_its_own):
        component.decoding = "trees"


def test_reranking_is_refused_where_it_cannot_be(nlp, tmp_path):
    """When the component learns or loads what cannot be reranked; what it had before stays."""
    pcfg = {"@misc": "spacy-lpcfg.TreebankPCFG.v1"}
    plain = spacy.blank("en")
    plain.add_pipe("lpcfg_parser", config={"learner": pcfg})
    plain.initialize(lambda: Treebank(SAMPLE / "train.mrg", limit=20)(plain))
    plain.to_disk(tmp_path)
    both = spacy.blank("en")
    parser = both.add_pipe("lpcfg_parser", config={"decoding": "rerank", "learner": pcfg})
    refused = f"{', '.join(plain.get_pipe('lpcfg_parser').grammar.decodings)} for this Grammar"
    with pytest.raises(ValueError, match=refused):
        both.initialize(lambda: Treebank(SAMPLE / "train.mrg", limit=20)(both))
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
        expected = nlp(TEXT)._.constituency[0].bracketed
        component.decoding = "mbr"
        arguments = ["parse", str(tmp_path / "model"), str(tmp_path / "text"), "--decoding", decoding]
        result = CliRunner().invoke(lpcfg_cli, arguments)
        assert result.exit_code == 0, result.output
        assert expected in result.output
    refused = CliRunner().invoke(lpcfg_cli, ["parse", "en-fast", str(tmp_path / "text"), "--decoding", "rerank"])
    assert refused.exit_code == 2
    assert "most-probable" in refused.output
