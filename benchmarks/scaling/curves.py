"""Measure how costs grow: learning with trees, parsing with words and with states, and nlp.pipe with processes.

    python -m benchmarks.scaling.curves TREEBANK_DIR [--curves NAME...] [--keep FOLDER] [--plot FOLDER] [--json FILE]
        [--sizes N...] [--learners NAME...] [--most-seconds S] [--most-gb GB] [--seed S]
        [--model-trees N] [--lengths N...] [--states M...] [--sentences N] [--processes N...]
        [--peer COMMAND] [--peer-learning COMMAND] [--peer-states COMMAND]

A TREEBANK_DIR holds train.mrg and dev.mrg. The curves, all unless some are named:

learning    CPU seconds (reading included) and peak memory, each in a process of its own, from 1,000 to 1,000,000 trees
            drawn from the PCFG of train.mrg by shards, and read as a stream. There every rare word is a new one, in the
            form of words of the treebank, so that the vocabulary grows as well. A size that is predicted from smaller
            ones to take more than S CPU seconds or GB of memory is extrapolated, and marked so.
length      CPU milliseconds a sentence of up to 300 words, cut from the running text of dev.mrg.
states      the same of the first sentences of dev.mrg, by grammars of more and more latent states.
pipe        Docs a second of nlp.pipe with one process and several, in wall seconds, and, because other work on the
            machine makes these useless, from the CPU seconds of all processes as it were with a core for each.

Exponents are slopes of straight lines through the logarithms, of learning those of the largest three sizes; theory's
stand beside. Models to parse with are learned from train.mrg, or from its first trees.

A peer is another parser. Its COMMAND is run without a shell, with names in braces for what it is to read and write:
{words}, sentences a line; {output}, a bracketed tree a line; {jobs}, its threads; of `--peer-states` also {states}, by
which it finds the grammar, and which is a power of two; of `--peer-learning` {trees} and {output}, a treebank and a
grammar. For example:

    --peer "java -jar PARSER.jar -gr GRAMMAR -inputFile {words} -outputFile {output} -nThreads {jobs}"

Drawn trees and models are kept in a folder, and found again there, if one is given. The plots, one file a curve, need
matplotlib.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy.growth import Result
from benchmarks.scaling.learning import LEARNERS, learning_curves
from benchmarks.scaling.models import Models
from benchmarks.scaling.parsing import length_curves, state_curves
from benchmarks.scaling.pipe import pipe_curves
from benchmarks.speed.drawn_trees import DrawnTrees

CURVES = ("length", "states", "pipe", "learning")
SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
LENGTHS = [10, 20, 30, 40, 60, 80, 100, 150, 200, 300]


def results(args: argparse.Namespace, folder: Path) -> list[Result]:
    """The curves that were asked for."""
    train, golds = args.treebank / "train.mrg", measure.read_gold(args.treebank / "dev.mrg")
    models = Models(train, args.model_trees, folder)
    found = []
    for curve in args.curves:
        if curve == "length":
            found.append(length_curves(models, golds, sorted(args.lengths), args.peer))
        elif curve == "states":
            found.append(state_curves(models, golds[: args.sentences], sorted(args.states), args.peer_states))
        elif curve == "pipe":
            found.append(pipe_curves(models, golds[: args.sentences], sorted(args.processes), args.peer))
        else:
            drawn, most_mb = DrawnTrees(train, folder, args.seed), 1e3 * args.most_gb
            sizes = sorted(args.sizes)
            found.append(learning_curves(drawn, args.learners, sizes, args.most_seconds, most_mb, args.peer_learning))
    return found


def options() -> argparse.ArgumentParser:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--curves", nargs="+", choices=CURVES, default=list(CURVES))
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="of drawn trees and models")
    arguments.add_argument("--plot", type=Path, metavar="FOLDER", help="also draw the curves")
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of trees")
    arguments.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    arguments.add_argument("--most-seconds", type=float, default=120.0, metavar="S", help="CPU seconds of learning")
    arguments.add_argument("--most-gb", type=float, default=8.0, metavar="GB", help="memory of learning")
    arguments.add_argument("--seed", type=int, default=0, metavar="S", help="of the drawn trees")
    arguments.add_argument("--model-trees", type=int, metavar="N", help="that models to parse with are learned from")
    arguments.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, metavar="N", help="words of a sentence")
    arguments.add_argument("--states", type=int, nargs="+", default=[4, 8, 16, 24, 32], metavar="M")
    arguments.add_argument("--sentences", type=int, default=400, metavar="N", help="for states and pipe")
    arguments.add_argument("--processes", type=int, nargs="+", default=[1, 2], metavar="N")
    arguments.add_argument("--peer", metavar="COMMAND", help="parses: {words}, {output}, {jobs}")
    arguments.add_argument("--peer-learning", metavar="COMMAND", help="learns: {trees}, {output}")
    arguments.add_argument("--peer-states", metavar="COMMAND", help="as --peer, and {states}")
    return arguments


def main() -> None:
    arguments = options()
    args = arguments.parse_args()
    measure.check_plot(arguments, args.plot)
    with tempfile.TemporaryDirectory() as temporary:
        curves = results(args, args.keep or Path(temporary))
    measure.report({title: rows for curve in curves for title, rows in curve.tables.items()}, args.json)
    if args.plot:
        args.plot.mkdir(parents=True, exist_ok=True)
        for name, plot in ((name, plot) for curve in curves for name, plot in curve.plots.items()):
            plot.draw(args.plot / f"{name}.svg")


if __name__ == "__main__":
    main()
