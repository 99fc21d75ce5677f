"""Measure how long it takes to find patterns in many trees.

    python -m benchmarks.speed.search TREES [--trees N] [--words N] [--json FILE]

Of N trees (100,000) in a file, of about N words (20): those of TREES, again and again, each with a word that no other
has. CPU seconds in a fresh process, to read the file into an index, and then pattern by pattern to find all matches,
first and again; and how many there are.
"""

from __future__ import annotations

import time
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import measure
from spacy_lpcfg.queries import TreeIndex
from spacy_lpcfg.trees import Tree, read_trees, write_trees

PATTERNS = (
    "NP < (PP < (IN < of)) $+ VP",
    "NP < (PP <<# of)",
    "VP < /^VB/ < (NP !$ NP)",
    "@NP <<: NN",
    "S !<< VP",
    "NP .. VP",
    "NP=x < (PP=y < (IN < of)) $+ VP",
)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREES")
    arguments.add_argument("--trees", type=int, default=100_000, metavar="N")
    arguments.add_argument("--words", type=int, default=20, metavar="N")
    args = arguments.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "many.mrg"
        write_trees(path, many(args.treebank, args.trees, args.words))
        measured = measure.in_child(search, path)
    reading, rows = measured.result
    sizes = {"reading": reading, "with the first pattern": reading + rows[0]["seconds"], "peak MB": measured.peak_mb}
    measure.report({"CPU seconds": [sizes], "patterns": rows}, args.json)


def many(treebank: Path, n_trees: int, n_words: int) -> list[Tree]:
    """Trees of a treebank, again and again, of about so many words, each with a last word of its own."""
    trees = [tree for tree in read_trees(treebank) if abs(len(tree) - n_words) <= n_words / 4]
    return [
        Tree.from_spans([*tree.words[:-1], f"w{number}"], tree.tags, tree.spans())
        for number, tree in enumerate(islice(cycle(trees), n_trees))
    ]


def search(path: Path) -> tuple[float, list[measure.Row]]:
    """Seconds of reading, and of each pattern."""
    start = time.process_time()
    index = TreeIndex.read(path)
    reading = time.process_time() - start
    rows: list[measure.Row] = []
    for pattern in PATTERNS:
        row: measure.Row = {"pattern": f"`{pattern}`"}
        for when in ("seconds", "again"):
            start = time.process_time()
            n_matches = sum(1 for _ in index.search(pattern))
            row[when] = time.process_time() - start
        rows.append({**row, "matches": n_matches})
    return reading, rows


if __name__ == "__main__":
    main()
