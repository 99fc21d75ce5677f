"""Tables of docs/papers.md hold the figures of the files of results that they name.

Files of the repository are there always, those of metrics/papers/ where the workflow `papers` has written them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import DOCS, ROOT

FOLDERS = (ROOT / "benchmarks" / "papers" / "results", ROOT / "metrics" / "papers")
RESULTS = [path for folder in FOLDERS for path in sorted(folder.glob("*.json"))]
PAGE = (DOCS / "papers.md").read_text("utf-8")
TABLES = re.findall(r"<!-- results: (\w+) -->\n\n((?:\|.*\n)+)", PAGE)
NUMBER = re.compile(r"-?\d[\d,]*\.\d+")


def figures(table: str) -> Iterator[str]:
    """Yield the numbers with decimals of all columns but the paper's, and times, which depend on the machine."""
    header, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
    for row in rows:
        for name, cell in zip(header, row, strict=True):
            if not re.search("paper|times", name.lower()):
                yield from NUMBER.findall(cell)


def values(results: object) -> Iterator[str]:
    """Yield all numbers of a file of results, also those within texts."""
    if isinstance(results, dict | list):
        for each in results.values() if isinstance(results, dict) else results:
            yield from values(each)
    elif isinstance(results, float):
        yield repr(results)
    elif isinstance(results, str):
        yield from NUMBER.findall(results)


def test_papers_results_that_the_page_names_are_written_by_the_project():
    written = re.findall(r"--json metrics/papers/(\w+)\.json", (ROOT / "project.yml").read_text("utf-8"))
    assert {name for name, _ in TABLES} <= set(written)
    assert len(written) == len(set(written))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_papers_tables_have_the_figures_of_their_results(path: Path):
    results = json.loads(path.read_text("utf-8"))
    numbers = [float(value.replace(",", "")) for value in values(results["tables"])]
    shown = [figure for name, table in TABLES if name == path.stem for figure in figures(table)]
    assert shown, "no table of the page names this file"
    for figure in shown:
        decimals = len(figure.partition(".")[2])
        assert any(abs(float(figure.replace(",", "")) - each) <= 0.5001 * 10**-decimals for each in numbers), figure


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_papers_results_are_of_a_commit_and_of_a_command_of_the_page(path: Path):
    results = json.loads(path.read_text("utf-8"))
    assert re.fullmatch("[0-9a-f]{40}", results["commit"])
    command = " ".join(results["arguments"][: results["arguments"].index("--json")])
    assert command in re.sub(r"\s*\\\n\s*", " ", PAGE).replace('"', "")
