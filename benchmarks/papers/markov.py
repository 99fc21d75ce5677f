"""PCFGs with Markovisation and without states: section 4.3 of Cohen et al. (2013) again, and its PCFG of section 4.1.

    python -m benchmarks.papers.markov TREEBANK_DIR... [--part PART] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Measures F1 on PART (EVALB, COLLINS.prm, all lengths), from
raw words and with the treebank's tags, of PCFGs whose categories remember so many ancestors (vertical order 1 is none
but the category itself, 2 its parent; Klein and Manning 2003), and whose binarised ones so many siblings (horizontal
order). Tags have no ancestors. The papers' parser decodes by max-rule and prunes by marginals alone; ours has its
default pruning, and decodes raw words by both. Dropped are sentences that EVALB leaves out, failed those
whose tree is a fall-back's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.learning.treebank.settings import RuleSettings
from spacy_lpcfg.parsing.decodings import MBR, MaxRule
from spacy_lpcfg.trees import Tree

ABOVE = "^"
ORDERS = ((1, 0), (1, 1), (2, 0), (2, 1))  # vertical, horizontal
RULES = (MaxRule(), MBR)


def with_parents(tree: Tree, parent: str = "") -> Tree:
    """The tree whose categories have their parents' names, as NP^S."""
    if tree.is_leaf:
        return tree
    label = f"{tree.label}{ABOVE}{parent}" if parent else tree.label
    return Tree(label, tuple(with_parents(child, tree.label) for child in tree.children))


def without_parents(tree: Tree) -> Tree:
    """The same tree, whose categories are what they were."""
    if tree.is_leaf:
        return tree
    return Tree(tree.label.split(ABOVE)[0], tuple(map(without_parents, tree.children)))


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    args = arguments.parse_args()
    rows = []
    for folder in args.treebanks:
        train, golds = (measure.read_gold(folder / f"{part}.mrg") for part in ("train", args.part))
        for vertical, horizontal in ORDERS:
            measure.progress(f"{folder.name}: {vertical}, {horizontal}")
            rows.append(row(folder.name, vertical, horizontal, train, golds))
    measure.report({f"PCFGs with Markovisation, {args.part}": rows}, args.json)


def row(name: str, vertical: int, horizontal: int, train: list[Tree], golds: list[Tree]) -> measure.Row:
    """F1 of a PCFG with both kinds of words by the papers' parser and by ours, its size, and what parsing costs."""
    trees = train if vertical == 1 else list(map(with_parents, train))
    grammar = TreebankPCFG(rules=RuleSettings(markov=horizontal)).fit(trees)
    scored = partial(measure.scored, golds=golds, restore=without_parents)
    paper = Parser(grammar, settings=ChartSettings.variant("paper"), decoding=MaxRule())
    by_tags = {tags: scored(paper, tags=tags) for tags in ("model", "given")}
    by_rule = {rule.name: scored(Parser(grammar, decoding=rule), tags="model") for rule in RULES}
    return {
        "treebank": name,
        "vertical": vertical,
        "horizontal": horizontal,
        "rules": grammar.n_rules,
        **{key: cell for tags, run in by_tags.items() for key, cell in measure.f1_cells([run], tags).items()},
        "CPU s": by_tags["model"].seconds,
        **{f"our parser, {rule}": run.f1 for rule, run in by_rule.items()},
    }


if __name__ == "__main__":
    main()
