"""The table of kinds of models: each is read, and makes its parser, whatever was imported before."""

import subprocess
import sys

import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.isbn import BeamSettings
from spacy_lpcfg.parsing.kinds import all_kinds, kind_of_name
from spacy_lpcfg.parsing.model import ModelError, model_from_bytes, model_from_disk

KINDS = ("evidence", "grammar", "induced", "isbn")
OF_GRAMMARS = ("evidence", "grammar")


def test_kinds_are_those_of_the_families():
    assert tuple(sorted(all_kinds())) == KINDS
    with pytest.raises(KeyError):
        kind_of_name("bracketer")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_all_read_by_one_function(kind, tmp_path):
    data = model(kind).to_bytes()
    (tmp_path / "model").write_bytes(data)
    for again in (model_from_bytes(data), model_from_disk(tmp_path / "model")):
        assert type(again) is type(model(kind))
        assert again.kind == kind
        assert again.to_bytes() == data
        assert again.parser().parse(SENTENCE).tree.words == SENTENCE


def test_kinds_of_other_things_are_refused():
    for kind in ("bracketer", "language model"):
        with pytest.raises(ModelError, match=rf"that parses \(evidence, .*, isbn\), got a saved '{kind}'"):
            model_from_bytes(model(kind).to_bytes())
    for bad in (None, b"", "text"):
        with pytest.raises(ModelError, match="Expected"):
            model_from_bytes(bad)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_make_parsers_where_only_the_model_is_imported(kind, tmp_path):
    model(kind).to_disk(tmp_path / "model")
    module = type(model(kind)).__module__
    code = (
        f"from {module} import {type(model(kind)).__name__} as Model\n"
        f"print(*Model.from_disk('model').parser().parse({SENTENCE}).tree.words)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.stdout.split() == SENTENCE, done.stderr


def test_kinds_take_only_settings_that_they_have_a_use_for():
    chart, search = ChartSettings(beam=0.0), BeamSettings(beam=2)
    for kind in KINDS:
        settings = model(kind).usable(chart=chart, search=search, tau=1.0)
        assert {*settings} == {*model(kind).parser_settings}
        assert model(kind).parser(**settings).parse(SENTENCE).tree.words == SENTENCE
    for kind in OF_GRAMMARS:
        with pytest.raises(ValueError, match=r"by this model, which are chart and tau, got search: leave them out"):
            model(kind).parser(chart=chart, search=search)
    with pytest.raises(ValueError, match="by this model, which are search and tau, got chart: leave them out"):
        model("isbn").parser(chart=chart)
