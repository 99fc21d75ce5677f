"""Measure how good the parsers by sigmoid belief networks are, and what learning them costs: approximations and seeds.

    python -m benchmarks.papers.isbn.treebanks TREEBANK_DIR... [--part PART] [--variant NAME] [--approximations NAME...]
        [--states N...] [--seeds S...] [--beams B...] [--tags model|given...] [--max-length WORDS] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Learns from the one, of both only the sentences of at most
so many words, and parses the other from raw words ("model") and with the treebank's tags ("given"), by the most
probable tree and by minimum Bayes risk. Figures are means over the seeds: CPU seconds and MB of learning; precision,
recall and F1 as EVALB with COLLINS.prm, tagging accuracy, EVALB errors, sentences without a derivation, and words a CPU
second. Minimum-Bayes-risk trees of each approximation are compared with those of the first: the difference has a 95%
interval by a paired bootstrap over sentences and seeds, and the p-value of a paired permutation test over the
sentences, in which the trees of all seeds are exchanged together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

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


class Parsed(NamedTuple):
    """The most probable trees of a network and those of minimum Bayes risk, with what the latter cost.

    n_failed (int): Sentences without a derivation
    speed (float): Words a CPU second
    """

    trees: Evaluation
    brackets: Evaluation
    n_failed: int
    speed: float


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
    learning, parsing = [], []
    for treebank, n_states in product(args.treebanks, args.states):
        train, golds = (read(treebank / f"{part}.mrg", args.max_length) for part in ("train", args.part))
        networks: dict[str, list[ISBN]] = {}
        for approximation in args.approximations:
            names = {"treebank": treebank.name, "approximation": approximation, "states": n_states}
            measure.progress(str(names))
            settings = {"n_states": n_states, "approximation": approximation}
            learners = [ISBNLearner.variant(args.variant, **settings, seed=seed) for seed in args.seeds]
            networks[approximation], seconds = zip(*(learn(learner, train) for learner in learners), strict=True)
            sizes = [len(isbn.to_bytes()) / 1e6 for isbn in networks[approximation]]
            learning.append({**names, "CPU s": float(np.mean(seconds)), "MB": float(np.mean(sizes))})
        for beam, tags in product(args.beams, args.tags):
            names = {"treebank": treebank.name, "states": n_states, "beam": beam, "tags": tags}
            runs = {name: [parse(isbn, golds, beam, tags) for isbn in of_name] for name, of_name in networks.items()}
            first = runs[args.approximations[0]]
            parsing += [{**names, "approximation": name, **row(of_name, first)} for name, of_name in runs.items()]
    measure.report({"Learning": learning, f"Parsing {args.part}": parsing}, args.json)


def read(path: Path, max_length: int | None) -> list[Tree]:
    """The trees of a file that are short enough."""
    return [tree for tree in measure.read_gold(path) if max_length is None or len(tree) <= max_length]


def learn(learner: ISBNLearner, trees: Iterable[Tree]) -> tuple[ISBN, float]:
    """Learn; also the CPU seconds it took."""
    start = time.process_time()
    isbn = learner.fit_networks(trees)
    return isbn, time.process_time() - start


def parse(isbn: ISBN, golds: list[Tree], beam: int, tags: str) -> Parsed:
    """Parse the words of trees both ways."""
    parses, seconds = measure.parse_all(IncrementalParser(isbn, search=BeamSettings(beam=beam)), golds, tags)
    likeliest = IncrementalParser(isbn, search=BeamSettings(beam=beam), decoding=MostProbable())
    others, _ = measure.parse_all(likeliest, golds, tags)
    trees, brackets = (evaluate(golds, [result.tree for result in results]) for results in (others, parses))
    n_failed = sum(not result.is_parsed for result in parses)
    return Parsed(trees, brackets, n_failed, sum(map(len, golds)) / seconds)


def row(runs: Sequence[Parsed], first: Sequence[Parsed]) -> measure.Row:
    """Return means over the seeds, and the difference to the first approximation."""
    base, counts = (evalb_counts([run.brackets for run in of_approximation]) for of_approximation in (first, runs))

    def mean(evaluations: Iterable[Evaluation], score: str) -> float:
        return float(np.mean([evaluation.scores()[score] for evaluation in evaluations]))

    brackets = {
        name: mean((run.brackets for run in runs), score)
        for name, score in (
            ("F1 of brackets", "evalb_f"),
            ("precision", "evalb_p"),
            ("recall", "evalb_r"),
            ("complete", "complete_match"),
            ("tag accuracy", "tag_acc"),
            ("errors", "n_error"),
        )
    }
    return {
        "F1 of tree": mean((run.trees for run in runs), "evalb_f"),
        **brackets,
        "no derivation": float(np.mean([run.n_failed for run in runs])),
        "words / CPU s": float(np.mean([run.speed for run in runs])),
        "less the first": str(difference_interval(base, counts)),
        "p": paired_permutation_test(base, counts),
    }


if __name__ == "__main__":
    main()
