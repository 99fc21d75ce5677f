"""Measure how accurate models are on texts of many kinds, and how often they are as right as they say.

    python -m benchmarks.accuracy.domains MODEL... [--trees TREES...] [--gum GUM] [--most N] [--weights L,M,T...]
        [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. Every file of TREES is a domain, of its
name; GUM is a copy of the repository github.com/amir-zeldes/gum, whose development part is read genre by genre, mended
by `scripts/gum.tsurgeon`. Of each domain at most N trees count. Measures, from the words of the trees: F1 as EVALB with
COLLINS.prm over all lengths, and how many sentences that is of, which are those whose gold and test agree in what is
punctuation; F1 of all sentences, for which the test trees have the tags of gold; sentences that are entirely right;
tagging accuracy; and the expected calibration errors of brackets, tags and whole trees. Models with evidence are
measured under each triple of weights, if any are given: the powers of the odds of spans and of the probabilities of
tags, and tau.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from benchmarks import measure
from scripts.gum import LEFT_OUT, split
from spacy_lpcfg.chart.evidence_parser import EvidenceWeights
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.evaluation.calibration import DomainOutcomes
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.queries import edit_trees, read_rules
from spacy_lpcfg.trees import Tree, clean, read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, nargs="+", default=[], metavar="TREES")
    arguments.add_argument("--gum", type=Path, metavar="GUM")
    arguments.add_argument("--most", type=int, metavar="N")
    arguments.add_argument("--weights", nargs="+", default=["own"], metavar="L,M,T")
    args = arguments.parse_args()
    domains = {path.stem: measure.read_gold(path) for path in args.trees}
    if args.gum:
        domains |= {f"GUM, {genre}": trees for genre, trees in genres(args.gum).items()}
    if not domains:
        arguments.error("expected --trees or --gum, got neither")
    rows: list[measure.Row] = []
    for model in args.models:
        pipe = find_parser(load_pipeline(model))
        for weights in args.weights:
            parser = pipe.ready_parser()
            if weights != "own":
                parser = make_parser(replace(pipe.learned, weights=EvidenceWeights(*map(float, weights.split(",")))))
            for name, golds in domains.items():
                measure.progress(f"{model} {weights} {name}")
                row = accuracy(parser, golds[: args.most])
                rows.append({"model": model, "weights": weights, "domain": name, **row})
    measure.report({"Accuracy by domain": rows}, args.json)


def genres(gum: Path) -> dict[str, list[Tree]]:
    """The mended development trees of each genre of a copy of GUM that comes with its words."""
    by_genre: dict[str, list[Tree]] = defaultdict(list)
    rules = read_rules("scripts/gum.tsurgeon")
    for name in split((gum / "splits.md").read_text("utf-8"))["dev"]:
        genre = name.split("_")[1]
        if genre not in LEFT_OUT["all"]:
            mended = edit_trees(read_trees(gum / "const" / f"{name}.ptb"), rules)
            by_genre[genre] += filter(None, map(clean, filter(None, mended)))
    return dict(sorted(by_genre.items()))


def accuracy(parser: SentenceParser, golds: list[Tree]) -> measure.Row:
    """Return the accuracy and the calibration errors of a parser on the words of gold trees."""
    parses = measure.parsed(parser, golds)
    evaluation = evaluate(golds, [parse.tree for parse in parses])
    tagged = [Tree.from_spans(gold.words, gold.tags, parse.spans) for gold, parse in zip(golds, parses, strict=True)]
    scores, errors = evaluation.scores(), DomainOutcomes.of(parses, golds).expected_errors()
    return {
        "sentences": len(golds),
        "scored": evaluation.total().n_valid,
        "F1": scores["evalb_f"],
        "F1 of all": evaluate(golds, tagged).scores()["evalb_f"],
        "right, %": scores["complete_match"],
        "tags, %": scores["tag_acc"],
        **{name: 100 * error for name, error in zip(("error of brackets", "of tags", "of trees"), errors, strict=True)},
    }


if __name__ == "__main__":
    main()
