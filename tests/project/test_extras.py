"""Messages where a library of an extra is missing."""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser

import pytest
from paths import ROOT

from spacy_lpcfg.extras import extra


def encoder() -> list[str]:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return re.findall(r"^[\w-]+", setup["options.extras_require"]["encoder"], re.MULTILINE)


def test_extra_names_all_that_is_missing(monkeypatch):
    """One command is enough: not the next missing package after the first one is installed."""
    for name in (*encoder(), "onnx.helper"):
        monkeypatch.setitem(sys.modules, name, None)
    wanted = f"An export needs onnx, which is not installed: pip install {' '.join(encoder())}. "
    with pytest.raises(ImportError) as error:
        extra("onnx.helper", "An export", "encoder")
    assert str(error.value).startswith(wanted)


@pytest.mark.parametrize(("module", "name"), [("nltk.tree", "nltk"), ("distributed", "cluster")])
def test_extra_tells_the_commands_of_a_wheel_and_of_a_checkout(monkeypatch, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    message = rf'^This needs .*"spacy-lpcfg\[{name}\]", and in a checkout pip install -e "\.\[{name}\]"'
    with pytest.raises(ImportError, match=message):
        extra(module, "This", name)


def test_extra_is_the_module_where_it_is_there():
    assert extra("json.decoder", "Nothing", "nltk").__name__ == "json.decoder"
