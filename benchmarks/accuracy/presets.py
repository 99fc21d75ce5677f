"""Measure presets on treebanks of several sizes, beside another parser that learns from the same trees.

    python -m benchmarks.accuracy.presets TREEBANK_DIR... [--sizes N...] [--presets NAME...] [--text FILE]
        [--classes-from FILE] [--decodings NAME...] [--beams N...] [--seed S]
        [--peer-train COMMAND --peer-parse COMMAND] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Learns from N trees of the one, drawn at random so that fewer are a part of
more, 0 for all, and parses the words of the other. Measures F1 as EVALB with COLLINS.prm over all lengths, sentences
that are right as a whole, CPU seconds and peak memory of learning (reading, parsing the text and saving included),
sentences parsed per CPU second, peak memory of parsing, the model's size on disk, the expected calibration error of
scores at the model's temperature, and how many pairs of a node and its only child the training trees never have. All in
processes of their own. The text, for the preset `fast` alone, is tokenised, with a sentence a line; without one that
preset is left out. All presets learn classes of words from the other text, if there is one, which counts as learning.
With several decodings or beams of networks each has a row.

The peer's COMMANDs are run without a shell. {trees} stands for a file with a tree a line, as scoring sees them, from
which the first learns what it writes to {model}; the second parses the sentences of {words}, one a line, words between
spaces, and writes a bracketed tree a line to {output}. Its start-up counts. For example:

    --peer-train "java -cp BerkeleyParser-1.7.jar edu.berkeley.nlp.PCFGLA.GrammarTrainer -path {trees} -out {model}
        -treebank SINGLEFILE -SMcycles 5"
    --peer-parse "java -jar BerkeleyParser-1.7.jar -gr {model} -inputFile {words} -outputFile {output}"
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import measure, peers
from benchmarks.speed import parsers as speed
from spacy_lpcfg.combination import Combined
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.components.training.raw_text import RawText
from spacy_lpcfg.evaluation.calibration import outcomes, reliability, tempered
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import LexicalSettings
from spacy_lpcfg.parsing.decodings import DECODINGS
from spacy_lpcfg.parsing.model import model_from_disk
from spacy_lpcfg.trees import Tree, read_trees, write_trees
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.words import ClassLearner


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 0], metavar="N", help="0 for all")
    arguments.add_argument("--presets", nargs="*", choices=PRESETS, default=PRESETS, metavar="NAME")
    arguments.add_argument("--text", type=Path, metavar="FILE", help="for the preset fast")
    arguments.add_argument("--classes-from", type=Path, metavar="FILE")
    arguments.add_argument("--decodings", nargs="+", choices=DECODINGS, default=DECODINGS[:1], metavar="NAME")
    arguments.add_argument("--beams", type=int, nargs="+", metavar="N", help="of networks, instead of the preset's")
    arguments.add_argument("--seed", type=int, default=0)
    args = peers.parse_args(arguments)
    measure.report(measure.tables_of(args.treebanks, partial(rows, args=args)), args.json)


def rows(treebank: Path, args: Any) -> Iterator[measure.Row]:
    """Yield rows for each preset at every size, and then for the peer."""
    trees, dev = list(read_trees(treebank / "train.mrg")), treebank / "dev.mrg"
    random.Random(0).shuffle(trees)
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "train.mrg", Path(folder) / "model"
        for size in args.sizes:
            some = trees[: size or None]
            write_trees(path, some)
            names: dict[str, Any] = {"trees": len(some)}
            for name in args.presets:
                if name != "fast" or args.text:
                    yield from ({**names, **own_row} for own_row in own_rows(name, args, path, dev, model))
            if args.peer_train:
                peer = peer_row(args.peer_train, args.peer_parse, path, dev, model)
                yield {**names, "parser": "peer", **peer}


def own_rows(name: str, args: Any, trees: Path, dev: Path, model: Path) -> Iterator[measure.Row]:
    """Learn by a preset from a file of trees; yield scores and costs for each way to parse."""
    text = args.text if name == "fast" else None
    learning = measure.in_child(learn, name, text, args.classes_from, args.seed, trees, model)
    for decoding, beam in product(args.decodings, args.beams or [None]):
        parsing = measure.in_child(parse, model, trees, dev, decoding, beam)
        told = [name, *([decoding] if decoding != DECODINGS[0] else []), *([f"beam {beam}"] if beam else [])]
        yield {
            "parser": ", ".join(told),
            **row(parsing.result, learning.seconds, learning.peak_mb, parsing.peak_mb, model),
        }


def learn(name: str, text: Path | None, classes_from: Path | None, seed: int, trees: Path, model: Path) -> None:
    sentences = None if text is None else RawText(text, None)
    classes = None if classes_from is None else ClassLearner(RawText(classes_from, None))
    preset(name, text=sentences, seed=seed, lexical=LexicalSettings(word_classes=classes)).fit(
        read_trees(trees)
    ).to_disk(model)


def parse(model: Path, train: Path, dev: Path, decoding: str, beam: int | None) -> measure.Row:
    """Parse the words of trees, and score the parses."""
    golds, learned = measure.read_gold(dev), model_from_disk(model)
    if beam and isinstance(learned, Combined):
        learned = replace(learned, beam=beam, lattice=None)
    parses, seconds = measure.parse_all(learned.parser(decoding=decoding), golds, "model")
    scores, right = outcomes(parses, golds)
    error = reliability(tempered(scores, learned.temperature), right).expected_error
    parsed_trees = [parse.tree for parse in parses]
    seen = set(only_children(tree for tree in map(normalize, read_trees(train)) if tree is not None))
    unseen = sum(pair not in seen for pair in only_children(parsed_trees))
    return {**scored(golds, parsed_trees, seconds), "calibration error, %": 100 * error, "unseen unary": unseen}


def only_children(trees: Iterable[Tree]) -> Iterator[tuple[str, str]]:
    """The label of each node whose only child is no word, and of that child."""
    for node in (node for tree in trees for node in tree.nodes()):
        if len(node.children) == 1 and not node.children[0].is_leaf:
            yield node.label, node.children[0].label


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
        "calibration error, %": scores.get("calibration error, %"),
        "unseen unary": scores.get("unseen unary"),
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
