"""Measure what each setting of the parser is worth: accuracy and speed, one lever changed at a time.

    python -m benchmarks.accuracy.levers MODEL TREES [--tags given] [--levers NAME...] [--json FILE]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it, or the file of a saved grammar;
TREES are gold trees, whose words are parsed. The first row has the default settings, and each other row
one that differs from them; Measures F1 as
EVALB with COLLINS.prm over all lengths; tagging accuracy; sentences per CPU second, and how many times as many they are
as under the default settings, with which they are parsed in turn, so that what else the machine does falls on both; and
sentences that the grammar has no tree for, whose trees are by the rules of its back-off, or glued: with a `retry_beam`
of None those that pruning leaves no tree. What the storage of the tensors is worth, `sparse_tensors.py` tells, and what
cross-validation chooses, `cross_validation.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.models.kinds import make_parser, model_from_disk
from spacy_lpcfg.parsing.decodings import MaxRule, MinimumRisk
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.result import BACKED_OFF, GLUED, Parse
from spacy_lpcfg.trees import Tree

LEVERS: dict[str, tuple[Any, ...]] = {
    "threshold": (1e-5, 5e-5, 2e-4, 1e-3),
    "edge_threshold": (0.0, 5e-6, 2e-5, 8e-5, 4e-4),
    "beam": (1e-6, 1e-4, 1e-3, 1e-2),
    "boundary_merit": (False,),
    "tag_threshold": (0.0, 1e-3, 3e-3, 1e-2, 3e-2),
    "boundary_threshold": (0.0, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2),
    "retry_beam": (None, 1.0, 0.0),
    "decoding": (MaxRule.name,),
    "bracket_cost": (0.3, 0.4, 0.45, 0.5, 0.6),
}
TURN = 25  # sentences


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--tags", choices=("given", "model"), default="model", help="default: model")
    arguments.add_argument("--levers", nargs="+", choices=LEVERS, metavar="NAME", help="default: all")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    model = read_model(args.model)
    default = make_parser(model)
    rows = []
    for name, settings in variants(args.levers or LEVERS):
        measure.progress(name)
        parser = make_parser(model, **settings)
        rows.append({"settings": name, **row(parser, default, golds, args.tags)})
    measure.report({f"{len(golds)} sentences of {args.trees}, tags: {args.tags}": rows}, args.json)


def read_model(path: Path) -> ParsingModel:
    """Return the model of the lpcfg_parser of a pipeline's folder, or the model in a file."""
    if not path.is_dir():
        return model_from_disk(path)
    return find_lpcfg_parser(load_pipeline(str(path)))[1]


def variants(levers: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the arguments of `make_parser` for the default settings, and for a change of each lever."""
    yield "default", {}
    for lever in levers:
        for value in LEVERS[lever]:
            if lever == "decoding":
                yield f"{lever} {value}", {"decoding": value}
            elif lever == "bracket_cost":
                yield f"{lever} {value}", {"decoding": MinimumRisk(value)}
            elif value != getattr(ChartSettings, lever):
                yield f"{lever} {value}", {"chart": ChartSettings(**{lever: value})}


def row(parser: measure.Parses, default: measure.Parses, golds: list[Tree], tags: str) -> measure.Row:
    """Accuracy and cost of a parser beside the one with the default settings."""
    for timed in (parser, default):
        timed.parse(golds[0].words)
    parses: list[Parse] = []
    seconds = np.zeros(2)
    for start in range(0, len(golds), TURN):
        turns = [measure.parse_all(timed, golds[start : start + TURN], tags) for timed in (parser, default)]
        parses += turns[0][0]
        seconds += [spent for _, spent in turns]
    statuses = Counter(parse.status for parse in parses)
    return {
        **scores(golds, parses),
        "sentences / CPU s": len(golds) / seconds[0],
        "times the default": seconds[1] / seconds[0],
        "backed off": statuses[BACKED_OFF],
        "glued": statuses[GLUED],
    }


def scores(golds: list[Tree], parses: list[Parse]) -> measure.Row:
    """Return the accuracy of parses."""
    percentages = evaluate(golds, [parse.tree for parse in parses]).scores()
    return {"F1": percentages["evalb_f"], "tag accuracy": percentages["tag_acc"]}


if __name__ == "__main__":
    main()
