"""Encoders by name."""

from __future__ import annotations

import pytest
from stored_models import model

from spacy_lpcfg.models.encoders import find_encoder


@pytest.mark.parametrize("kind", ["grammar", "features"])
def test_encoders_of_models_without_one_are_refused(tmp_path, kind):
    model(kind).to_disk(tmp_path / "saved.model")
    with pytest.raises(ValueError, match=r"Expected an encoder: a file .*; got .*saved\.model', which is"):
        find_encoder(str(tmp_path / "saved.model"), "en")


def test_auto_is_no_folder_of_that_name(tmp_path, monkeypatch):
    (tmp_path / "auto").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_encoder("auto", "en") is not None
    assert find_encoder("auto", "xx") is None


def test_an_encoder_that_is_not_there_is_no_missing_model(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Expected an encoder: a file .*; there is no .*x\.encoder"):
        find_encoder(str(tmp_path / "x.encoder"), "en")
