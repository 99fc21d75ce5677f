"""Minimum Bayes risk decoding within a grammar's forest, by posteriors from any source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.chart._forest import Forest, LabelTable, best_tree, expected_scores
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.parsing.result import Parse, Posteriors
from spacy_lpcfg.trees.tree import Span


def forest_mbr(
    forest: Forest,
    grammar: Grammar,
    table: LabelTable,
    words: Sequence[str],
    posteriors: Posteriors,
    *,
    bracket_cost: float,
) -> Parse:
    """Return the tree of a forest with the least expected loss by given posteriors.

    Without a grammar, brackets that are individually likely may form a tree with rules that no treebank has.

    forest (Forest): The trees to choose from, at least one.
    grammar (Grammar): The grammar of the forest.
    table (LabelTable): Labels and tags of the grammar's symbols, from `label_table`.
    words (sequence of str): The words in treebank spelling.
    posteriors (Posteriors): Posteriors of brackets and tags; others are 0.
    bracket_cost (float): Cost that is subtracted from the posterior of each bracket, as in `ChartSettings`.
    RETURNS (Parse): The tree with the posteriors as scores; the log-probability is nan.
    """
    ids = {label: i for i, label in enumerate(grammar.labels)}
    known = [(start, end, ids[label], p) for (start, end, label), p in posteriors.brackets.items() if label in ids]
    brackets = np.array([bracket[:3] for bracket in known], dtype=np.int32).reshape(-1, 3)
    p = np.array([bracket[3] for bracket in known], dtype=np.float64)
    gains = expected_scores(forest, table, brackets, p, _tag_table(grammar, posteriors), bracket_cost)
    nodes = [_brackets_and_tag(grammar, item) for item in forest.item_table()[best_tree(forest, *gains)].tolist()]
    spans = [span for brackets_of_node, _ in nodes for span in brackets_of_node]
    tags = [tag for _, tag in nodes if tag]
    return posteriors.parse_of(words, tags, spans)


def _tag_table(grammar: Grammar, posteriors: Posteriors) -> np.ndarray:
    """Return the posteriors of the words' tags, float64 (n_words, n_tags)."""
    ids = {tag: i for i, tag in enumerate(grammar.tags)}
    table = np.zeros((len(posteriors.tags), len(ids)))
    for of_word, row in zip(posteriors.tags, table, strict=True):
        for tag, p in of_word.items():
            if tag in ids:
                row[ids[tag]] = p
    return table


def _brackets_and_tag(grammar: Grammar, item: list[int]) -> tuple[list[Span], str]:
    """Return the brackets of an item, outer ones first, and its tag if it is a leaf, else ""."""
    start, end, symbol, row = item
    labels = grammar.chains[symbol]
    spans = [(start, end, label) for label in (labels[:-1] if row >= 0 else labels)]
    return spans, labels[-1] if row >= 0 else ""


def label_table(grammar: Grammar) -> LabelTable:
    """Return the labels and tags of a grammar's symbols."""
    ids = {label: i for i, label in enumerate(grammar.labels)}
    chains = [chain[:-1] if a < grammar.n_preterminals else chain for a, chain in enumerate(grammar.chains)]
    tag_of = np.full(grammar.n_symbols, NO_TAG, dtype=np.int32)
    tag_of[: grammar.n_preterminals] = grammar.tag_of
    return LabelTable(
        offsets(np.array([len(chain) for chain in chains])).astype(np.int32),
        np.array([ids[label] for chain in chains for label in chain], dtype=np.int32),
        np.array([label in chain[:i] for chain in chains for i, label in enumerate(chain)], dtype=np.int8),
        tag_of,
        grammar.labels,
        grammar.tags,
    )
