"""A model of any kind is read by its path, or by its name where it comes with the package."""

import os
from pathlib import Path

import pytest
from stored_models import model

from spacy_lpcfg import load
from spacy_lpcfg.models import has_pretrained
from spacy_lpcfg.models.loading import pretrained_model


def test_loading_reads_what_comes_with_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model("isbn").to_disk("en-fast")
    assert load("en-fast").to_bytes() == pretrained_model("en-fast").to_bytes()
    assert load(Path("en-fast")).to_bytes() == model("isbn").to_bytes()


def test_loading_takes_paths_for_no_languages(tmp_path):
    model("grammar").to_disk(tmp_path / "my.grammar")
    model("isbn").to_disk(tmp_path / "my")
    assert not has_pretrained(str(tmp_path / "my"))
    assert load(str(tmp_path / "my")).to_bytes() == model("isbn").to_bytes()


def test_loading_says_what_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"one that comes with the package.*\(en, en-fast\).*there is no 'de'"):
        load("de")
    with pytest.raises(IsADirectoryError, match=r"folder.*spacy\.load"):
        load(tmp_path)
    (tmp_path / "model").write_bytes(os.urandom(100))
    with pytest.raises(ValueError, match="Expected a saved model of spacy-lpcfg"):
        load(tmp_path / "model")
