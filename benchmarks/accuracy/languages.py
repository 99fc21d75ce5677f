"""Measure what is learned from treebanks of many languages, beside another parser that learns from the same trees.

    python -m benchmarks.accuracy.languages FOLDER... [--learners NAME...] [--tag-set coarse]
        [--peer-train COMMAND --peer-parse COMMAND] [--json FILE]

A FOLDER holds train.mrg, test.mrg and config.cfg, as `scripts/treebanks.py` makes them. Learns from the one and parses
the words of the other. Measures F1 as EVALB with COLLINS.prm over all lengths, sentences that are right as a whole, CPU
seconds and peak memory of learning and parsing, and the size of the model. With --tag-set coarse tags of all trees are
cut to parts of speech.

The peer's COMMANDs are run without a shell. {trees} stands for a file with a tree a line, as scoring sees them, from
which the first learns what it writes to {model}; the second parses the sentences of {words}, one a line, words between
spaces, and writes a bracketed tree a line to {output}. Its start-up counts. For example:

    --peer-train "java -cp BerkeleyParser-1.7.jar edu.berkeley.nlp.PCFGLA.GrammarTrainer -path {trees} -out {model}
        -treebank SINGLEFILE -SMcycles 5"
    --peer-parse "java -jar BerkeleyParser-1.7.jar -gr {model} -inputFile {words} -outputFile {output}"
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from thinc.api import Config

from benchmarks import measure, peers
from benchmarks.speed import parsers as speed
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learners import learners_of
from spacy_lpcfg.models.kinds import make_parser, model_from_disk
from spacy_lpcfg.trees import Tree, read_trees, write_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    names = [entry.name for entry in learners_of("lpcfg")]
    arguments.add_argument("--learners", nargs="*", choices=names, default=["pivot"], metavar="NAME")
    arguments.add_argument("--tag-set", choices=["fine", "coarse"], default="fine")
    args = peers.parse_args(arguments)
    measure.report(measure.tables_of(args.folders, partial(rows, args=args)), args.json)


def rows(treebank: Path, args: Any) -> Iterator[measure.Row]:
    """Yield a row for each learner, and then for the peer."""
    lang = Config().from_disk(treebank / "config.cfg", interpolate=False)["nlp"]["lang"]
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (Path(folder) / name for name in ("train.mrg", "test.mrg", "model"))
        for path in (train, test):
            write_trees(path, read_trees(treebank / path.name, coarse_tags=args.tag_set == "coarse"))
        for name in args.learners:
            learning = measure.in_child(learn, name, lang, train, model)
            parsing = measure.in_child(parse, model, test)
            costs = learning.seconds, learning.peak_mb, parsing.peak_mb
            yield {"parser": name, **row(parsing.result, *costs, model)}
        if args.peer_train:
            yield {"parser": "peer", **peer_row(args.peer_train, args.peer_parse, train, test, model)}


def learn(name: str, lang: str, trees: Path, model: Path) -> None:
    make_learner(name, lang=lang).fit(read_trees(trees)).to_disk(model)


def parse(model: Path, dev: Path) -> measure.Row:
    """Parse the words of trees, and score the parses."""
    golds = measure.read_gold(dev)
    parses, seconds = measure.parse_all(make_parser(model_from_disk(model)), golds, "model")
    return scored(golds, [parse.tree for parse in parses], seconds)


def scored(golds: list[Tree], parsed_trees: list[Any], seconds: float) -> measure.Row:
    scores = evaluate(golds, parsed_trees).scores()
    return {"F1": scores["evalb_f"], "exact": scores["complete_match"], "sentences / CPU s": len(golds) / seconds}


def row(scores: measure.Row, seconds: float, peak_mb: float, parsing_mb: float, model: Path) -> measure.Row:
    """Scores, CPU seconds of learning, MB at the peaks of learning and parsing, and the size of the model's file."""
    return {
        "F1": scores["F1"],
        "exact": scores["exact"],
        "learning, CPU s": seconds,
        "learning, MB": peak_mb,
        "sentences / CPU s": scores["sentences / CPU s"],
        "parsing, MB": parsing_mb,
        "file, MB": model.stat().st_size / 1e6,
    }


def peer_row(train: str, parse_by: str, trees: Path, dev: Path, model: Path) -> measure.Row:
    """Learn by another parser from a file of trees; return its scores and costs."""
    learning = measure.in_child(train_peer, train, trees, model).result
    scores, peak_mb = measure.in_child(parse_by_peer, parse_by, dev, model).result
    return row(scores, *learning, peak_mb, model)


def train_peer(command: str, trees: Path, model: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a peer's learning, start-up included."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines(f"( {tree})\n" for tree in measure.read_gold(trees))
        file.flush()
        return peers.run(command, trees=file.name, model=model), peers.children_mb()


def parse_by_peer(command: str, dev: Path, model: Path) -> tuple[measure.Row, float]:
    """Scores of a peer's trees, and its peak memory in MB."""
    golds = measure.read_gold(dev)
    parses, seconds = speed.run_peer(command.replace("{model}", str(model)), golds)
    return scored(golds, list(parses), seconds), peers.children_mb()


if __name__ == "__main__":
    main()
