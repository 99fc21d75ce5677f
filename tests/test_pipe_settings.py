"""Settings of the components: refused when a component is made and when they are assigned, and else of effect."""

from __future__ import annotations

from math import inf, nan

import pytest
import spacy
from confection import ConfigValidationError

from spacy_lpcfg.bracketing import BracketerError
from spacy_lpcfg.components.isbn_parser import ISBNParser
from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

TEXT = "The old man saw the ferry, and nobody waited."
PARSERS = {
    "spans_key": ["", None, 3],
    "set_tags": ["yes", 1, None],
    "tags": ["zzz", None, 1],
    "threshold": [nan, 2, -1, "0.5", None],
    "temperature": [nan, inf, 0, -1, "1", True],
    "surprisal": ["no", None],
    "scorer": [3],
    "constraints": [3],
    "max_words": [0, -1, 2.5, nan, "10", None],
    "max_seconds": [nan, -1, "1"],
}
BAD = {
    "lpcfg_parser": {
        **PARSERS,
        "learner": [3, None],
        "decoding": ["zzz", "reranking", None],
        "pruning": [3],
        "max_memory": [-1, 0, nan, "1", None],
    },
    "isbn_parser": {
        **PARSERS,
        "gold_key": ["", None],
        "tags": ["zzz", "prior"],
        "beam": [0, 2.5, 10**9, "10"],
        "branching": [0, 2.5, 10**9, nan],
        "decoding": ["zzz", "reranking"],
    },
    "spectral_bracketer": {
        "learner": [3, None],
        "spans_key": ["", None],
        "attr": ["dep", None],
        "seed": [-1, 0.5, "1", nan],
        "max_words": [0, 2.5, nan],
        "scorer": [3],
    },
}
CASES = [(factory, name, value) for factory, bad in BAD.items() for name, values in bad.items() for value in values]
CLASSES = {"lpcfg_parser": LPCFGParser, "isbn_parser": ISBNParser, "spectral_bracketer": SpectralBracketerPipe}


@pytest.fixture(scope="module")
def pipes():
    nlp = spacy.blank("en")
    for factory in BAD:
        nlp.add_pipe(factory)
    nlp.get_pipe("lpcfg_parser")(nlp.make_doc("Go"))  # by the grammar that comes with the package
    return nlp


@pytest.mark.parametrize(("factory", "name", "value"), CASES, ids=str)
def test_pipe_settings_are_checked_when_assigned(pipes, factory, name, value):
    pipe = pipes.get_pipe(factory)
    before = getattr(pipe, name)
    with pytest.raises(ValueError, match=f"Expected {name} to be .*[,;] got {value!r}"):
        setattr(pipe, name, value)
    assert getattr(pipe, name) is before


@pytest.mark.parametrize(("factory", "name", "value"), CASES, ids=str)
def test_pipe_settings_are_checked_when_a_pipe_is_made(pipes, factory, name, value):
    pipe = pipes.get_pipe(factory)
    learner = {"learner": pipe.learner} if hasattr(pipe, "learner") else {}
    with pytest.raises(ValueError, match=f"Expected {name} to be "):
        CLASSES[factory](pipes.vocab, pipe.model, **{**learner, name: value})


@pytest.mark.parametrize("factory", BAD)
def test_pipe_settings_are_all_checked(factory):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory)
    names = {*nlp.get_pipe_config(factory)} - {"factory", "model", "decoding"}
    assert names <= {*CLASSES[factory].checks}
    assert {*BAD[factory]} >= names


@pytest.mark.parametrize("value", [nan, 2, -1])
def test_pipe_settings_are_checked_in_a_config(pipes, value):
    config = pipes.config.copy()
    config["components"]["lpcfg_parser"]["threshold"] = value
    with pytest.raises((ValueError, ConfigValidationError), match="threshold"):
        spacy.util.load_model_from_config(config, auto_fill=True)


def test_pipe_settings_take_effect_when_assigned():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    parser = nlp.add_pipe("lpcfg_parser")
    usual = nlp(TEXT).spans["constituents"]
    parser.max_words = 4
    assert nlp(TEXT).spans["constituents"].attrs["status"] == ["segmented"]
    parser.max_words = 150
    parser.max_memory = 1e-3
    assert nlp(TEXT).spans["constituents"].attrs["status"] == ["segmented"]
    parser.max_memory = 100
    parser.threshold, parser.temperature, parser.pruning = 0.5, 2.0, None
    found = nlp(TEXT).spans["constituents"].attrs["scores"]
    assert 0.5 <= found.min() < usual.attrs["scores"].max()
    parser.set_tags = False
    assert "tags" in nlp(TEXT).spans["constituents"].attrs
    parser.spans_key = "mine"
    assert [*nlp(TEXT).spans] == [parser.gold_key] == ["mine"]


def test_pipe_mapping_is_checked_when_assigned(pipes):
    bracketer = pipes.get_pipe("spectral_bracketer")
    for wrong in ({"#": 3}, 3, None):
        with pytest.raises(BracketerError, match="Expected a mapping"):
            bracketer.mapping = wrong
    bracketer.mapping = {"#": "SYM"}
    assert bracketer.mapping == {"#": "SYM"}
