"""`setup.py`: what a build says of how far it is."""

import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from setuptools import Distribution

ROOT = Path(__file__).parents[2]


@pytest.fixture
def names(monkeypatch):
    """The names of `setup.py`, without Cython, which only a build has; nothing is translated or installed."""
    build, dependencies = ModuleType("Cython.Build"), ModuleType("Cython.Build.Dependencies")
    build.cythonize = lambda *_, **__: []
    dependencies.create_dependency_tree = lambda: SimpleNamespace(all_dependencies=lambda _: [])
    for module in (ModuleType("Cython"), build, dependencies):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    monkeypatch.chdir(ROOT)
    return runpy.run_path("setup.py")


def test_build_counts_its_kernels(names, monkeypatch, capsys):
    monkeypatch.setattr(names["BuildOnce"], "_build", lambda *_: None)
    command, kernels = names["BuildOnce"](Distribution()), names["KERNELS"]
    for kernel in kernels[:2]:
        command.build_extension(names["extension"](kernel))
    for n, line in enumerate(capsys.readouterr().out.splitlines(), start=1):
        assert line.startswith(f"Built {n} of {len(kernels)} kernels after ")
        assert line.endswith(f" s: {kernels[n - 1]}")
    assert n == 2
