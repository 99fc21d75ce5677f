"""The architecture: no imports in circles, none that run upwards, and no module named in a string."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from paths import ROOT

from spacy_lpcfg.parsing.decodings import DECODINGS

LAYERS = (
    *("basics", "storage", "trees", "words", "parsing", "evaluation", "queries", "pictures", "grammar", "chart"),
    *("bracketing", "learning", "evidence", "induced", "isbn", "language_model", "learners", "models"),
    *("spacy_lpcfg", "components"),
)
"""The rooms of the package, each of which imports only those before it.

"basics" are the modules beside them, but for `learners`: this table names learners of several rooms.
"""


def modules() -> dict[str, list[Path]]:
    """The files of each module: a compiled one has several."""
    found: dict[str, list[Path]] = {}
    for top, package in (("spacy_lpcfg", "spacy_lpcfg"), ("components", "spacy_lpcfg.components")):
        for path in (ROOT / top).rglob("*.p*"):
            if path.suffix in (".py", ".pyx", ".pxd"):
                name = ".".join([package, *path.relative_to(ROOT / top).with_suffix("").parts])
                found.setdefault(name.removesuffix(".__init__"), []).append(path)
    return found


IMPORT = re.compile(
    r"^ *(?:from (spacy_lpcfg[\w.]*) c?import (?:\(([^)]*)\)|(.*))|c?import (spacy_lpcfg[\w.]*))", re.MULTILINE
)


def imports() -> dict[str, set[str]]:
    """Map each module of the project to those that it imports: at its top, within functions, or for types only."""
    files, found = modules(), {}
    for name, paths in files.items():
        wanted = set()
        for package, in_lines, in_line, whole in IMPORT.findall("\n".join(path.read_text("utf-8") for path in paths)):
            members = {f"{package}.{member}" for member in re.findall(r"\w+", in_lines or in_line)}
            wanted |= (members & {*files}) or {package or whole}
        found[name] = (wanted & {*files}) - {name}
    return found


def circle(edges: dict[str, set[str]]) -> list[str]:
    """The modules of a circle of imports, if there is one."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def room(module: str) -> str:
    """The room of a module, by its name."""
    parts = module.split(".")
    if len(parts) == 1:
        return parts[0]
    return parts[1] if parts[1] in LAYERS else "basics"


def upward_imports(edges: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Each import of a module in a later room, as who imports whom."""
    imported = [(name, other) for name, others in edges.items() for other in others]
    return [(name, other) for name, other in imported if LAYERS.index(room(other)) > LAYERS.index(room(name))]


def modules_in_strings(files: dict[str, list[Path]]) -> list[tuple[str, str]]:
    """Each string that is the name of a module, or begins with one and a colon, as whose it is and what it says.

    Names of packages do not count: they stand for folders of data, and for what is installed.
    """
    known = {name for name, paths in files.items() if all(path.stem != "__init__" for path in paths)}
    sources = [
        (name, path.read_text("utf-8")) for name, paths in files.items() for path in paths if path.suffix == ".py"
    ]
    constants = [
        (name, node.value)
        for name, source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [(name, text) for name, text in constants if text.partition(":")[0] in known]


def importers_by_name(files: dict[str, list[Path]]) -> set[str]:
    """The modules that import others by names that they compute."""
    called = re.compile(r"\bimport_module\(|\b__import__\(")
    return {name for name, paths in files.items() for path in paths if called.search(path.read_text("utf-8"))}


def test_architecture_imports_make_no_circles():
    edges = imports()
    assert {"spacy_lpcfg.parsing.query"} < edges["spacy_lpcfg.parsing.protocol"]
    assert "spacy_lpcfg.chart._forest" in edges["spacy_lpcfg.chart._fine"]
    assert circle(edges) == []


def test_architecture_imports_run_downwards():
    edges = imports()
    assert {room(name) for name in edges} == {*LAYERS}
    assert upward_imports(edges) == []


def test_architecture_names_no_module_in_a_string():
    """Names that packages import at their first use (PEP 562) stand in tables that `test_public_names.py` checks."""
    files = modules()
    assert modules_in_strings(files) == []
    assert importers_by_name(files) == {
        "spacy_lpcfg.components.serve.demo_page",  # examples of a language, which spaCy has
        "spacy_lpcfg.extras",  # packages that may not be installed
        "spacy_lpcfg.lazy",
    }


def test_architecture_names_decodings_in_their_table_alone():
    """No string is compared with the name of a decoding: decodings are objects that choose trees."""
    found = [
        name
        for name, paths in modules().items()
        for path in paths
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in DECODINGS
    ]
    assert found == ["spacy_lpcfg.parsing.decodings"] * len(DECODINGS)
