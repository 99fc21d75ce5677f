"""Measure how accurate models are on texts of many kinds, and how often they are as right as they say.

    python -m benchmarks.accuracy.domains MODEL... [--trees TREES...] [--gum GUM] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. Every file of TREES is a domain, of its
name; GUM is a copy of the repository github.com/amir-zeldes/gum, whose development part is read genre by genre, mended
by `scripts/gum.tsurgeon`. Measures, from the words of the trees: F1 as EVALB with COLLINS.prm over all lengths, and how
many sentences that is of, which are those whose gold and test agree in what is punctuation; F1 of all sentences, for
which the test trees have the tags of gold; sentences that are entirely right; tagging accuracy; and the expected
calibration error of the brackets' probabilities.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import measure
from scripts.gum import LEFT_OUT, split
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.parsing_pipe import ParsingPipe
from spacy_lpcfg.evaluation.calibration import outcomes, reliability
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.queries import edit_trees, read_rules
from spacy_lpcfg.trees import Tree, clean, read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, nargs="+", default=[], metavar="TREES")
    arguments.add_argument("--gum", type=Path, metavar="GUM")
    args = arguments.parse_args()
    domains = {path.stem: measure.read_gold(path) for path in args.trees}
    if args.gum:
        domains |= {f"GUM, {genre}": trees for genre, trees in genres(args.gum).items()}
    if not domains:
        arguments.error("expected --trees or --gum, got neither")
    rows = []
    for model in args.models:
        nlp = load_pipeline(model)
        pipe = find_parser(nlp, None)
        for name, golds in domains.items():
            measure.progress(f"{model} {name}")
            rows.append({"model": model, "domain": name, **row(pipe, golds)})
    measure.report({"Accuracy by domain": rows}, args.json)


def genres(gum: Path) -> dict[str, list[Tree]]:
    """The mended development trees of each genre of a copy of GUM that comes with its words."""
    trees_by_domain: dict[str, list[Tree]] = {}
    rules = read_rules("scripts/gum.tsurgeon")
    for name in split((gum / "splits.md").read_text("utf-8"))["dev"]:
        genre = name.split("_")[1]
        if genre not in LEFT_OUT["all"]:
            mended = edit_trees(read_trees(gum / "const" / f"{name}.ptb"), rules)
            trees = map(clean, filter(None, mended))
            trees_by_domain.setdefault(genre, []).extend(filter(None, trees))
    return dict(sorted(trees_by_domain.items()))


def row(pipe: ParsingPipe, golds: list[Tree]) -> measure.Row:
    """Return the accuracy and the calibration error of a component on the words of gold trees."""
    parser = pipe.ready_parser()
    parses = [parser.parse(gold.words) for gold in golds]
    evaluation = evaluate(golds, [parse.tree for parse in parses])
    tagged = [Tree.from_spans(gold.words, gold.tags, parse.spans) for gold, parse in zip(golds, parses, strict=True)]
    scores, (probabilities, right) = evaluation.scores(), outcomes(parses, golds)
    return {
        "sentences": len(golds),
        "scored": evaluation.total().n_valid,
        "F1": scores["evalb_f"],
        "F1 of all": evaluate(golds, tagged).scores()["evalb_f"],
        "right, %": scores["complete_match"],
        "tags, %": scores["tag_acc"],
        "calibration error, %": 100 * reliability(probabilities, right).expected_error,
    }


if __name__ == "__main__":
    main()
