"""Settings of the components: refused when a component is made and when they are assigned, and else of effect."""

import re
from dataclasses import replace
from inspect import signature
from math import inf, nan

import pytest
import spacy

from spacy_lpcfg.bracketing import BracketerError
from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.components.isbn_parser import ISBNParser
from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
from spacy_lpcfg.parsing.segmentation import Limits

TEXT = "The old man saw the ferry, and nobody waited."
PARSERS = {
    "spans_key": ["", None, 3],
    "tags": ["zzz", None, 1],
    "constraints": [3],
    "pruning": [3, None],
    "limits": [3, None],
    "output": [3, None],
    "scorer": [3],
}
BAD = {
    "lpcfg_parser": {**PARSERS, "learner": [3], "decoding": ["zzz", ""], "evidence": [1, None, "yes"], "words": [3]},
    "isbn_parser": {
        **PARSERS,
        "learner": [3, "pivot"],
        "gold_key": ["", None],
        "tags": ["zzz", "prior"],
        "decoding": ["zzz", "rerank"],
        "pruning": [3, None, ChartSettings()],
        "limits": [3, None, Limits(max_words=9, max_memory=9.0)],
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
BAD_IN_GROUPS = {
    ("lpcfg_parser", "limits"): {
        "max_words": [0, -1, 2.5, nan, "10", None, True],
        "max_seconds": [nan, inf, -1, "1"],
        "max_memory": [-1, 0, nan, inf, "1"],
    },
    ("lpcfg_parser", "output"): {
        "set_tags": ["yes", 1, None],
        "surprisal": ["no", None],
        "threshold": [nan, 2, -1, "0.5", None],
        "tau": [nan, inf, 0, -1, "1", True],
    },
    ("lpcfg_parser", "pruning"): {"edge_threshold": [2, nan, None], "beam": [-1, "10", nan]},
    ("isbn_parser", "pruning"): {"beam": [-1, "10", nan], "branching": [0, 2.5, 10**9, nan]},
}
CASES = [(factory, name, value) for factory, bad in BAD.items() for name, values in bad.items() for value in values]
CASES_IN_GROUPS = [
    (*group, name, value) for group, bad in BAD_IN_GROUPS.items() for name, values in bad.items() for value in values
]
CLASSES = {"lpcfg_parser": LPCFGParser, "isbn_parser": ISBNParser, "spectral_bracketer": SpectralBracketerPipe}


@pytest.fixture(scope="module")
def pipes(sample_grammar):
    nlp = spacy.blank("en")
    for factory in BAD:
        nlp.add_pipe(factory)
    nlp.get_pipe("lpcfg_parser").learned = sample_grammar
    return nlp


@pytest.mark.parametrize(("factory", "name", "value"), CASES, ids=str)
def test_pipe_settings_are_checked_when_assigned_and_when_a_pipe_is_made(pipes, factory, name, value):
    pipe = pipes.get_pipe(factory)
    before = getattr(pipe, name)
    with pytest.raises(ValueError, match=f"Expected {name} to be .*[,;] got {re.escape(repr(value)[:40])}"):
        setattr(pipe, name, value)
    assert getattr(pipe, name) is before
    names = [*signature(CLASSES[factory]).parameters][2:]
    settings = {key: None if key == "model" else getattr(pipe, key, None) for key in names}
    with pytest.raises(ValueError, match=f"Expected {name} to be "):
        CLASSES[factory](pipes, "another", **{**settings, name: value})


@pytest.mark.parametrize(("factory", "group", "name", "value"), CASES_IN_GROUPS, ids=str)
def test_pipe_settings_in_a_group_are_checked_when_it_is_made_and_in_a_config(pipes, factory, group, name, value):
    with pytest.raises(ValueError, match=f"Expected {name} to be .*, got {re.escape(repr(value))}"):
        replace(getattr(pipes.get_pipe(factory), group), **{name: value})
    try:
        made = spacy.blank("en").add_pipe(factory, config={group: {name: value}})
    except ValueError as error:
        assert name in str(error)  # noqa: PT017
    else:  # a confection before 1.0 makes a number of one in quotes
        assert getattr(getattr(made, group), name) != value or isinstance(value, bool | int)


@pytest.mark.parametrize("factory", BAD)
def test_pipe_settings_are_all_checked(factory):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory)
    names = {*nlp.get_pipe_config(factory)} - {"factory", "model", "decoding", "pretrained"}
    assert names <= {*CLASSES[factory].checks}
    assert {*BAD[factory]} >= names
    assert len(names) <= 10


@pytest.mark.parametrize("factory", ["lpcfg_parser", "isbn_parser"])
@pytest.mark.parametrize(
    ("group", "name", "value"), [("limits", "max_seconds", 10), ("output", "threshold", 0.5), ("pruning", "beam", 1)]
)
def test_pipe_settings_that_a_config_does_not_name_keep_their_defaults(pipes, factory, group, name, value):
    nlp = spacy.blank("en")
    pipe, usual = nlp.add_pipe(factory, config={group: {name: value}}), getattr(pipes.get_pipe(factory), group)
    assert getattr(pipe, group) == replace(usual, **{name: value}) != usual
    again = spacy.util.load_model_from_config(nlp.config, auto_fill=True).get_pipe(factory)
    assert getattr(again, group) == getattr(pipe, group)
    config = spacy.blank("en").config
    config["nlp"]["pipeline"] = [factory]
    config["components"] = {factory: {"factory": factory, group: {name: value}}}
    assert getattr(spacy.util.load_model_from_config(config).get_pipe(factory), group) == getattr(pipe, group)


def test_pipe_settings_limit_no_memory_of_a_network():
    with pytest.raises(ValueError, match=r"limits to be .* with max_memory = None \(a beam search has no chart"):
        spacy.blank("en").add_pipe("isbn_parser", config={"limits": {"max_memory": 100}})


def test_pipe_settings_without_a_limit_of_memory_are_those_of_the_library(pipes):
    pipe = spacy.blank("en").add_pipe("lpcfg_parser", config={"pretrained": "en-fast", "limits": {"max_memory": None}})
    assert pipe.parser.parser.settings == ChartSettings()
    assert replace(pipe.limits, max_memory=192) == pipes.get_pipe("lpcfg_parser").limits


def test_pipe_settings_of_an_unknown_name_are_refused_by_spacy_with_all_that_there_are():
    with pytest.raises(ValueError, match="unexpected argument: 'threshold'") as error:
        spacy.blank("en").add_pipe("lpcfg_parser", config={"threshold": 0.5})
    for name in ("learner", "decoding", "tags", "constraints", "pruning", "limits", "output", "scorer"):
        assert f"'{name}': " in str(error.value)
    with pytest.raises(ValueError, match="bean"):
        spacy.blank("en").add_pipe("lpcfg_parser", config={"pruning": {"bean": 0.1}})


def test_pipe_settings_take_effect_when_assigned():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    parser = nlp.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    parser.limits = replace(parser.limits, max_words=4)
    assert nlp(TEXT).spans["constituents"].attrs["status"] == ["segmented"]
    parser.limits = replace(parser.limits, max_words=150, max_memory=1e-3)
    assert nlp(TEXT).spans["constituents"].attrs["status"] == ["segmented"]
    parser.limits = replace(parser.limits, max_memory=100)
    parser.output = Output(tau=0.5)
    scores = nlp(TEXT).spans["constituents"].attrs["scores"]
    parser.output = Output(tau=0.5, threshold=0.75)
    assert nlp(TEXT).spans["constituents"].attrs["scores"] == pytest.approx(scores[scores >= 0.75], abs=1e-6)
    assert 0 < (scores >= 0.75).sum() < len(scores)
    parser.output = Output(set_tags=False)
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
