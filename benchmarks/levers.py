"""What each setting of the parser is worth: accuracy and speed, one lever changed at a time.

    python benchmarks/levers.py MODEL TREES [--tags given] [--levers NAME...] [--json FILE]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it, or the file of a saved grammar, ensemble or
combination; TREES are gold trees, whose words are parsed. The first row has the default settings, and each other row
one that differs from them; by default the cascade for several grammars, and all other levers for one. Measures F1 as
EVALB with COLLINS.prm over all lengths, tagging accuracy, and sentences per CPU second; how many sentences need the
next rungs of the ladder: because pruning left no tree, because the grammar has none, because its back-off has none
either; and of one grammar the edges of the forest a sentence, which are what the latent marginals cost. What the
storage of the tensors is worth, `sparse_tensors.py` tells, and what cross-validation chooses, `cross_validation.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import measure
import spacy
from speed import component

from spacy_lpcfg.chart import Parser, Settings
from spacy_lpcfg.combination import Learned, learned_from_disk, parser_of
from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.evalb import evaluate
from spacy_lpcfg.trees.parse import BACKED_OFF, GLUED

Value: TypeAlias = float | str | None

LEVERS: dict[str, tuple[Value, ...]] = {
    "threshold": (1e-5, 5e-5, 2e-4, 1e-3),
    "edge_threshold": (0.0, 5e-6, 2e-5, 8e-5, 4e-4),
    "beam": (1e-6, 1e-4, 1e-3, 1e-2),
    "boundary_merit": (False,),
    "tag_threshold": (0.0, 1e-3, 3e-3, 1e-2, 3e-2),
    "boundary_threshold": (0.0, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2),
    "retry_beam": (None, 1.0, 0.0),
    "cascade": (0.0, 1e-5, 1e-4, 1e-3, 1e-2),
    "decoding": ("rules",),
    "bracket_cost": (0.3, 0.4, 0.45, 0.5, 0.6),
}
DECODINGS = {"brackets": "brackets", "rules": "tree"}  # as `parser_of` calls them


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--tags", choices=("given", "model"), default="model", help="default: model")
    arguments.add_argument("--levers", nargs="+", choices=LEVERS, metavar="NAME", help="default: all that matter")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    model = read_model(args.model)
    rows = []
    for name, settings in variants(args.levers or levers_of(model)):
        measure.progress(name)
        forests = of_forests(model, settings, golds, args.tags) if isinstance(model, Grammar) else {}
        rows.append({"settings": name, **parsed(model, settings, golds, args.tags), **forests})
    measure.report({f"{len(golds)} sentences of {args.trees}, tags: {args.tags}": rows}, args.json)


def read_model(path: Path) -> Learned:
    """What the component of a pipeline's folder has learned, or what is in a file."""
    if not path.is_dir():
        return learned_from_disk(path)
    parser = component(spacy.load(path))
    if not isinstance(parser, LPCFGParser) or parser.grammar is None:
        raise ValueError(f"Expected a pipeline with an lpcfg_parser in {path}, got one with {parser.name!r}.")
    return parser.grammar


def levers_of(model: Learned) -> list[str]:
    """The levers of one grammar, or that of several."""
    return [name for name in LEVERS if (name == "cascade") != isinstance(model, Grammar)]


def variants(levers: Iterable[str]) -> Iterator[tuple[str, Settings]]:
    """The default settings, and those that differ in one lever, by what is told of them."""
    yield "default", Settings()
    for lever in levers:
        for value in LEVERS[lever]:
            settings = replace(Settings(), **{lever: value})  # type: ignore[arg-type]
            if settings != Settings():
                yield f"{lever} {value}", settings


def parsed(model: Learned, settings: Settings, golds: list[Tree], tags: str) -> measure.Row:
    """Accuracy and cost of a parser with the settings."""
    parser = parser_of(model, decoding=DECODINGS[settings.decoding], settings=settings)
    parser.parse(golds[0].words)
    parses, seconds = measure.parse_all(parser, golds, tags)
    scores = evaluate(golds, [parse.tree for parse in parses]).scores()
    statuses = Counter(parse.status for parse in parses)
    return {
        "F1": scores["evalb_f"],
        "tag accuracy": scores["tag_acc"],
        "sentences / CPU s": len(golds) / seconds,
        "backed off": statuses[BACKED_OFF],
        "glued": statuses[GLUED],
    }


def of_forests(grammar: Grammar, settings: Settings, golds: list[Tree], tags: str) -> measure.Row:
    """What the settings leave of the chart at the first try: sentences without a tree, and edges a sentence."""
    parser = Parser(grammar, settings=replace(settings, retry_beam=None))
    forests = [parser.forest(gold.words, gold.tags if tags == "given" else None) for gold in golds]
    return {
        "tried again": sum(forest.n_items == 0 for forest in forests),
        "edges": round(sum(forest.n_edges for forest in forests) / len(golds)),
    }


if __name__ == "__main__":
    main()
