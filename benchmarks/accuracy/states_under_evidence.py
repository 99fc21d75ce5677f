"""Measure what latent states are worth under the evidence of a pretrained encoder.

    python -m benchmarks.accuracy.states_under_evidence TRAIN DEV [--states M ...] [--seed N] [--json FILE]

Learns a span classifier on the vectors of the encoder of `en` from the trees of TRAIN, once, and grammars by each
learner, with at most M states a symbol. Parses the words of DEV by each grammar alone and with the evidence, and by a
treebank PCFG, which has no states.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.learning import EM, Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.models.encoders import find_encoder
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("train", type=Path, metavar="TRAIN")
    arguments.add_argument("dev", type=Path, metavar="DEV")
    arguments.add_argument("--states", type=int, nargs="+", default=[16], metavar="M")
    arguments.add_argument("--seed", type=int, default=0, metavar="N")
    args = arguments.parse_args()
    train, golds = measure.read_gold(args.train), measure.read_gold(args.dev)
    evidence = learned_evidence(train, args.seed)
    rows = []
    for name, learner in learners(args.states, args.seed):
        measure.progress(name)
        model = EvidenceGrammar(learner.fit(train), evidence)
        alone, together = make_parser(model.model), make_parser(model)
        rows.append({"grammar": name, **scores(alone, golds, "alone"), **scores(together, golds, "with evidence")})
    measure.report({f"{args.dev}, learned from {args.train}": rows}, args.json)


def learned_evidence(trees: list[Tree], seed: int) -> EncoderEvidence:
    """Return the evidence of the encoder of `en`, with a classifier that is learned from trees."""
    found = find_encoder("en", "en")
    assert found is not None
    classifier = learn_classifier(
        found.encoder, trees, settings=ClassifierSettings(), seed=seed, start=found.classifier
    )
    return EncoderEvidence(found.encoder, classifier)


def learners(numbers: list[int], seed: int) -> Iterator[tuple[str, Learner]]:
    """Yield each learner with its name."""
    yield "PCFG", TreebankPCFG()
    for m in numbers:
        yield f"EM, {m} states", EM(n_states=m, seed=seed)
        yield f"spectral, {m} states", Spectral(n_states=m, seed=seed)
        yield f"pivot, {m} states", Pivot(n_states=m, seed=seed)


def scores(parser: SentenceParser, golds: list[Tree], how: str) -> dict[str, float]:
    """Return F1 and the share of whole trees that are right, in percent."""
    parses = [parser.parse(query) for query in parser.prepare([Query(gold.words) for gold in golds])]
    total = evaluate(golds, [parse.tree for parse in parses]).total()
    return {f"F1 {how}": round(total.brackets.fmeasure, 2), f"exact {how}": round(total.complete_match, 1)}


if __name__ == "__main__":
    main()
