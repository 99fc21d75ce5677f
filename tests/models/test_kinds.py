"""The table of kinds of models: each is read, and has its parser, by this table alone."""

from __future__ import annotations

import ast

import pytest
from paths import ROOT
from stored_models import SENTENCE, model

import spacy_lpcfg.models.kinds as table
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn import BeamSettings
from spacy_lpcfg.models.kinds import KINDS, ModelKind, make_parser, model_from_bytes, model_from_disk, usable_settings
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.words.tag_dictionary import NO_TAGS

OF_GRAMMARS = ("evidence", "grammar")


def classes(base: type) -> set[type]:
    """The subclasses of a class, and theirs, that the package has."""
    below = {found for each in base.__subclasses__() for found in {each, *classes(each)}}
    return {each for each in below if each.__module__.startswith("spacy_lpcfg.")}


def test_kinds_are_all_classes_of_models():
    assert {kind.model for kind in KINDS.values()} == classes(ParsingModel)
    assert [*KINDS] == [kind.model.kind for kind in KINDS.values()]


def test_kinds_are_entered_nowhere_else():
    """No module of the library runs anything when it is imported that changes another one."""
    sources = [path for path in (ROOT / "spacy_lpcfg").rglob("*.py") if path != ROOT / "spacy_lpcfg" / "__init__.py"]
    calls = [
        (path.stem, ast.unparse(node.value.func))
        for path in sources
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    assert calls == [("transforms", "_STANDS_FOR.update")]  # a table of its own


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_all_read_by_one_function(kind, tmp_path):
    data = model(kind).to_bytes()
    (tmp_path / "model").write_bytes(data)
    for again in (model_from_bytes(data), model_from_disk(tmp_path / "model")):
        assert type(again) is type(model(kind))
        assert again.kind == kind
        assert again.to_bytes() == data
        assert make_parser(again).parse(SENTENCE).tree.words == SENTENCE


def test_kinds_of_other_things_are_refused():
    for kind in ("bracketer", "language model"):
        with pytest.raises(ModelError, match=rf"that parses \(evidence, .*isbn.*\), got a saved '{kind}'"):
            model_from_bytes(model(kind).to_bytes())
    for bad in (None, b"", "text"):
        with pytest.raises(ModelError, match="Expected"):
            model_from_bytes(bad)


def test_kinds_take_only_settings_that_they_have_a_use_for():
    chart, search = ChartSettings(beam=0.0), BeamSettings(beam=2)
    for name, kind in KINDS.items():
        settings = usable_settings(model(name), chart=chart, search=search, tau=1.0, words=NO_TAGS)
        assert (*settings,) == kind.settings
        assert make_parser(model(name), **settings).parse(SENTENCE).tree.words == SENTENCE
    for name in OF_GRAMMARS:
        with pytest.raises(ValueError, match=r"by this model, which are chart, tau, words, got search: leave them out"):
            make_parser(model(name), chart=chart, search=search)
    with pytest.raises(ValueError, match="by this model, which are search, tau, got chart: leave them out"):
        make_parser(model("isbn"), chart=chart)
    with pytest.raises(ValueError, match="by this model, which are none, got tau: leave them out"):
        make_parser(model("induced"), tau=1.0)


class Copied(Grammar):
    """A grammar under another name in files."""

    kind, version = "copied", 1


Copied.__module__ = __name__


def test_kinds_need_a_line_of_the_table_each(monkeypatch):
    monkeypatch.setitem(table.KINDS, "copied", ModelKind(Copied, lambda grammar, decoding: Parser(grammar)))
    again = model_from_bytes(Copied.from_values(model("grammar").to_values()).to_bytes())
    assert type(again) is Copied
    assert make_parser(again).parse(SENTENCE).tree.words == SENTENCE
