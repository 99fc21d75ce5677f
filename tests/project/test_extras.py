"""Messages where a library of an extra is missing."""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser

import pytest
from paths import ROOT

from spacy_lpcfg.extras import extra


def viz() -> list[str]:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return re.findall(r"^[\w-]+", setup["options.extras_require"]["viz"].strip(), re.MULTILINE)


def test_extra_names_all_that_is_missing(monkeypatch):
    """One command is enough: not the next missing package after the first one is installed."""
    for name in (*viz(), "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    wanted = f"A figure needs matplotlib, which is not installed: pip install {' '.join(['matplotlib', *viz()[:-1]])}. "
    with pytest.raises(ImportError) as error:
        extra("matplotlib.figure", "A figure")
    assert str(error.value).startswith(wanted)


def test_extra_tells_the_commands_of_a_wheel_and_of_a_checkout(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'"spacy-lpcfg\[viz\]", and in a checkout pip install -e "\.\[viz\]"'):
        extra("matplotlib.figure", "A figure")


def test_extra_of_a_cluster_tells_the_commands_of_its_own_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ImportError, match=r'^--scheduler needs distributed.*"spacy-lpcfg\[cluster\]", and in a checkout'
    ):
        extra("distributed", "--scheduler", name="cluster")


def test_extra_is_the_module_where_it_is_there():
    assert extra("json.decoder", "Nothing").__name__ == "json.decoder"
