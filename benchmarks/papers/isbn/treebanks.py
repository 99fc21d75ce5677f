"""Measure how good the parsers by sigmoid belief networks are, and what learning them costs: approximations and seeds.

    python -m benchmarks.papers.isbn.treebanks TREEBANK_DIR... [--part PART] [--variant NAME] [--approximations NAME...]
        [--states N...] [--seeds S...] [--beams B...] [--tags model|given...] [--max-length WORDS] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Learns from the one, of both only the sentences of at most
so many words, and parses the other from raw words ("model") and with the treebank's tags ("given"), by the most
probable tree and by minimum Bayes risk. Measures precision, recall and F1 as EVALB with COLLINS.prm, tagging accuracy,
EVALB errors, sentences without a derivation, and CPU seconds. Where there are several approximations, a paired
permutation test over the sentences, in which the trees of all seeds are exchanged together, compares the
minimum-Bayes-risk trees of each with those of the first; the difference has a 95% interval by a paired bootstrap over
sentences and seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.significance import difference_interval, evalb_counts, paired_permutation_test
from spacy_lpcfg.evaluation.evalb import Evaluation, evaluate
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.network import APPROXIMATIONS
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.parsing.decodings import MostProbable
from spacy_lpcfg.trees import Tree

Task = tuple[str, int, str]  # treebank, beam, tags


@dataclass
class Found:
    """Evaluations of the trees of one approximation and size, over the seeds."""

    trees: list[Evaluation]
    brackets: list[Evaluation]


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    arguments.add_argument("--variant", default="default", choices=ISBNLearner.variants(), help="of the learner")
    arguments.add_argument("--approximations", nargs="+", default=["feed-forward"], choices=APPROXIMATIONS)
    arguments.add_argument("--states", type=int, nargs="+", default=[120], metavar="N")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="S")
    arguments.add_argument("--beams", type=int, nargs="+", default=[10, 30], metavar="B")
    arguments.add_argument("--tags", nargs="+", default=["model", "given"], choices=["model", "given"])
    arguments.add_argument("--max-length", type=int, metavar="WORDS")
    args = arguments.parse_args()
    learning, parsing, tests = [], [], []
    for treebank in args.treebanks:
        train, golds = (read(treebank / f"{part}.mrg", args.max_length) for part in ("train", args.part))
        for n_states in args.states:
            by_task: dict[Task, dict[str, Found]] = {}
            for approximation in args.approximations:
                names = {"treebank": treebank.name, "approximation": approximation, "states": n_states}
                for seed in args.seeds:
                    measure.progress(f"{names} seed {seed}")
                    settings = {"n_states": n_states, "approximation": approximation, "seed": seed}
                    isbn, seconds = learn(ISBNLearner.variant(args.variant, **settings), train)
                    learning.append({**names, "seed": seed, "CPU s": seconds, "MB": len(isbn.to_bytes()) / 1e6})
                    for beam in args.beams:
                        for tags in args.tags:
                            task = by_task.setdefault((treebank.name, beam, tags), {})
                            row = parse(isbn, golds, beam, tags, task.setdefault(approximation, Found([], [])))
                            parsing.append({**names, "seed": seed, "beam": beam, "tags": tags, **row})
            tests += [row for task, by in by_task.items() for row in compared(task, n_states, by)]
    measure.report({"Learning": learning, f"Parsing {args.part}": parsing, "Means over the seeds": tests}, args.json)


def read(path: Path, max_length: int | None) -> list[Tree]:
    """The trees of a file that are short enough."""
    return [tree for tree in measure.read_gold(path) if max_length is None or len(tree) <= max_length]


def learn(learner: ISBNLearner, trees: Iterable[Tree]) -> tuple[ISBN, float]:
    """Learn; also the CPU seconds it took."""
    start = time.process_time()
    isbn = learner.fit_networks(trees)
    return isbn, time.process_time() - start


def parse(isbn: ISBN, golds: list[Tree], beam: int, tags: str, evaluations: Found) -> measure.Row:
    """Parse the words of trees both ways, and add the evaluations to what was found before."""
    parser = IncrementalParser(isbn, search=BeamSettings(beam=beam))
    parses, seconds = measure.parse_all(parser, golds, tags)
    likeliest = IncrementalParser(isbn, search=BeamSettings(beam=beam), decoding=MostProbable())
    others, _ = measure.parse_all(likeliest, golds, tags)
    evaluations.brackets.append(evaluate(golds, [result.tree for result in parses]))
    evaluations.trees.append(evaluate(golds, [result.tree for result in others]))
    scores, of_tree = evaluations.brackets[-1].scores(), evaluations.trees[-1].scores()
    return {
        "precision of tree": of_tree["evalb_p"],
        "recall of tree": of_tree["evalb_r"],
        "F1 of tree": of_tree["evalb_f"],
        "F1 of brackets": scores["evalb_f"],
        "complete": of_tree["complete_match"],
        "tag accuracy": scores["tag_acc"],
        "errors": scores["n_error"],
        "no derivation": sum(not result.is_parsed for result in parses),
        "words / CPU s": sum(map(len, golds)) / seconds,
    }


def compared(task: Task, n_states: int, by: dict[str, Found]) -> list[measure.Row]:
    """Means over the seeds, and each approximation beside the first."""
    treebank, beam, tags = task
    first = evalb_counts(next(iter(by.values())).brackets)
    return [
        {
            "treebank": treebank,
            "approximation": approximation,
            "states": n_states,
            "beam": beam,
            "tags": tags,
            "F1 of tree": mean(evaluations.trees, "evalb_f"),
            "F1 of brackets": mean(evaluations.brackets, "evalb_f"),
            "precision of brackets": mean(evaluations.brackets, "evalb_p"),
            "recall of brackets": mean(evaluations.brackets, "evalb_r"),
            "less the first": str(difference_interval(first, evalb_counts(evaluations.brackets))),
            "p": paired_permutation_test(first, evalb_counts(evaluations.brackets)),
        }
        for approximation, evaluations in by.items()
    ]


def mean(evaluations: Sequence[Evaluation], score: str) -> float:
    return float(np.mean([evaluation.scores()[score] for evaluation in evaluations]))


if __name__ == "__main__":
    main()
