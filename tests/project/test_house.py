"""The house itself: what is packaged, what imports what, and whether the README tells the truth."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path
from typing import get_args

import srsly
from commands import process
from paths import ROOT

SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def lines(section: str, option: str) -> list[str]:
    return SETUP[section][option].strip().splitlines()


def entry_points() -> list[EntryPoint]:
    return [
        EntryPoint(name.strip(), value.strip(), group)
        for group in SETUP["options.entry_points"]
        for name, value in (line.split("=") for line in lines("options.entry_points", group))
    ]


REGISTERED = [each for each in entry_points() if each.group not in ("console_scripts", "spacy_cli")]


def loaded_by(imports: str, tmp_path: Path) -> set[str]:
    """The modules that are loaded after some imports."""
    code = f"{imports}\nimport sys\nprint(*sys.modules, sep='\\n')"
    return set(process(sys.executable, "-c", code, cwd=tmp_path).stdout.splitlines())


def test_house_packages_are_the_folders_with_python_files():
    paths = [path for top in ("spacy_lpcfg", "components") for path in (ROOT / top).rglob("*.py")]
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in paths}
    packages = lines("options", "packages")
    assert folders == {package.replace("spacy_lpcfg.components", "components") for package in packages}


def test_house_registered_names_are_written_by_a_config_a_page_or_a_component():
    """What only its own docstring names, nobody needs."""
    files = [*(ROOT / "configs").glob("*.cfg"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "components").glob("*_*.py")]
    written = "".join(path.read_text("utf-8") for path in files)
    names = [each.name for each in REGISTERED if each.group != "spacy_factories"]
    assert [name for name in names if name not in written] == []


def test_house_citation_is_of_this_version():
    assert srsly.read_yaml(ROOT / "CITATION.cff")["version"] == SETUP["metadata"]["version"]


def test_house_core_does_not_load_spacy(tmp_path):
    core = [package for package in lines("options", "packages") if not package.startswith("spacy_lpcfg.components")]
    loaded = loaded_by("import " + ", ".join(core), tmp_path)
    assert {"spacy_lpcfg.trees", "spacy_lpcfg.grammar", "spacy_lpcfg.chart", "spacy_lpcfg.learning"} <= loaded
    assert not loaded & {"spacy", "thinc", "sklearn", "pandas", "matplotlib", "nltk", "dask", "requests"}


def requirements() -> set[str]:
    """The modules of the packages that setup.cfg requires, with those of the extras for users."""
    wanted = lines("options", "install_requires")
    for extra in ("nltk", "cluster", "encoder"):
        wanted += lines("options.extras_require", extra)
    names = {re.match(r"[\w-]+", line)[0] for line in wanted if not line.startswith("#")}
    return (names - {"scikit-learn", "dask"}) | {"sklearn", "distributed"}


def test_house_imports_only_what_is_required():
    files = [path for top in ("spacy_lpcfg", "components") for path in (ROOT / top).rglob("*.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    packages = {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names, "spacy_lpcfg"}
    assert packages <= requirements()


def test_house_commands_import_fast(tmp_path):
    loaded = loaded_by("import spacy_lpcfg.components.cli", tmp_path)
    assert not loaded & {"spacy", "numpy", "scipy", "sklearn", "joblib", "tqdm", "spacy_lpcfg.trees"}


def test_house_parsing_loads_nothing_to_learn_with(tmp_path):
    parse = "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('lpcfg_parser'); nlp('It rained.')"
    loaded = loaded_by(parse, tmp_path)
    assert "spacy_lpcfg.chart.parser" in loaded
    learners = {
        "spacy_lpcfg.components.training.named_learner",
        "spacy_lpcfg.learning.pivot",
        "spacy_lpcfg.bracketing.learner",
    }
    assert not loaded & {"scipy", "sklearn", "joblib", *learners}


def test_house_entry_points_resolve():
    for entry_point in entry_points():
        assert entry_point.load() is not None


def protocols(kind: object) -> Iterator[type]:
    """The protocols in a type."""
    if getattr(kind, "_is_protocol", False):
        yield kind
    for part in get_args(kind):
        if not isinstance(part, list):
            yield from protocols(part)


def test_house_settings_can_be_checked():
    """spaCy before 3.8.14 takes types from the signature as they stand, and asks what is an instance of them."""
    for entry_point in REGISTERED:
        kinds = [parameter.annotation for parameter in signature(entry_point.load()).parameters.values()]
        assert [kind for kind in kinds if isinstance(kind, str)] == [], entry_point.name
        assert [each for kind in kinds for each in protocols(kind) if not each._is_runtime_protocol] == []


def test_house_attributes_of_span_groups_are_read_and_written_in_one_module():
    """`tree_group.py` alone knows how a Doc stores what belongs to trees."""
    stored = re.compile(r"(spans\[[^\]]*\]|group|group_at\([^)]*\))\.attrs\b|\bSpanGroup\(")
    code = {path.name: re.sub("`[^`]*`", "", path.read_text("utf-8")) for path in (ROOT / "components").rglob("*.py")}
    assert [name for name, text in code.items() if stored.search(text)] == ["tree_group.py"]
