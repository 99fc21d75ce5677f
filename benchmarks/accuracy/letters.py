"""Measure how accurate a model is on text in other letters: in capitals, in headline case, in lower case, and so on.

    python -m benchmarks.accuracy.letters MODEL TREES [--json FILE]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it, or the file of a saved model; TREES are gold trees.
The words are those of the trees as they are, and then as each kind of `spacy_lpcfg.trees.noise` has them. Measures F1
as EVALB with COLLINS.prm over all lengths; tagging accuracy; sentences that EVALB does not score, as gold and test
differ in what is punctuation; and F1 of all sentences, for which the test trees have the tags of gold.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy.levers import read_model
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.noise import KINDS


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    parser = make_parser(read_model(args.model))
    rows = [{"letters": "as they are", **row(parser, golds)}]
    for kind in KINDS:
        measure.progress(kind.__name__)
        rows.append({"letters": kind.__name__.replace("_", " "), **row(parser, [kind(gold) for gold in golds])})
    measure.report({f"{len(golds)} sentences of {args.trees}": rows}, args.json)


def row(parser: measure.Parses, golds: list[Tree]) -> measure.Row:
    """Return the accuracy of a parser on the words of gold trees."""
    parses, _ = measure.parse_all(parser, golds, "model")
    evaluation = evaluate(golds, [parse.tree for parse in parses])
    scores = evaluation.scores()
    tagged = [Tree.from_spans(gold.words, gold.tags, parse.spans) for gold, parse in zip(golds, parses, strict=True)]
    return {
        "F1": scores["evalb_f"],
        "tag accuracy": scores["tag_acc"],
        "not scored": evaluation.total().n_error,
        "F1 of all": evaluate(golds, tagged).scores()["evalb_f"],
    }


if __name__ == "__main__":
    main()
