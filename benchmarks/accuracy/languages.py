"""Measure what is learned from treebanks of many languages, beside another parser that learns from the same trees.

    python -m benchmarks.accuracy.languages FOLDER... [--learners NAME...] [--tags coarse]
        [--peer-train COMMAND --peer-parse COMMAND] [--json FILE]

A FOLDER holds train.mrg, test.mrg and config.cfg, as `scripts/treebanks.py` makes them. Learns from the one and parses
the words of the other. Measures F1 as EVALB with COLLINS.prm over all lengths, sentences that are right as a whole, CPU
seconds and peak memory of learning and parsing, and the size of the model. With --tags coarse tags of all trees are cut
to parts of speech. The peer's COMMANDs are those of `benchmarks.accuracy.presets`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from thinc.api import Config

from benchmarks import measure, peers
from benchmarks.accuracy import presets
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.learners import LEARNERS
from spacy_lpcfg.trees import read_trees, write_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    names = [entry.name for entry in LEARNERS]
    arguments.add_argument("--learners", nargs="*", choices=names, default=["pivot", "balanced"], metavar="NAME")
    arguments.add_argument("--tags", choices=["fine", "coarse"], default="fine")
    args = peers.parse_args(arguments)
    measure.report(measure.tables_of(args.folders, partial(rows, args=args)), args.json)


def rows(treebank: Path, args: Any) -> Iterator[measure.Row]:
    """Yield a row for each learner, and then for the peer."""
    lang = Config().from_disk(treebank / "config.cfg", interpolate=False)["nlp"]["lang"]
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (Path(folder) / name for name in ("train.mrg", "test.mrg", "model"))
        for path in (train, test):
            write_trees(path, read_trees(treebank / path.name, coarse_tags=args.tags == "coarse"))
        for name in args.learners:
            learning = measure.in_child(learn, name, lang, train, model)
            parsing = measure.in_child(presets.parse, model, train, test, presets.DECODINGS[0], None)
            costs = learning.seconds, learning.peak_mb, parsing.peak_mb
            yield {"parser": name, **presets.row(parsing.result, *costs, model)}
        if args.peer_train:
            yield {"parser": "peer", **presets.peer_row(args.peer_train, args.peer_parse, train, test, model)}


def learn(name: str, lang: str, trees: Path, model: Path) -> None:
    make_learner(name, lang=lang).fit(read_trees(trees)).to_disk(model)


if __name__ == "__main__":
    main()
