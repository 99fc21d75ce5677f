"""Measure what latent states are worth under the evidence of a pretrained encoder.

    python -m benchmarks.accuracy.states_under_evidence TRAIN TEST [--states M ...] [--learners NAME ...]
        [--seeds N ...] [--json FILE]

For each seed, learns a span classifier on the vectors of the encoder of `en` from the trees of TRAIN, once, and
grammars by each learner, with at most M states a symbol; and a treebank PCFG, which has no states. Parses the words of
TEST by each grammar alone and with the evidence. Scores are means over seeds, in percent, with 95% intervals by a
bootstrap over sentences and seeds; "beside PCFG" is the difference to the PCFG with the same evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.significance import difference_interval, evalb_counts, f1_interval
from spacy_lpcfg.evaluation.evalb import Evaluation, evaluate
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.learning import EM, Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.models.encoders import find_encoder
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.trees import Tree

LEARNERS = {"EM": EM, "spectral": Spectral, "pivot": Pivot}
PCFG = "PCFG"


def main() -> None:
    arguments = measure.arguments(__doc__, states=[16], seeds=[0])
    arguments.add_argument("train", type=Path, metavar="TRAIN")
    arguments.add_argument("test", type=Path, metavar="TEST")
    arguments.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS), metavar="NAME")
    args = arguments.parse_args()
    train, golds = measure.read_gold(args.train), measure.read_gold(args.test)
    alone: dict[str, list[Evaluation]] = defaultdict(list)
    together: dict[str, list[Evaluation]] = defaultdict(list)
    for seed in args.seeds:
        evidence = learned_evidence(train, seed)
        for name, learner in learners(args.learners, args.states, seed):
            measure.progress(f"seed {seed}, {name}")
            grammar = learner.fit(train)
            alone[name].append(scored(make_parser(grammar), golds))
            together[name].append(scored(make_parser(EvidenceGrammar(grammar, evidence)), golds))
    rows = [row(name, alone[name], together[name], together[PCFG]) for name in alone]
    measure.report({f"{args.test}, learned from {args.train}": rows}, args.json)


def learned_evidence(trees: list[Tree], seed: int) -> EncoderEvidence:
    """Return the evidence of the encoder of `en`, with a classifier that is learned from trees."""
    found = find_encoder("en", "en")
    assert found is not None
    classifier = learn_classifier(
        found.encoder, trees, settings=ClassifierSettings(), seed=seed, start=found.classifier
    )
    return EncoderEvidence(found.encoder, classifier)


def learners(names: Sequence[str], numbers: Sequence[int], seed: int) -> Iterator[tuple[str, Learner]]:
    """Yield each learner with its name."""
    yield PCFG, TreebankPCFG()
    for m in numbers:
        for name in names:
            yield f"{name}, {m} states", LEARNERS[name](n_states=m, seed=seed)


def scored(parser: SentenceParser, golds: Sequence[Tree]) -> Evaluation:
    """Parse the words of trees, and score the results."""
    return evaluate(golds, [parse.tree for parse in measure.parsed(parser, golds)])


def row(name: str, alone: list[Evaluation], together: list[Evaluation], pcfg: list[Evaluation]) -> measure.Row:
    """Return the scores of a grammar, with one evaluation a seed."""
    counts = evalb_counts(together)
    return {
        "grammar": name,
        "F1 alone": str(f1_interval(evalb_counts(alone))),
        "exact alone": _exact(alone),
        "F1 with evidence": str(f1_interval(counts)),
        "exact with evidence": _exact(together),
        "beside PCFG": str(difference_interval(evalb_counts(pcfg), counts)),
    }


def _exact(evaluations: list[Evaluation]) -> float:
    return round(float(np.mean([evaluation.scores()["complete_match"] for evaluation in evaluations])), 1)


if __name__ == "__main__":
    main()
