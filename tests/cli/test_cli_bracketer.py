"""The commands of the bracketer: learn, parse and compare, as a user runs them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import spacy
from commands import SAMPLE, console_script, process, run, stderr_of, trees_in
from spacy.tokens import DocBin

from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.bracketing.tags import universal
from spacy_lpcfg.components.training.tagged_text import TaggedText
from spacy_lpcfg.trees import read_trees

pytestmark = pytest.mark.slow

TAGGED = "The/DT dog/NN barked/VBD (/-LRB- at/IN cats/NNS )/-RRB- ./.\n\nGo/VB\n"


@pytest.fixture(scope="module")
def model(bracketer_model):
    return bracketer_model


@pytest.fixture
def tagged(new_file):
    return new_file("text", TAGGED)


def bracketer_of(model: Path):
    return spacy.load(model).get_pipe("spectral_bracketer").learned


# learn


def test_cli_bracketer_learns_from_parts_of_speech(tmp_path):
    docs = [eg.reference for eg in TaggedText(SAMPLE / "train.mrg")(spacy.blank("en"))]
    DocBin(docs=docs, attrs=["POS", "SENT_START"]).to_disk(tmp_path / "docs.spacy")
    done = process(
        console_script(), "learn", "bracketer", tmp_path / "docs.spacy",
        "--attr", "pos", "--set", "variant=paper", "-o", tmp_path / "new" / "m",
    )  # fmt: skip
    assert f"learned from 600 sentences, {sum(map(len, docs)):,} tokens" in done.stdout
    assert spacy.load(tmp_path / "new" / "m").get_pipe("spectral_bracketer").attr == "pos"


def test_cli_bracketer_reads_folders_and_patterns(model, tmp_path):
    lines = [" ".join(map("/".join, zip(*sentence, strict=True))) for sentence in read_tagged(SAMPLE / "train.mrg")]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.tagged.gz").write_bytes(gzip.compress("\n".join(lines[:300]).encode()))
    (tmp_path / "b.tagged").write_text("\n".join(lines[300:]), encoding="utf-8")
    run(
        "learn", "bracketer", tmp_path / "folder", tmp_path / "*.tagged", "--set", "variant=paper", "-o", tmp_path / "m"
    )
    assert bracketer_of(tmp_path / "m").to_bytes() == bracketer_of(model).to_bytes()


def test_cli_bracketer_takes_a_map_of_tags(tmp_path):
    """Tags that nobody knows, each with the universal tag of what it stands for."""
    sentences = list(read_tagged(SAMPLE / "train.mrg"))
    names = {tag: f"T{i}" for i, tag in enumerate(sorted({tag for sentence in sentences for tag in sentence.tags}))}
    (tmp_path / "map").write_text("".join(f"{name}: {universal(tag)}\n" for tag, name in names.items()), "utf-8")
    for file, rename in (("odd", lambda tag: f"{names[tag]}:"), ("universal", universal)):
        lines = (" ".join(f"{word}/{rename(tag)}" for word, tag in zip(*each, strict=True)) for each in sentences)
        (tmp_path / file).write_text("\n".join(lines), encoding="utf-8")
    learn = ("learn", "bracketer", "--set", "variant=paper")
    run(*learn, tmp_path / "odd", "--tag-map", tmp_path / "map", "-o", tmp_path / "one")
    run(*learn, tmp_path / "universal", "-o", tmp_path / "other")
    assert bracketer_of(tmp_path / "one").to_bytes() == bracketer_of(tmp_path / "other").to_bytes()
    (tmp_path / "map").write_text("T0: NOUN\nT1: NN\n", encoding="utf-8")
    refused = run(*learn, tmp_path / "odd", "--tag-map", tmp_path / "map", "-o", tmp_path / "m", code=1)
    assert "map:2: Expected a tag and one of ADJ" in refused.stderr


def test_cli_bracketer_needs_tags_and_enough_text(tmp_path, tagged):
    DocBin(docs=[spacy.blank("en")("Go home")]).to_disk(tmp_path / "bare.spacy")
    arguments = ("learn", "bracketer", tmp_path / "bare.spacy", "-o", tmp_path / "model")
    assert "token.tag_" in run(*arguments, code=1).stderr
    assert "Expected" in run("learn", "bracketer", tagged, "-o", tmp_path / "model", code=1).stderr


# evaluate


def test_cli_scores_a_bracketer_as_its_parses(tmp_path, model):
    run("parse", model, SAMPLE / "dev.mrg", "-o", tmp_path / "parsed")
    scores = [run("evaluate", gold, test, "--unlabelled").stdout for gold, test in (
        (model, SAMPLE / "dev.mrg"), (SAMPLE / "dev.mrg", tmp_path / "parsed"),
    )]  # fmt: skip
    assert scores[0] == scores[1] != ""
    assert "add --unlabelled" in run("evaluate", model, SAMPLE / "dev.mrg", code=2).stderr


# parse


def test_cli_brackets_tagged_words(model, tagged):
    for options, text in ((("--input", "tagged"), ""), ((), "")):
        first, empty, last = run("parse", model, tagged, *options, text=text).stdout.split("\n")[:-1]
        assert (empty, last) == ("", "( (VB Go))")
    assert run("parse", model, "-", text=TAGGED).stdout.split("\n")[0] == first
    zipped = tagged.with_suffix(".gz")
    zipped.write_bytes(gzip.compress(tagged.read_bytes()))
    assert run("parse", model, zipped).stdout.split("\n")[0] == first
    (tree,) = trees_in(first)
    assert tree.words == ["The", "dog", "barked", "-LRB-", "at", "cats", "-RRB-", "."]
    assert tree.tags == ["DT", "NN", "VBD", "-LRB-", "IN", "NNS", "-RRB-", "."]
    spans = [(start, end) for start, end, label in tree.spans() if label == "X"]
    (sentence, *_) = read_tagged(tagged)
    assert spans == list(bracketer_of(model).bracket(*sentence).spans)


def test_cli_brackets_the_words_of_trees(model, tmp_path):
    parsed = tmp_path / "parsed.mrg"
    run("parse", model, SAMPLE / "dev.mrg", "-o", parsed)
    golds, found = list(read_trees(SAMPLE / "dev.mrg")), list(read_trees(parsed))
    assert [tree.words for tree in found] == [gold.words for gold in golds]
    assert [tree.tags for tree in found] == [gold.tags for gold in golds]
    assert {node.label for tree in found for node in tree.nodes() if not node.is_leaf} == {"", "X"}


def test_cli_brackets_text_where_the_pipeline_tags_it(model, tmp_path):
    run("learn", "parser", SAMPLE / "train.mrg", "--method", "pcfg", "-o", tmp_path / "pcfg")
    nlp = spacy.load(tmp_path / "pcfg")
    nlp.add_pipe("spectral_bracketer", source=spacy.load(model))
    parser = nlp.get_pipe("lpcfg_parser")
    nlp.to_disk(tmp_path / "both")
    assert trees_in(run("parse", tmp_path / "both", "-", text="Go home.").stdout)[0].label in ("S", "VP")
    parser.learned = None
    nlp.to_disk(tmp_path / "hollow")
    assert "no model yet" in run("parse", tmp_path / "hollow", "-", text="Go home.", code=1).stderr
    error = run("parse", model, "-", "--input", "text", text="Go home.", code=1).stderr
    assert "token.tag_" in error


def test_cli_brackets_nothing_without_tags(model, tagged):
    for options in (("--input", "tokens"), ("--input", "tagged", "--tags", "model")):
        assert "has no tags of its own" in stderr_of(run("parse", model, tagged, *options, code=2))
    assert "Expected word/TAG" in run("parse", model, "-", text="Go home", code=1).stderr
