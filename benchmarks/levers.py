"""What each setting of the parser is worth: accuracy and speed, one lever changed at a time.

    python benchmarks/levers.py MODEL TREES [--tags given] [--levers NAME...] [--json FILE]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it, or the file of a saved grammar; TREES are gold
trees, whose words are parsed. The first row has the default settings, and each other row one that differs from them.
Measures F1 as EVALB with COLLINS.prm over all lengths, tagging accuracy, sentences without a tree of the grammar,
edges of the forest a sentence, which are what the latent marginals cost, and sentences per CPU second.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import measure
import spacy
from speed import component

from spacy_lpcfg.chart import Parser, Settings
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.evalb import evaluate

LEVERS: dict[str, tuple[float | str, ...]] = {
    "threshold": (1e-5, 5e-5, 2e-4, 1e-3),
    "edge_threshold": (0.0, 5e-6, 2e-5, 8e-5, 4e-4),
    "beam": (1e-6, 1e-4, 1e-3, 1e-2),
    "tag_threshold": (0.0, 1e-4, 1e-3, 3e-3, 1e-2),
    "boundary_threshold": (0.0, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2),
    "decoding": ("rules",),
    "bracket_cost": (0.3, 0.4, 0.5, 0.6),
}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--tags", choices=("given", "model"), default="model", help="default: model")
    arguments.add_argument("--levers", nargs="+", choices=LEVERS, default=list(LEVERS), metavar="NAME")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    grammar = read_grammar(args.model)
    Parser(grammar).parse(golds[0].words)
    rows = [row(grammar, Settings(), "default", golds, args.tags)]
    for lever in args.levers:
        for value in LEVERS[lever]:
            settings = replace(Settings(), **{lever: value})
            if settings != Settings():
                rows.append(row(grammar, settings, f"{lever} {value}", golds, args.tags))
    measure.report({f"{len(golds)} sentences of {args.trees}, tags: {args.tags}": rows}, args.json)


def read_grammar(path: Path) -> Grammar:
    """The grammar of a pipeline's folder, or of a file."""
    return component(spacy.load(path)).grammar if path.is_dir() else Grammar.from_disk(path)


def row(grammar: Grammar, settings: Settings, name: str, golds: list[Tree], tags: str) -> measure.Row:
    """Accuracy and cost of a parser with the settings."""
    measure.progress(name)
    parser = Parser(grammar, settings=settings)
    parses, seconds = measure.parse_all(parser, golds, tags)
    scores = evaluate(golds, [parse.tree for parse in parses]).scores()
    forests = (parser.forest(gold.words, gold.tags if tags == "given" else None) for gold in golds)
    return {
        "settings": name,
        "F1": scores["evalb_f"],
        "tag accuracy": scores["tag_acc"],
        "no tree": sum(not parse.is_parsed for parse in parses),
        "edges": round(sum(forest.n_edges for forest in forests) / len(golds)),
        "sentences / CPU s": len(golds) / seconds,
    }


if __name__ == "__main__":
    main()
