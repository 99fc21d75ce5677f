"""PCFGs with Markovisation and without states: section 4.3 of Cohen et al. (2013) again, and its PCFG of section 4.1.

    python -m benchmarks.papers.markov TREEBANK_DIR... [--part PART] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev). Measures F1 on PART (EVALB, COLLINS.prm, all lengths), from
raw words and with the treebank's tags, of PCFGs whose categories remember so many ancestors (vertical order 1 is none
but the category itself, 2 its parent; Klein and Manning 2003), and whose binarised ones so many siblings (horizontal
order). Tags have no ancestors. The paper has 68.62 for a PCFG, and 82.59 for vertical order 2 and horizontal order 1,
on section 22, with the tags of a tagger.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.parsing.decodings import MaxRule
from spacy_lpcfg.trees import Tree, clean, read_trees

ABOVE = "^"
ORDERS = ((1, 0), (1, 1), (2, 0), (2, 1))  # vertical, horizontal
PAPER = {(1, 0): 68.62, (2, 1): 82.59}


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
        train = [tree for tree in map(clean, read_trees(folder / "train.mrg")) if tree is not None]
        golds = measure.read_gold(folder / f"{args.part}.mrg")
        for vertical, horizontal in ORDERS:
            measure.progress(f"{folder.name}: {vertical}, {horizontal}")
            rows.append(row(folder.name, vertical, horizontal, train, golds))
    measure.report({f"PCFGs with Markovisation, {args.part}": rows}, args.json)


def row(name: str, vertical: int, horizontal: int, train: list[Tree], golds: list[Tree]) -> measure.Row:
    """F1 of a PCFG with both kinds of words, its size, and what parsing costs."""
    trees = train if vertical == 1 else list(map(with_parents, train))
    grammar = TreebankPCFG(rules=RuleSettings(markov=horizontal)).fit(trees)
    parser = Parser(grammar, decoding=MaxRule())  # as the paper decodes
    by_tags = {tags: measure.parse_all(parser, golds, tags) for tags in ("model", "given")}
    f1 = {
        tags: evaluate(golds, [without_parents(parse.tree) for parse in parses]).scores()["evalb_f"]
        for tags, (parses, _) in by_tags.items()
    }
    return {
        "treebank": name,
        "vertical": vertical,
        "horizontal": horizontal,
        "rules": grammar.n_rules,
        "F1": f1["model"],
        "with given tags": f1["given"],
        "paper": PAPER.get((vertical, horizontal)),
        "CPU s": by_tags["model"][1],
    }


if __name__ == "__main__":
    main()
