"""Posteriors of another parser, by its k best trees. Not a benchmark.

The command is run without a shell. It parses the sentences of {words}, one a line, words between spaces, and writes to
{output} the k best trees of each, one a line after the natural logarithm of P(tree | words) and a tab, the best first,
and then an empty line. For example:

    java -jar BerkeleyParser-1.7.jar -gr MODEL -kbest 50 -confidence -inputFile {words} -outputFile {output}

The posterior of a bracket or a tag is the share of the trees that have it, each weighted by its probability. This is an
approximation: what all other trees have is left out, so that posteriors are too close to 0 and 1.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks import peers
from spacy_lpcfg.parsing.distribution import MAX_N_BEST, ListedDistribution
from spacy_lpcfg.parsing.result import Parse, Posteriors
from spacy_lpcfg.trees import Tree, clean, parse_trees

Weighted = tuple[float, Tree]
"""The logarithm of a tree's probability, and the tree."""


def parses_by(command: str, golds: Sequence[Tree]) -> list[Parse]:
    """Parse the words of gold trees; a sentence that the parser has no tree for has no brackets."""
    with tempfile.TemporaryDirectory() as folder:
        words, output = Path(folder, "words"), Path(folder, "output")
        words.write_text("".join(" ".join(gold.words) + "\n" for gold in golds), encoding="utf-8")
        peers.run(command, words=words, output=output)
        lists = k_best_lists(output.read_text(encoding="utf-8").splitlines())
    return [parse_of(gold, trees) for gold, trees in zip(golds, lists, strict=True)]


def k_best_lists(lines: Iterable[str]) -> list[list[Weighted]]:
    """Return the trees of each sentence; none where the parser failed."""
    blocks = [list(block) for has_text, block in groupby(lines, bool) if has_text]
    return [[pair for line in block if (pair := weighted_tree(line)) is not None] for block in blocks]


def weighted_tree(line: str) -> Weighted | None:
    """Return the tree of a line with its weight, None if it is empty or impossible."""
    number, _, text = line.partition("\t")
    tree = next((clean(tree) for tree in parse_trees(text)), None) if math.isfinite(float(number)) else None
    return None if tree is None else (float(number), tree)


def parse_of(gold: Tree, trees: Sequence[Weighted]) -> Parse:
    """Return the first tree with the posteriors of its brackets and tags; its log-probability is ln P(tree | words)."""
    if not trees:
        return Posteriors({}, [{} for _ in gold.words]).parse_of(gold.words, [""] * len(gold.words), [])
    analyses = ListedDistribution((tree, log_p) for log_p, tree in trees).n_best(MAX_N_BEST)
    shares = [analysis.probability for analysis in analyses]
    of_trees = [
        Posteriors(dict.fromkeys(tree.spans(), 1.0), [{tag: 1.0} for tag in tree.tags]) for tree, _, _ in analyses
    ]
    log_p, best = trees[0]
    return Posteriors.mean(of_trees, shares).parse_of(gold.words, best.tags, best.spans(), log_probability=log_p)
