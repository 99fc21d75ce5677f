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

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import measure
from benchmarks.significance import evalb_counts, paired_permutation_test
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.network import APPROXIMATIONS
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.parsing.decodings import MBR, MostProbable
from spacy_lpcfg.trees import Tree

COLUMNS = {
    "F1 of brackets": "evalb_f",
    "precision": "evalb_p",
    "recall": "evalb_r",
    "complete": "complete_match",
    "tag accuracy": "tag_acc",
    "errors": "n_error",
}
"""The scores of minimum-Bayes-risk trees, by their columns."""


class Parsed(NamedTuple):
    """The most probable trees of a network and those of minimum Bayes risk."""

    trees: measure.Scored
    brackets: measure.Scored


def main() -> None:
    arguments = measure.arguments(__doc__, states=[120], seeds=[0, 1, 2], beams=[10, 30])
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    arguments.add_argument("--variant", default="default", choices=ISBNLearner.variants(), help="of the learner")
    arguments.add_argument("--approximations", nargs="+", default=["feed-forward"], choices=APPROXIMATIONS)
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
            networks[approximation], seconds = zip(
                *(measure.timed(learner.fit_networks, train) for learner in learners), strict=True
            )
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


def parse(isbn: ISBN, golds: list[Tree], beam: int, tags: str) -> Parsed:
    """Parse the words of trees both ways."""
    parsers = (
        IncrementalParser(isbn, search=BeamSettings(beam=beam), decoding=decoding) for decoding in (MostProbable(), MBR)
    )
    return Parsed(*(measure.scored(parser, golds, tags) for parser in parsers))


def row(runs: Sequence[Parsed], first: Sequence[Parsed]) -> measure.Row:
    """Return means over the seeds, and the difference to the first approximation."""
    brackets, base = [run.brackets for run in runs], [run.brackets for run in first]
    counts = (evalb_counts([run.evaluation for run in scored]) for scored in (base, brackets))
    scores = [run.evaluation.scores() for run in brackets]
    return {
        "F1 of tree": float(np.mean([run.trees.f1 for run in runs])),
        **{column: float(np.mean([of_seed[score] for of_seed in scores])) for column, score in COLUMNS.items()},
        "no derivation": float(np.mean([run.n_failed for run in brackets])),
        "words / CPU s": float(np.mean([sum(map(len, run.trees)) / run.seconds for run in brackets])),
        "less the first": measure.difference(base, brackets),
        "p": paired_permutation_test(*counts),
    }


if __name__ == "__main__":
    main()
