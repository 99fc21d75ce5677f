"""From the papers' parser to ours, one part after the other: F1 of one grammar, and what parsing costs.

    python -m benchmarks.papers.parser_parts TREEBANK_DIR [--part PART] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Grammars are a PCFG, and that of the variant "paper" of
the spectral learner with 16 states and seed 0. The first row is the parser of Cohen et al. (2013), which decodes by
max-rule and prunes items whose marginal under the treebank PCFG is below 5e-5; each other row adds what it names, and
the last is our default parser. F1 (EVALB, COLLINS.prm, all lengths) is from raw words (model), and with the treebank's
tags (given); dropped are sentences that EVALB leaves out, failed those whose tree is a fall-back's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.parsing.decodings import MBR, Decoding, MaxRule
from spacy_lpcfg.trees import Tree, read_trees

PARTS = {
    "pruning of edges": ("edge_threshold",),
    "beam, and a wider one if there is no tree": ("beam", "retry_beam"),
    "figure of merit by the words around": ("boundary_merit",),
    "tags by context": ("tag_threshold",),
    "boundaries by context": ("boundary_threshold",),
}
"""The settings that each of our parts changes."""
Parts = tuple[str, ChartSettings, Decoding]


def parsers() -> Iterator[Parts]:
    """Yield the names, settings and decodings of parsers, from the papers' to ours."""
    settings = ChartSettings.variant("paper")
    yield "the papers' parser", settings, MaxRule()
    for name, changed in PARTS.items():
        settings = replace(settings, **{setting: getattr(ChartSettings(), setting) for setting in changed})
        yield f"+ {name}", settings, MaxRule()
    yield "+ mbr: our parser", settings, MBR


def row(name: str, grammar: Grammar, parts: Parts, golds: list[Tree]) -> measure.Row:
    """F1 by one parser from both kinds of words."""
    title, settings, decoding = parts
    cells: measure.Row = {"grammar": name, "parser": title}
    for tags in ("given", "model"):
        scored = measure.scored(Parser(grammar, settings=settings, decoding=decoding), golds, tags)
        cells |= {**measure.f1_cells([scored], tags), f"CPU s, {tags} tags": scored.seconds}
    measure.progress(str(cells))
    return cells


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    args = arguments.parse_args()
    train, golds = list(read_trees(args.treebank / "train.mrg")), measure.read_gold(args.treebank / f"{args.part}.mrg")
    grammars = {
        "PCFG": TreebankPCFG().fit(train),
        "spectral, 16 states": Spectral.variant("paper", n_states=16, seed=0).fit(train),
    }
    rows = [row(name, grammar, parts, golds) for name, grammar in grammars.items() for parts in parsers()]
    measure.report({f"F1 on {args.treebank.name}, {args.part}": rows}, args.json)


if __name__ == "__main__":
    main()
