"""Reading, counting and learning a folder of very many trees, which are copies of a treebank's.

    python -m benchmarks.scaling.copies TREES [--sizes N...] [--files N] [--tasks read pcfg pivot] [--json FILE]

TREES is a file of trees. For each size a folder of so many files is made, with as many trees in all, and read as
`TreeFiles` (the dialect guessed file by file), counted (pcfg), and learned from (pivot without evidence), each in a
process of its own. Measures CPU seconds, reading included, and the most memory that the process held; the powers are
those of the largest size and the one before. There are no new words and rules in copies, as there would be in text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

from benchmarks import measure
from spacy_lpcfg.learning import Pivot, TreebankPCFG
from spacy_lpcfg.trees import Tree, TreeFiles, read_trees, write_trees

TASKS: dict[str, Any] = {"read": None, "pcfg": TreebankPCFG(), "pivot": Pivot()}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--sizes", nargs="+", type=int, default=[125_000, 250_000, 500_000], metavar="N")
    arguments.add_argument("--files", type=int, default=10_000, metavar="N")
    arguments.add_argument("--tasks", nargs="+", default=[*TASKS], choices=TASKS)
    args = arguments.parse_args()
    trees = list(read_trees(args.trees))
    rows = []
    for size in args.sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_copies(Path(folder), trees, size, args.files)
            for task in args.tasks:
                measure.progress(f"{size:,} trees: {task}")
                found = measure.in_child(run, task, folder)
                rows.append({"task": task, "trees": found.result, "CPU s": found.seconds, "peak MB": found.peak_mb})
    measure.report({f"{args.files:,} files of copies of {args.trees}": rows, "Powers": powers(rows)}, args.json)


def write_copies(folder: Path, trees: Sequence[Tree], size: int, n_files: int) -> None:
    """Files of the same number of trees, the trees in turn."""
    stream = cycle(trees)
    for number, (start, end) in enumerate(pairwise(size * i // n_files for i in range(n_files + 1))):
        write_trees(folder / f"{number:05d}.mrg", islice(stream, end - start))


def run(task: str, folder: str) -> int:
    """Do a task; how many trees it read."""
    n_trees = 0

    def on_read(path: str, n: int) -> None:
        nonlocal n_trees
        n_trees += n

    files = TreeFiles.of(folder, on_read=on_read)
    learner = TASKS[task]
    if learner is None:
        for _ in files:
            pass
    else:
        learner.fit(files)
    return n_trees


def powers(rows: list[measure.Row]) -> list[measure.Row]:
    """Return the powers of the number of trees by which time and memory grow between the two largest sizes."""
    exponents = []
    for task in dict.fromkeys(row["task"] for row in rows):
        of_task = [row for row in rows if row["task"] == task][-2:]
        columns = {name: [row[name] for row in of_task] for name in ("trees", "CPU s", "peak MB")}
        slopes = {name: measure.slope(columns["trees"], columns[name]) for name in ("CPU s", "peak MB")}
        exponents.append({"task": task, **slopes})
    return exponents


if __name__ == "__main__":
    main()
