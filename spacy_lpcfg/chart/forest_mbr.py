"""The tree of a grammar that is nearest to what others think of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.chart._decode import best_tree
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.result import Parse, Posteriors
from spacy_lpcfg.trees.tree import Span


def forest_mbr(
    forest: Forest, grammar: Grammar, words: Sequence[str], posteriors: Posteriors, *, bracket_cost: float
) -> Parse:
    """The tree of least expected loss among those of a forest, by posteriors from any source.

    Free of a grammar, brackets that are likely one by one may make a tree with rules that no treebank has.

    forest (Forest): of the trees to choose from; with a tree.
    grammar (Grammar): whose symbols are the forest's.
    words (sequence of str): in the treebank's spelling.
    posteriors (Posteriors): of brackets and tags; what they leave out has none.
    bracket_cost (float): taken from the posterior of each bracket, as in `ChartSettings`.
    RETURNS (Parse): its scores are the posteriors; its log-probability is nan.
    """
    items = forest.item_table().tolist()
    found = [_parts(grammar, item) for item in items]
    p = posteriors.brackets
    gains = np.array([sum([p.get(span, 0.0) - bracket_cost for span in spans]) for spans, _ in found])
    gains += [
        posteriors.tags[item[0]].get(tag, 0.0) if tag else 0.0 for item, (_, tag) in zip(items, found, strict=True)
    ]
    nodes = [found[item] for item in best_tree(forest, gains[forest.edge_table()[:, 0]], gains)]
    spans = [span for own, _ in nodes for span in own]
    tags = [tag for _, tag in nodes if tag]
    return posteriors.parse_of(words, tags, spans)


def _parts(grammar: Grammar, item: list[int]) -> tuple[list[Span], str]:
    """The brackets of an item of a forest, outer ones first, and its tag if it is a leaf, else ""."""
    start, end, symbol, row = item
    labels = grammar.chains[symbol]
    spans = [(start, end, label) for label in (labels[:-1] if row >= 0 else labels)]
    return spans, labels[-1] if row >= 0 else ""
