"""Measure how fast an ISBN parses on one core, and how much of the time its search takes.

    python -m benchmarks.speed.isbn ISBN TREES [--beams 10,30] [--approximations NAME,...] [--repeats N] [--json FILE]

ISBN is a folder that `spacy-lpcfg learn isbn` wrote; TREES are the gold trees of the sentences. Measures words per CPU
second of IncrementalParser.parse with raw words and with the tags of the trees, for each width of the beam, the median
of N passes, each in a process of its own that has parsed one sentence before; the most memory that such a process ever
held; and F1 (EVALB, COLLINS.prm, all lengths). The share of the search in the time tells what Python adds to it.

With --approximations the same parameters are also read as those of other approximations than the one that they were
learned for: the speed is right then, F1 is not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.isbn import ISBN, BeamSettings, IncrementalParser
from spacy_lpcfg.isbn.search import Search
from spacy_lpcfg.trees import Tree


def load(path: Path, approximation: str | None) -> ISBN:
    """An ISBN, as one of another approximation if that is asked for."""
    isbn = measure.read_isbn(path)
    if approximation is None:
        return isbn
    return replace(isbn, networks=tuple(replace(network, approximation=approximation) for network in isbn.networks))


def one_pass(path: Path, approximation: str | None, beam: int, tags: str, golds: list[Tree]) -> dict[str, float]:
    """Parse the words of trees; seconds, F1, and shares."""
    parser = IncrementalParser(load(path, approximation), settings=BeamSettings(beam=beam))
    parser.parse(golds[0].words)
    parses, seconds = measure.parse_all(parser, golds, tags)
    scores = evaluate(golds, [parse.tree for parse in parses]).scores()
    return {
        "seconds": seconds,
        "F1": scores["evalb_f"],
        "fall-backs": sum(not parse.is_parsed for parse in parses),
        **parts(parser, [(gold.words, gold.tags if tags == "given" else None) for gold in golds]),
    }


def parts(parser: IncrementalParser, inputs: Sequence[tuple[list[str], list[str] | None]]) -> dict[str, float]:
    """CPU seconds of the words' candidates, now known, and of the search."""
    search = Search(parser._networks, parser.settings)
    times = np.zeros(2)
    for words, tags in inputs:
        start = time.process_time()
        candidates = parser.isbn.vocabulary.candidates(words, tags)
        looked_up = time.process_time()
        search.add(candidates)
        for _ in words:
            search.advance()
        search.finish()
        times += np.array([looked_up - start, time.process_time() - looked_up])
        search.clear()
    return {"candidates": float(times[0]), "search": float(times[1])}


def row(args, approximation: str | None, beam: int, tags: str, golds: list[Tree]) -> measure.Row:
    """The median of several passes in fresh processes."""
    passes = [
        measure.in_child(one_pass, args.isbn, approximation, beam, tags, golds) for _ in range(max(args.repeats, 1))
    ]
    n_words = sum(map(len, golds))
    median = {
        name: statistics.median(measured_pass.result[name] for measured_pass in passes) for name in passes[0].result
    }
    return {
        "approximation": approximation or "as learned",
        "tags": tags,
        "beam": beam,
        "words / CPU s": n_words / median["seconds"],
        "% search": 100 * median["search"] / median["seconds"],
        "F1": median["F1"],
        "fall-backs": int(median["fall-backs"]),
        "peak MB": max(measured_pass.peak_mb for measured_pass in passes),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("isbn", type=Path, metavar="ISBN")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--beams", default="10,30", metavar="N,...")
    arguments.add_argument("--approximations", default="", metavar="NAME,...", help="instead of that of the file")
    arguments.add_argument("--repeats", type=int, default=3, metavar="N")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    rows = []
    for approximation in args.approximations.split(",") if args.approximations else [None]:
        for beam in map(int, args.beams.split(",")):
            for tags in ("given", "model"):
                measure.progress(f"{approximation or args.isbn.name}, beam {beam}, tags: {tags}")
                rows.append(row(args, approximation, beam, tags, golds))
    measure.report({f"Parsing {len(golds)} sentences of {args.trees}": rows}, args.json)


if __name__ == "__main__":
    main()
