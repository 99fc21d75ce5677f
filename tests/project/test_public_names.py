"""The names that `import spacy_lpcfg` gives, how little it loads, and where it refuses to be imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path

import pytest
from commands import process, run

import spacy_lpcfg

SOURCE = Path(spacy_lpcfg.__file__)


LAZY = ("", ".bracketing", ".language_model", ".learning")


def imported_for_types(source: Path) -> dict[str, str]:
    """The names that mypy and editors see, by the modules that they come from."""
    blocks = [block for block in ast.parse(source.read_text("utf-8")).body if isinstance(block, ast.If)]
    found = [node for block in blocks for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    return {
        name.name: str(node.module)
        for node in found
        for name in node.names
        if str(node.module).startswith("spacy_lpcfg.") and node.module != "spacy_lpcfg.lazy"
    }


@pytest.mark.parametrize("name", LAZY)
def test_public_names_of_packages_are_those_that_types_see(name):
    package = import_module(f"spacy_lpcfg{name}")
    modules = imported_for_types(Path(package.__file__))
    assert sorted(package.__all__) == sorted(modules)
    assert [each for each in dir(package) if not each.startswith("__")] == package.__all__
    assert all(getattr(package, each) is getattr(import_module(module), each) for each, module in modules.items())
    assert not hasattr(package, "no_such_name")


def test_public_names_are_listed():
    assert {*spacy_lpcfg.__all__, "__version__"} <= set(dir(spacy_lpcfg))
    with pytest.raises(ImportError, match="no_such_name"):
        from spacy_lpcfg import no_such_name  # noqa: F401


def test_public_names_are_imported_at_their_first_use(tmp_path):
    code = """
import sys
before = set(sys.modules)
import spacy_lpcfg
dir(spacy_lpcfg)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
print(*(name for name in sys.modules if name.startswith("spacy_lpcfg.")))
from spacy_lpcfg import Tree
print("numpy" in sys.modules, "spacy_lpcfg.learning" in sys.modules, "spacy_lpcfg.trees.tree" in sys.modules)
from spacy_lpcfg import *
print("spacy_lpcfg.learning" in sys.modules, "spacy" in sys.modules, Pivot.__name__)
"""
    printed = process(sys.executable, "-c", code, cwd=tmp_path).stdout
    loaded, modules, of_trees, of_all = printed.splitlines()
    assert (loaded, modules.split()) == ("spacy_lpcfg", ["spacy_lpcfg.lazy"])
    assert of_trees.split()[1:] == ["False", "True"]
    assert of_all == "True False Pivot"


def test_public_names_version_is_that_of_the_package():
    assert spacy_lpcfg.__version__ == version("spacy-lpcfg")
    assert run("--version").stdout == f"spacy-lpcfg {version('spacy-lpcfg')}\n"


def sources(checkout: Path, *, is_compiled: bool, with_components: bool) -> None:
    """Sources in a folder, with a compiled kernel and the components beside the others or without them."""
    (checkout / "spacy_lpcfg" / "chart").mkdir(parents=True)
    (checkout / "setup.cfg").touch()
    for name in ("__init__.py", "lazy.py"):
        (checkout / "spacy_lpcfg" / name).write_text((SOURCE.parent / name).read_text("utf-8"), "utf-8")
    (checkout / "spacy_lpcfg" / "chart" / "_fine.pyx").touch()
    if is_compiled:
        (checkout / "spacy_lpcfg" / "chart" / f"_fine{EXTENSION_SUFFIXES[0]}").touch()
    if with_components:
        (checkout / "spacy_lpcfg" / "components").mkdir()


def imported_in(folder: Path) -> subprocess.CompletedProcess[str]:
    """An import where nothing is installed, so that whatever is found lies in the folder."""
    command = [sys.executable, "-S", "-c", "import spacy_lpcfg"]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize(("is_compiled", "with_components"), [(False, False), (True, False), (False, True)])
def test_public_names_are_not_had_from_bare_sources(is_compiled, with_components, tmp_path):
    sources(tmp_path, is_compiled=is_compiled, with_components=with_components)
    done = imported_in(tmp_path)
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith("ImportError: ")
    assert str(tmp_path.resolve()) in line
    assert "`pip install -e .`" in line


@pytest.mark.parametrize("is_checkout", [True, False])
def test_public_names_are_had_from_installed_sources_and_where_no_checkout_is(is_checkout, tmp_path):
    sources(tmp_path, is_compiled=is_checkout, with_components=is_checkout)
    if not is_checkout:
        (tmp_path / "setup.cfg").unlink()
    assert imported_in(tmp_path).stderr == ""
