"""Measure how much evidence should count beside a grammar: accuracy and calibration by the powers of its factors.

    python -m benchmarks.accuracy.evidence_weights MODEL TREES... [--spans POWER...] [--tags POWER...] [--taus TAU...]
        [--most N] [--json FILE]

MODEL is a model with evidence, such as en; TREES are files of gold trees, of which at most N each are parsed from their
words. For each power of the odds of spans, of the probabilities of tags, and of the projection (tau): F1 and sentences
that are entirely right, as EVALB has them with COLLINS.prm, and calibration errors of brackets, tags and whole trees.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart.evidence_parser import EvidenceWeights
from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.evaluation.calibration import DomainOutcomes
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    defaults = EvidenceWeights()
    arguments.add_argument("--spans", type=float, nargs="+", default=[defaults.span_power], metavar="POWER")
    arguments.add_argument("--tags", type=float, nargs="+", default=[defaults.tag_power], metavar="POWER")
    arguments.add_argument("--taus", type=float, nargs="+", default=[0.3, 0.35, 0.4], metavar="TAU")
    arguments.add_argument("--most", type=int, default=10_000, metavar="N")
    args = arguments.parse_args()
    model = find_lpcfg_parser(load_pipeline(args.model))[0].learned
    if not isinstance(model, EvidenceGrammar):
        arguments.error("expected a model with evidence, such as en")
    weights = [EvidenceWeights(*powers) for powers in product(args.spans, args.tags, args.taus)]
    tables = {}
    for path in args.trees:
        golds = measure.read_gold(path)[: args.most]
        queries = make_parser(model).prepare([Query(gold.words) for gold in golds])
        tables[str(path)] = [row(replace(model, weights=each), queries, golds) for each in weights]
    measure.report(tables, args.json)


def row(model: EvidenceGrammar, queries: list[Query], golds: list[Tree]) -> measure.Row:
    """Return the accuracy of a model and its calibration errors, in percent."""
    parser = make_parser(model)
    parses = [parser.parse(query) for query in queries]
    total = evaluate(golds, [parse.tree for parse in parses]).total()
    errors = DomainOutcomes.of(parses, golds).expected_errors()
    return {
        "spans": model.weights.span_power,
        "tags": model.weights.tag_power,
        "tau": model.weights.tau,
        "F1": total.brackets.fmeasure,
        "right, %": total.complete_match,
        **{name: 100 * error for name, error in zip(("error of brackets", "of tags", "of trees"), errors, strict=True)},
    }


if __name__ == "__main__":
    main()
