"""The commands with incremental sigmoid belief networks: learn and parse, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from commands import run, sample_part, sets, trees_in

from spacy_lpcfg.components.isbn_parser import ISBNParser
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.trees import normalize, read_trees
from spacy_lpcfg.trees.transforms import escape_tokens

TINY = sets("n_states=4", "n_epochs=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("isbn")
    sample_part(folder / "train.mrg", "train", 100)
    sample_part(folder / "dev.mrg", "dev", 10)
    return folder


@pytest.fixture(scope="module")
def model(isbn_model):
    return isbn_model


def component_of(model: Path) -> ISBNParser:
    return spacy.load(model).get_pipe("isbn_parser")


# learn


def test_cli_isbn_learns_an_ensemble_and_measures_it(folder, tmp_path):
    done = run(
        "learn", "parser", folder / "train.mrg", "--method", "isbn", "--dev", folder / "dev.mrg", *TINY,
        *sets("approximation=mean-field-step", "n_networks=2"), "--seed", 3, "--jobs", 2,
        "--output", tmp_path / "new" / "model",
    )  # fmt: skip
    assert len([line for line in done.stderr.splitlines() if line.startswith("network ")]) == 4
    nlp = spacy.load(tmp_path / "new" / "model")
    settings = {"approximation": "mean-field-step", "n_networks": 2, "n_states": 4, "n_epochs": 2}
    assert nlp.get_pipe("isbn_parser").learner == ISBNLearner(**settings, seed=3)
    assert {network.approximation for network in nlp.get_pipe("isbn_parser").learned.networks} == {"mean-field-step"}
    run("parse", tmp_path / "new" / "model", folder / "dev.mrg", "--input", "trees", "-o", tmp_path / "parsed")
    scores = json.loads(run("evaluate", folder / "dev.mrg", tmp_path / "parsed", "--json").stdout)
    assert f"dev F1 {scores['evalb_f']:.2f} on 10 trees" in done.stdout
    assert nlp.meta["performance"]["evalb_f"] == pytest.approx(scores["evalb_f"] / 100)
    assert nlp.meta["fit"]


def test_cli_isbn_wrong_usage_is_code_2(tmp_path, folder):
    run("learn", "parser", tmp_path / "absent.mrg", "--method", "isbn", "-o", tmp_path / "out", code=2)
    for options in (
        *map(sets, ("n_states=0", "n_networks=0", "approximation=exact", "heads=en")),
        ("--encoder", "none"),
    ):
        run("learn", "parser", folder / "train.mrg", "--method", "isbn", *options, "-o", tmp_path / "out", code=2)


# parse


def test_cli_isbn_parses_with_the_beam_that_it_is_told(model, folder):
    isbn = component_of(model).learned
    assert component_of(model).pruning.beam == 4  # as it was learned
    golds = [normalize(tree) for tree in read_trees(folder / "dev.mrg")]
    for beam in (1, 12):
        parser = IncrementalParser(isbn, search=BeamSettings(beam=beam))
        options = ("--input", "trees", *sets(f"pruning.beam={beam}"))
        found = [normalize(tree) for tree in trees_in(run("parse", model, folder / "dev.mrg", *options).stdout)]
        known = isbn.words
        assert found == [normalize(parser.parse(escape_tokens(gold.words, known=known)).tree) for gold in golds]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("beam=5", "Expected a setting of lpcfg_parser, got 'beam'"),
        ("pruning.branching=5", "Expected a setting of pruning, got 'branching'"),
        ("pruning.beam=5", "Expected beam to be a number from 0 to 1, got 5"),
        ("limits=5", "Expected limits to be made by spacy-lpcfg.Limits.v1, got 5"),
    ],
)
def test_cli_parse_refuses_settings_that_the_component_cannot_have(pcfg_model, setting, message):
    error = run("parse", pcfg_model, "-", *sets(setting), text="Go", code=2).stderr
    assert message in " ".join(error.split())
