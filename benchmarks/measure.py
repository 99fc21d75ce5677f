"""Measure what the benchmarks share: one thread, clean processes, and tables. Not a benchmark; import it before numpy.

All times are CPU seconds of the measured process, so that they do not depend on what else the machine does.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import multiprocessing
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.significance import difference_interval, evalb_counts, f1_interval
from spacy_lpcfg.evaluation.evalb import Evaluation, evaluate
from spacy_lpcfg.evaluation.evalb_sentence import Status
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees import Tree, clean, read_trees

Row = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Measured:
    """The result of a call, its CPU seconds, and the peak memory of its process in MB."""

    result: Any
    seconds: float
    peak_mb: float


@dataclass(frozen=True)
class Scored:
    """The trees of a parser for the sentences of a treebank, beside the gold ones.

    trees (list of Tree): The parser's
    evaluation (Evaluation): Their scores
    n_failed (int): Sentences whose tree is not the model's own, but a fall-back's
    seconds (float): CPU seconds of parsing
    """

    trees: list[Tree]
    evaluation: Evaluation
    n_failed: int
    seconds: float

    @property
    def f1(self) -> float:
        """F1 as EVALB has it, in percent."""
        return self.evaluation.scores()["evalb_f"]

    @property
    def n_dropped(self) -> int:
        """Sentences that EVALB leaves out, since a mistagged punctuation mark gives them other words than gold."""
        return sum(score.status != Status.VALID for score in self.evaluation.sentences)


def in_child(function: Callable[..., Any], *args: Any) -> Measured:
    """Call a module-level function in a fresh interpreter; what its module imports at the top does not count."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, function, *args).result()


def _measured(function: Callable[..., Any], *args: Any) -> Measured:
    """Call in this process, and measure."""
    return Measured(*timed(function, *args), peak_mb())


def timed(function: Callable[..., Result], *args: Any) -> tuple[Result, float]:
    """Call a function; return its result and the CPU seconds that it took."""
    start = time.process_time()
    result = function(*args)
    return result, time.process_time() - start


def peak_mb() -> float:
    """Most memory that this process ever held, in MB; of no process before it, as `ru_maxrss` may be on Linux."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) * 1.024e-3 for line in lines if line.startswith("VmHWM")]
    return peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def read_gold(path: Path) -> list[Tree]:
    """The trees of a treebank as scoring sees them."""
    return list(filter(None, map(clean, read_trees(path))))


def parsed(parser: SentenceParser, golds: Sequence[Tree]) -> list[Parse]:
    """Parse the words of gold trees, with evidence for many sentences at once."""
    return [parser.parse(query) for query in parser.prepare([Query(gold.words) for gold in golds])]


def parse_all(parser: SentenceParser, golds: Sequence[Tree], tags: str) -> tuple[list[Parse], float]:
    """Parse the words of trees; also the CPU seconds it took.

    tags (str): "model" for raw words, "given" for the tags of the trees.
    """
    queries = [Query(gold.words, gold.tags if tags == "given" else None) for gold in golds]
    return timed(lambda: list(map(parser.parse, queries)))


def scored(
    parser: SentenceParser, golds: Sequence[Tree], tags: str, restore: Callable[[Tree], Tree] = lambda tree: tree
) -> Scored:
    """Parse the words of trees, with tags as for `parse_all`, and score what `restore` makes of the result."""
    parses, seconds = parse_all(parser, golds, tags)
    trees = [restore(parse.tree) for parse in parses]
    return Scored(trees, evaluate(golds, trees), sum(parse.status != PARSED for parse in parses), seconds)


def difference(base: Sequence[Scored], runs: Sequence[Scored]) -> str:
    """Return the F1 of `runs` less that of `base`, with its 95% interval; each has a run for each seed of a parser."""
    return str(
        difference_interval(*(evalb_counts([run.evaluation for run in of_parser]) for of_parser in (base, runs)))
    )


def f1_cells(runs: Sequence[Scored], source: str = "") -> Row:
    """Return the cells of a parser's runs with several seeds: F1 with its 95% interval, and how many sentences fail.

    Dropped are sentences that EVALB leaves out, failed those whose tree is a fall-back's, of all seeds.

    source (str): Where the tags are from, which is added to the names of the columns.
    """
    of_source = f", {source} tags" if source else ""
    n_dropped, n_failed = sum(run.n_dropped for run in runs), sum(run.n_failed for run in runs)
    f1 = str(f1_interval(evalb_counts([run.evaluation for run in runs])))
    return {f"F1{of_source}": f1, f"dropped, failed{of_source}": f"{n_dropped}, {n_failed}"}


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent b of y ~ x ** b, by least squares on both logarithms; nan of a single point."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if len(set(x)) > 1 else float("nan")


def mean_and_range(values: Sequence[float]) -> str:
    """Return a mean and, of several values, the least and the largest."""
    spread = f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


def arguments(docstring: str | None, **options: bool | float | list[int] | list[float]) -> argparse.ArgumentParser:
    """Make the parser of a benchmark's arguments, with `--json` and the options that are named.

    docstring (str or None): The benchmark's, which explains its arguments.
    options (dict of str to value): By its name, the default of an option: False for a flag, or else a number, or a list
        for an option that takes several numbers.
    """
    _commit()  # of the code that runs: the checkout may change meanwhile
    parser = argparse.ArgumentParser(description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows of all tables to this file")
    for name, default in options.items():
        option, is_list = "--" + name.replace("_", "-"), isinstance(default, list)
        if default is False:
            parser.add_argument(option, action="store_true")
        else:
            number = type(default[0] if is_list else default)
            parser.add_argument(option, type=number, nargs="+" if is_list else None, default=default, metavar="N")
    return parser


def part_argument(arguments: argparse.ArgumentParser) -> None:
    """Add the choice of the trees that a benchmark parses: choose settings on dev, report test."""
    arguments.add_argument("--part", choices=("dev", "test"), default="dev", help="the trees to parse; default: dev")


def model_and_trees(docstring: str | None, **options: bool | float) -> argparse.ArgumentParser:
    """Make the parser for a benchmark of one model, given by its name or folder, on files of gold trees."""
    parser = arguments(docstring, **options)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    return parser


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report(tables: dict[str, list[Row]], json_path: Path | None) -> None:
    """Print tables in Markdown, each a list of rows with the same keys under its title, and write them as JSON.

    The file also holds the commit of the checkout and the command's arguments, seeds among them.
    """
    for title, rows in tables.items():
        print(f"\n**{title}**\n")
        print("\n".join(_lines(rows)))
    if json_path is not None:
        results = {"commit": _commit(), "arguments": sys.argv[1:], "tables": tables}
        json_path.parent.mkdir(parents=True, exist_ok=True)
        json_path.write_text(json.dumps(results, indent=1, default=str) + "\n", encoding="utf-8")


@cache
def _commit() -> str | None:
    """Return the commit that is checked out, with "-dirty" if code has changed since; None outside a repository."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=Path(__file__).parents[1], capture_output=True, encoding="utf-8")
        return done.stdout.strip()

    commit = git("rev-parse", "HEAD")
    return (commit + "-dirty" * bool(git("status", "--porcelain", "--", "*.py", "*.pyx"))) or None


def _lines(rows: list[Row]) -> list[str]:
    """A table in Markdown."""
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    rule = ["---" if isinstance(value, str) else "---:" for value in rows[0].values()]
    return ["| " + " | ".join(line) + " |" for line in [cells[0], rule, *cells[1:]]]


def _cell(value: Any) -> str:
    """A value as the table has it."""
    if value is None:
        return ""
    if isinstance(value, float):
        is_small = 0 < abs(value) < 0.005
        return f"{value:.1e}" if is_small else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
