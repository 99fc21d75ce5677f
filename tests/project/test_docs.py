"""README.md and the pages in docs/: their code runs, their commands exist, and what they name is there."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from importlib import import_module
from inspect import unwrap
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
import srsly
import typer
from pages import (
    DOCS,
    PAGES,
    README,
    ROOT,
    SMALL,
    Block,
    blocks,
    commands,
    headings,
    inline_code,
    links,
    make_files,
    runnable,
    simple_commands,
    without_code,
)

import spacy_lpcfg
from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.learners import LEARNERS
from spacy_lpcfg.models import pretrained_names
from spacy_lpcfg.models.loading import pretrained_model
from spacy_lpcfg.parsing.decodings import DECODINGS
from spacy_lpcfg.trees.formats import FORMATS
from spacy_lpcfg.trees.labels import PHRASES, TAGS
from spacy_lpcfg.trees.transforms import ROOT_LABELS

PICTURES = DOCS / "pictures"
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
COPIED = {"assets", "benchmarks", "configs", "examples", "scripts"}
"""What a page finds in the folder that it is run in, as if it were the root of the repository, beside project.yml."""
NAMED_BY_THE_MODEL_CARD = {"benchmarks.accuracy.gallery"}
FOLDERS = COPIED | {"components", "docs", "spacy_lpcfg", "tests"}
"""Where the files are that pages name."""


def names(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


RUNNING = [page for page in PAGES if any(block.is_run for block in blocks(page))]


# Code --------------------------------------------------------------------------------------------


def script(page: Path) -> str:
    """The blocks of a page that are run, in their order, as one Python program."""
    steps = ["import subprocess"]
    steps += [_python(page, block) if block.language == "python" else _bash(block) for block in _run(page)]
    return "\n".join(steps)


def _run(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.is_run]


def _python(page: Path, block: Block) -> str:
    code = "\n" * (block.line - 1) + block.code  # so that a traceback names the line of the page
    return f"exec(compile({code!r}, {str(page)!r}, 'exec'))"


def _bash(block: Block) -> str:
    return f"subprocess.run(['bash', '-euo', 'pipefail', '-c', {runnable(block.code)!r}], check=True)"


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A folder that looks like the root of the repository, in which a reader follows one page after the other."""
    folder = tmp_path_factory.mktemp("clone")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "project.yml", folder)
    make_files(folder, ROOT / "assets" / "sample")
    return folder


def run(page: Path, folder: Path) -> str:
    """Run a page in a clone, where it leaves nothing that git does not ignore; what it printed."""
    for module in re.findall(r"(?m)^(?:import|from) (nltk|matplotlib|distributed)\b", page.read_text("utf-8")):
        pytest.importorskip(module, reason="the extra that it is of is not installed")
    before = {*files_in(folder)}
    environment = {**os.environ, **SMALL, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-W", "ignore", "-c", script(page)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, f"{page}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert untracked([name for name in files_in(folder) if name not in before]) == []
    return done.stdout


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def untracked(files: list[str]) -> list[str]:
    """Return the files that git would show as untracked, were they in the checkout."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        return []
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=ROOT, input="\n".join(files), capture_output=True, encoding="utf-8")
    return sorted({*files} - {*done.stdout.splitlines()})


@pytest.mark.slow
def test_docs_code_of_the_readme_learns_measures_and_parses(clone):
    """All of it, in its order; the first command of the project has scores and a tree."""
    printed = run(README, clone)
    assert "bracketing F1" in printed
    assert "SPAN F" in printed
    assert re.search(r"(?m)^\(S \(NP .*\(VBD was\).*\(NN one\)+ \(\. \.\)+$", printed)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in RUNNING if page != README], ids=lambda page: page.stem)
def test_docs_code_runs_after_that_of_the_pages_before(page, clone):
    assert run(page, clone)


def outputs_of(page: Path) -> Iterator[tuple[str, bool]]:
    """Yield what the commands of a page write in the root, and whether they replace what is there.

    Learners replace what they saved before.
    """
    for block in _run(page):
        if block.language != "bash":
            continue
        for words in simple_commands(runnable(block.code)):
            replaces = bool({"--force", "-f", "learn", "train", "-p"} & {*words})
            if words[:1] == ["mkdir"]:
                yield words[-1], replaces
            for option, name in pairwise(words):
                if option in ("-o", "--output"):
                    yield name, replaces


def test_docs_commands_write_what_git_ignores_and_no_other_page_has_written():
    """As `project run all` of the README has made the folders corpus, training and metrics."""
    written = {"corpus", "training", "metrics"}
    for page in RUNNING:
        for name, replaces in outputs_of(page):
            assert replaces or name not in written, f"{page}: {name} is there already"
            assert not untracked([name]) or not untracked([f"{name}/file"]), f"{page}: git does not ignore {name}"
            written.add(name)


def test_docs_snippet_of_the_readme_prints_what_stands_below_it(tmp_path, monkeypatch, capsys):
    code, printed = (block.code for block in blocks(README)[:2])
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


def test_docs_snippet_of_the_model_card_prints_what_stands_below_it(capsys):
    """But for the figures, which are of the model that comes with the package."""
    code, printed = [block.code for block in blocks(ROOT / "spacy_lpcfg" / "models" / "en.md")][-2:]
    exec(code, {})
    assert re.sub(r"[\d.]+", "0", capsys.readouterr().out) == re.sub(r"[\d.]+", "0", printed)


def test_docs_threshold_of_the_tutorial_leaves_out_the_bracket_that_the_page_names(capsys):
    page = DOCS / "tutorial.md"
    (code,) = [block.code for block in blocks(page) if "for threshold in" in block.code]
    exec(compile(code, str(page), "exec"), {"spacy": import_module("spacy")})
    all_brackets, likely = capsys.readouterr().out.splitlines()
    named = re.search(r"With 0\.9 the `(\w+)` \*(.+?)\*", page.read_text("utf-8"))
    assert named is not None
    bracket = " ".join(named.groups())
    assert bracket in all_brackets
    assert bracket not in likely


@pytest.mark.slow
def test_docs_notebook_runs(tmp_path, monkeypatch):
    """Cell by cell in one namespace; it is stored without what it printed."""
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples" / "tour.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        exec(compile("".join(cell["source"]), f"tour.ipynb, cell {number}", "exec"), namespace)
    assert len(cells) >= 8


# Commands ----------------------------------------------------------------------------------------


def check_command(words: list[str]) -> None:
    """Check what a command names, if it is one of the project's."""
    if words[:3] == ["python", "-m", "spacy"]:
        words = ["spacy", *words[3:]]
    if words[0] == "spacy-lpcfg" or words[:2] == ["spacy", "lpcfg"]:
        _check_options(words[1 if words[0] == "spacy-lpcfg" else 2 :])
    elif words[:3] == ["spacy", "project", "run"]:
        _check_project(words[3:])
    elif words[:2] == ["spacy", "train"] and "/" in "".join(words[2:3]):
        assert (ROOT / words[2]).is_file(), words
    elif words[0] == "python" and words[1:2] and words[1].endswith(".py"):
        _check_script(ROOT / words[1], words[2:])


@cache
def _whole_command() -> Any:
    """`spacy-lpcfg` as Click has it: making it takes longer than checking a command."""
    return typer.main.get_command(lpcfg_cli)


def _resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command of `spacy-lpcfg` that the first words name, and the others."""
    command = _whole_command()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    return command, words


@cache
def _hints(callback: Any) -> dict[str, Any]:
    return get_type_hints(unwrap(callback))


def _check_options(words: list[str]) -> None:
    """Check that there is such a command of `spacy-lpcfg`, with such options and choices."""
    command, words = _resolved(words)
    names = {option: each.name for each in command.params for option in (*each.opts, *each.secondary_opts)}
    hints = _hints(command.callback) if words else {}
    for word, value in zip(words, [*words[1:], ""], strict=False):
        if re.match("--?[a-z]", word) and word != "--help":
            assert word in names, words
            assert (
                value in (_choices(hints.get(names[word])) or learner_names(word, command.name) or [value])
                or value.isupper()
                or not value
            ), words


def learner_names(option: str, command: str | None) -> list[str]:
    """The learners that an option of `spacy-lpcfg learn` may name."""
    return [each.name for each in LEARNERS if each.command == command] if option == "--method" else []


def _choices(kind: object) -> list[str]:
    """The values of an option's type, if it is a Literal or may be one."""
    return [value for each in (kind, *get_args(kind)) if get_origin(each) is Literal for value in get_args(each)]


def _check_project(words: list[str]) -> None:
    project = srsly.read_yaml(ROOT / "project.yml")
    assert words[0] in {*project["workflows"], *(command["name"] for command in project["commands"])}, words
    settings = {word.partition("=")[0] for word in words if word.startswith("--vars.")}
    assert settings <= {f"--vars.{name}" for name in project["vars"]}, words


def _check_script(path: Path, words: list[str]) -> None:
    source = path.read_text("utf-8")
    assert [word for word in words if word.startswith("--") and f'"{word}"' not in source] == [], words


def test_docs_commands_exist():
    for page in PAGES:
        for words in commands(page):
            check_command(words)


def test_docs_commands_of_blocks_read_their_arguments():
    """All values are read and checked, but for files, which a reader has."""
    lines = {
        tuple(words[1:])
        for page in PAGES
        for block in blocks(page)
        if block.language == "bash"
        for words in simple_commands(block.code.replace("--method NAME", "--method pivot"))
        if words[0] == "spacy-lpcfg"
    }
    assert len(lines) > 50
    for line in sorted(lines):
        command, words = _resolved([*line])
        try:
            command.make_context(command.name, words)
        except typer.BadParameter as error:
            if not re.search(r"does not exist|found none", error.message):
                raise AssertionError(f"{shlex.join(line)}: {error.message}") from error


def test_docs_tables_of_the_papers_are_printed_by_the_project():
    """Its commands are those of the page and `--json FILE`, but for the one that reads a network of the reader's."""
    project = srsly.read_yaml(ROOT / "project.yml")
    steps = [step for step in project["commands"] if step["name"] in project["workflows"]["papers"]]
    lines = [line for step in steps for line in step["script"]]
    of_project = [shlex.split(re.sub(r" --json metrics/papers/\w+\.json$", "", line)) for line in lines]
    of_page = [words for words in commands(DOCS / "papers.md") if "NETWORK" not in words]
    printed, shown = (
        {shlex.join(words) for words in of_each if words[2:3] and words[2].startswith("benchmarks.")}
        for of_each in (of_project, of_page)
    )
    assert printed == shown


class Started(Exception):
    """Raised once a command has understood its arguments."""


def documented(beginning: list[str]) -> list[list[str]]:
    """The commands of all pages that begin with these words."""
    lines = {tuple(words) for page in PAGES for words in commands(page) if words[: len(beginning)] == beginning}
    return sorted(map(list, lines))


def of_project() -> Iterator[list[str]]:
    """Yield the commands of the project that run benchmarks, with its variables in their places."""
    project = srsly.read_yaml(ROOT / "project.yml")
    for step in project["commands"]:
        for line in step["script"]:
            if "-m benchmarks." in line:
                yield shlex.split(re.sub(r"\$\{vars\.(\w+)\}", lambda match: str(project["vars"][match[1]]), line))


@pytest.mark.slow
def test_docs_benchmarks_start_with_the_arguments_of_the_pages_and_the_project(monkeypatch):
    """Each is started as they say, and stopped when it has read its arguments."""
    parse_args = argparse.ArgumentParser.parse_args

    def parse_and_stop(parser: argparse.ArgumentParser, *args: Any) -> None:
        parse_args(parser, *args)
        raise Started

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    named = [*documented(["python", "-m"]), *of_project()]
    lines = [words[2:] for words in named if words[2].startswith(("benchmarks.", "fuzz.soak"))]
    assert len({module for module, *_ in lines}) > 20
    for module, *words in lines:
        monkeypatch.setattr(sys, "argv", [module, *words])
        with pytest.raises(Started):
            import_module(module).main()


def test_docs_benchmarks_are_named_by_a_page():
    modules = {words[2] for words in documented(["python", "-m"])}
    paths = [path for path in (ROOT / "benchmarks").rglob("*.py") if "\ndef main(" in path.read_text("utf-8")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    assert names - modules == NAMED_BY_THE_MODEL_CARD


def test_docs_benchmarks_import_what_is_there():
    """Within functions too."""
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("benchmarks", "spacy_lpcfg")):
                for each in node.names:
                    assert resolve(f"{node.module}.{each.name}") is not None
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


PYTEST = re.compile(r"\bpytest [^\n`|#)]*")


def test_docs_tests_that_pages_name_are_there():
    """The files exist, and an expression of `-k` selects a test."""
    lines = {found.strip() for page in PAGES for found in PYTEST.findall(page.read_text("utf-8"))}
    assert len(lines) > 5
    for line in lines:
        words = [word for word in shlex.split(line)[1:] if not re.search("[<>]", word)]
        files = [word for word in words if word.startswith("tests/")]
        assert [name for name in files if not (ROOT / name).exists()] == [], line
        if "-k" in words:
            command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *words]
            assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0, line


# What is named -----------------------------------------------------------------------------------


def test_docs_links_lead_somewhere():
    for page in PAGES:
        for link in links(page):
            target, _, anchor = link.partition("#")
            goal = (page.parent / target).resolve() if target else page
            assert goal.exists(), f"{page}: {link}"
            assert not anchor or anchor in headings(goal), f"{page}: {link}"


LABELS = DOCS / "english.md"
TREE = re.compile(r"\((?:S|NP|VP) \((?:NP|PRP|DT|RB) |pictures/(?:tree|spans)\.svg")
"""What shows a tree of English on a page, as brackets or as a picture."""


def test_docs_pages_that_show_a_tree_lead_to_the_labels():
    pages = [page for page in PAGES if TREE.search(page.read_text("utf-8"))]
    assert len(pages) > 4
    for page in pages:
        assert LABELS in [(page.parent / link.partition("#")[0]).resolve() for link in links(page)], page


@pytest.mark.parametrize("name", pretrained_names())
def test_docs_explain_every_label_and_tag_of_the_english_models(name):
    model = pretrained_model(name)
    assert {*model.labels, *model.tags} - {*ROOT_LABELS} == {*PHRASES, *TAGS}


def test_docs_labels_are_all_in_the_tables_of_their_page():
    tables = LABELS.read_text("utf-8").split("\n## Tags of words\n")
    for table, labels in zip(tables, (PHRASES, TAGS), strict=True):
        cells = re.findall(r"(?m)^\| (`.+?`) \| .+ \|$", table)
        named = [code.strip("` ") for cell in cells for code in cell.split(", ")]
        assert sorted(named) == sorted(label.strip("`") for label in labels)


def test_docs_named_modules_and_files_exist():
    for page in PAGES[1:]:
        for code in inline_code(page):
            if re.fullmatch(r"spacy_lpcfg(\.\w+)+", code):
                assert resolve(code) is not None
            elif code.split("/")[0] in FOLDERS and "/" in code and " " not in code:
                assert list(ROOT.glob(re.sub(r"<\w+>", "*", code))), f"{page}: {code}"


def resolve(name: str) -> object:
    """The module, or what is in it, that has this name."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:i]))
        except ModuleNotFoundError:
            continue
        for part in parts[i:]:
            found = _part(found, part)
        return found
    raise AssertionError(f"There is no {name}.")


def _part(whole: object, name: str) -> object:
    """An attribute, or a field of a dataclass that has no default."""
    if name in getattr(whole, "__annotations__", {}):
        return name
    return getattr(whole, name)


@pytest.mark.slow
def test_docs_site_is_built_of_a_checkout(tmp_path):
    """Whether the package is installed with -e or not: its sources are read."""
    for module in ("material", "mkdocstrings_handlers.python", "latex2mathml"):
        pytest.importorskip(module, reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    page = (tmp_path / "api" / "index.html").read_text("utf-8")
    for name in ("spacy_lpcfg.trees.Tree", "spacy_lpcfg.components.doc.view.Constituent"):
        assert f'id="{name}"' in page
    loading = re.compile(r'<(?:script|img|link rel="(?:stylesheet|preload|icon)")[^>]*(?:src|href)="([^"]*)"')
    for path in tmp_path.rglob("*.html"):
        assert [url for url in loading.findall(path.read_text("utf-8")) if "://" in url] == []


@pytest.fixture
def site() -> dict[str, Any]:
    """What is defined in the hooks of the site."""
    pytest.importorskip("latex2mathml", reason="the extra `docs` is not installed")
    return runpy.run_path(str(DOCS / "site.py"))


def test_docs_formulas_are_drawn_without_a_script(site):
    formulas = [found[0] or found[1] for page in PAGES for found in FORMULA.findall(without_code(page))]
    assert len(formulas) > 50
    for formula in formulas:
        assert site["mathml"](formula).startswith("<math ")
    with pytest.raises(ValueError, match="but got \\\\nothing in"):
        site["mathml"](r"\nothing{x}")
    html = '<p><span class="arithmatex">\\(a &lt; b\\)</span> and <code>\\(c\\)</code></p>'
    drawn = site["on_page_content"](html, page=None, config=None, files=None)
    assert drawn.startswith("<p><math ")
    assert drawn.endswith("</math> and <code>\\(c\\)</code></p>")


def test_docs_site_takes_tables_from_the_package(site):
    learners = [f"--method {each.name}" for each in LEARNERS if each.command == "parser"]
    commands = ("parse", "learn parser", "serve")
    tables = {"formats": FORMATS, "decodings": DECODINGS, "learners": learners, "commands": commands}
    for name, rows in tables.items():
        page = next(page for page in PAGES if f"<!-- table: {name} -->" in page.read_text("utf-8"))
        text = site["on_page_markdown"](page.read_text("utf-8"), page=None, config=None, files=None)
        assert "<!-- table" not in text
        assert [row for row in rows if f"\n| `{row}` |" not in text] == []
    assert site["table"](("p(w2 | w1)",), []) == "| p(w2 \\| w1) |\n| --- |"


def test_docs_pictures_are_those_that_the_script_draws(tmp_path, monkeypatch):
    """Their words, labels and figures: lines may fall otherwise with other versions of the libraries."""
    monkeypatch.setattr(sys, "argv", ["pictures.py", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "scripts" / "pictures.py"), run_name="__main__")
    for name in ("tree.svg", "boundaries.svg", "accuracy.svg"):
        stored, drawn = (
            re.findall(r">([^<>\n]+)<", (folder / name).read_text("utf-8")) for folder in (PICTURES, tmp_path)
        )
        assert stored == drawn, f"{name}: run `python scripts/pictures.py`"


# The reference -----------------------------------------------------------------------------------


def test_docs_reference_has_all_public_names():
    """A package stands there without a list of its names: the site takes those that it exports."""
    text = (DOCS / "api.md").read_text("utf-8")
    packages = [f"spacy_lpcfg.{path.parent.name}" for path in (ROOT / "spacy_lpcfg").glob("*/__init__.py")]
    public = [package for package in packages if hasattr(import_module(package), "__all__")]
    assert len(public) > 8
    assert [package for package in public if f"\n::: {package}\n\n" not in text] == []
    assert [name for name in spacy_lpcfg.__all__ if f"`{name}`" not in text] == []
    for module, listed in reference().items():
        assert [name for name in listed if not hasattr(import_module(module), name)] == []


def test_docs_site_lists_what_a_package_exports(site):
    text = site["on_page_markdown"]("::: spacy_lpcfg.chart\n\n", page=None, config=None, files=None)
    assert text.startswith("::: spacy_lpcfg.chart\n    options:\n      members: ['EXHAUSTIVE', ")
    listed = "::: spacy_lpcfg.models\n    options:\n      members: [has_pretrained]\n"
    assert site["on_page_markdown"](listed, page=None, config=None, files=None) == listed


def reference() -> dict[str, list[str]]:
    """The names that the page of the reference has of each module."""
    text = (DOCS / "api.md").read_text("utf-8")
    found = re.findall(r"^::: (\S+)\n    options:\n      members: \[(.+)\]$", text, re.MULTILINE)
    return {module: re.findall(r"\w+", members) for module, members in found}


def test_docs_reference_makes_lists_of_arguments():
    pytest.importorskip("griffe", reason="the extra `docs` is not installed")
    markdown = runpy.run_path(str(DOCS / "docstrings.py"))["markdown"]
    text = "Of words.\n\nwords (list of str): at least\n    one.\na, b (int): two.\nRETURNS (int): one.\nThe end."
    expected = "Of words.\n\n- **words** (list of str): at least\n    one.\n- **a, b** (int): two.\n"
    assert markdown(text) == expected + "- **RETURNS** (int): one.\n\nThe end."
    assert markdown("Only text.\nof two lines.") == "Only text.\nof two lines."


def test_docs_reference_has_all_registered_names(site):
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    groups = setup["options.entry_points"]
    registered = [line.split(" = ") for group in groups for line in groups[group].strip().splitlines()]
    assert "<!-- table: registered -->" in (DOCS / "api.md").read_text("utf-8")
    text = site["registered"]()
    assert [name for name, target in registered if f"| `{name}` | `{target.replace(':', '.')}` |" not in text] == []


# Releases


def test_entry_of_spacys_universe_runs(capsys):
    entry = json.loads((DOCS / "universe.json").read_text("utf-8"))
    exec("\n".join(entry["code_example"]), {})
    assert "1.00 NP She" in capsys.readouterr().out
