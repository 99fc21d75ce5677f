"""`spacy-lpcfg table`: results of several evaluations side by side, in Markdown."""

import json
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import reporting_errors
from spacy_lpcfg.components.cli.shared.files import LONGEST_JSON, check_input, check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, write_output

_SCORES = {
    "evalb_p": "precision",
    "evalb_r": "recall",
    "evalb_f": "F1",
    "complete_match": "exact",
    "tag_acc": "tags",
    "n_sentences": "sentences",
}
_NO_NUMBER = "-"
_RANGE = re.compile(r"[0-9]{1,9}-[0-9]{1,9}|>[0-9]{1,9}")  # of lengths of sentences


class By(str, Enum):
    scores = "scores"
    labels = "labels"
    lengths = "lengths"


class Table(NamedTuple):
    """The heads of columns, and rows whose first cell is the head of the row."""

    head: list[str]
    rows: list[list[str]]


@reporting_errors
def table(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULTS...", help="Files of `spacy-lpcfg evaluate --json`, or NAME=FILE to name one."),
    ],
    by: Annotated[By, typer.Option(help="All scores; or F1 by label, or by length of sentences.")] = By.scores,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Put several evaluations side by side.

    They are what `spacy-lpcfg evaluate --json` printed, and the table is in percent, in Markdown.

    \b
    Example:
        spacy-lpcfg evaluate dev.mrg pivot.parsed --json > pivot.json
        spacy-lpcfg table pivot.json "with context=context.json"
        spacy-lpcfg table *.json --by labels -o labels.md
    """
    name = format_of(output, None, ["markdown"])
    named = [_named(result) for result in results]
    check_output(output, inputs=[file for _, file in named], force=force)
    evaluations = {title: _read(file) for title, file in named}
    if len(evaluations) < len(results):
        raise typer.BadParameter("several results have one name: name them as NAME=FILE", param_hint="RESULTS")
    filled = _of_scores(evaluations) if by == By.scores else _of_parts(evaluations, by)
    write_output(output, name, _markdown(filled), force=force)


def _named(result: str) -> tuple[str, str]:
    """Name and file of a result."""
    name, mark, file = result.partition("=")
    return (name, file) if mark and not Path(result).exists() else (Path(result).stem, result)


def _read(file: str) -> dict[str, Any]:
    """Return the scores in a file."""
    from spacy_lpcfg.storage.container import read_stream
    from spacy_lpcfg.storage.files import open_file

    check_input(file, "RESULTS")
    stream = open_file(file)
    try:
        with stream:
            scores = json.loads(read_stream(stream, LONGEST_JSON))
        parts = [counts for by in (By.labels, By.lengths) for counts in scores[by.value].values()]
        wanted = [*(scores[key] for key in _SCORES), *(counts[key] for counts in parts for key in ("f", "n_gold"))]
        complete = all(isinstance(value, (int, float)) for value in wanted)
        complete = complete and all(map(_RANGE.fullmatch, scores[By.lengths.value]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        complete = False
    if not complete:
        raise ValueError(f"{file} is no result: expected the JSON object that `spacy-lpcfg evaluate --json` prints")
    return scores


def _of_scores(evaluations: dict[str, dict[str, Any]]) -> Table:
    """Return a row for each result."""
    rows = [[name, *(_number(scores[key]) for key in _SCORES)] for name, scores in evaluations.items()]
    return Table(["", *_SCORES.values()], rows)


def _of_parts(evaluations: dict[str, dict[str, Any]], by: By) -> Table:
    """Return a row for each label or range of lengths, with the F1 of each result; the commonest labels first."""
    sizes: dict[str, float] = {}
    for scores in evaluations.values():
        for part, counts in scores[by.value].items():
            sizes.setdefault(part, counts["n_gold"])
    parts = sorted(sizes, key=lambda part: -sizes[part]) if by == By.labels else list(sizes)
    parts = sorted(parts, key=_least) if by == By.lengths else parts
    rows = [
        [part, *(_number(scores[by.value].get(part, {}).get("f")) for scores in evaluations.values())] for part in parts
    ]
    return Table(["label" if by == By.labels else "words", *evaluations], rows)


def _least(lengths: str) -> int:
    """Return the least length of "11-20" or ">40"."""
    return int(lengths.lstrip(">").partition("-")[0])


def _number(value: float | None) -> str:
    if value is None:
        return _NO_NUMBER
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _markdown(filled: Table) -> list[str]:
    head, *rows = [[cell.replace("|", r"\|") for cell in row] for row in (filled.head, *filled.rows)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
