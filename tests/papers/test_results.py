"""Tables of docs/papers.md hold the figures of the files of results that they name."""

import json
import re
from collections.abc import Iterator

from pages import DOCS, ROOT

RESULTS = ROOT / "benchmarks" / "papers" / "results"
PAGE = (DOCS / "papers.md").read_text("utf-8")
TABLE = re.compile(r"<!-- results: (\w+) -->\n\n((?:\|.*\n)+)")
NUMBER = re.compile(r"-?\d[\d,]*\.\d+")


def figures(table: str) -> Iterator[str]:
    """Yield the numbers with decimals of the columns that are not the paper's."""
    header, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
    for row in rows:
        for name, cell in zip(header, row, strict=True):
            if "paper" not in name.lower():
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


def test_papers_tables_have_the_figures_of_their_results():
    tables = dict(TABLE.findall(PAGE))
    assert sorted(tables) == sorted(path.stem for path in RESULTS.glob("*.json"))
    for name, table in tables.items():
        results = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        numbers = [float(value) for value in values(results["tables"])]
        shown = list(figures(table))
        assert shown, name
        for figure in shown:
            decimals = len(figure.partition(".")[2])
            assert any(abs(float(figure.replace(",", "")) - each) <= 0.5001 * 10**-decimals for each in numbers), figure


def test_papers_results_are_of_a_commit_and_of_a_command_of_the_page():
    for path in RESULTS.glob("*.json"):
        results = json.loads(path.read_text("utf-8"))
        assert re.fullmatch("[0-9a-f]{40}", results["commit"]), path
        command = " ".join(word for word in results["arguments"][: results["arguments"].index("--json")])
        assert command in re.sub(r"\s*\\\n\s*", " ", PAGE).replace('"', ""), path
