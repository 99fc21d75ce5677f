"""Parsing a sentence: coarse forest, latent marginals, the tree they choose, and what to do when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spacy_lpcfg.chart._coarse import CoarseGrammar, build_forest
from spacy_lpcfg.chart._decode import Brackets, LabelTable, best_tree
from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart.context import ContextModel
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.tensors import offsets
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Settings:
    threshold: float = 5e-5
    edge_threshold: float = 0.0
    beam: float = 1e-7
    tag_threshold: float = 1e-4
    absolute: bool = True


@dataclass(frozen=True, eq=False)
class Parse:
    words: Sequence[str]
    tags: list[str]
    spans: list[tuple[int, int, str]]
    span_scores: np.ndarray
    tag_scores: np.ndarray
    log_probability: float
    status: str

    @cached_property
    def tree(self) -> Tree:
        return Tree.from_spans(self.words, self.tags, self.spans)


class Parser:
    def __init__(self, grammar: Grammar, settings: Settings = Settings()):
        self.grammar = grammar
        self.settings = settings
        self.context = ContextModel(grammar)
        self.coarse = CoarseGrammar(grammar, grammar.symbol_weights)
        self.fine = FineGrammar(grammar)
        labels = {label: i for i, label in enumerate(grammar.labels)}
        chains = [chain[:-1] if a < grammar.n_preterminals else chain for a, chain in enumerate(grammar.chains)]
        tag_of = np.full(grammar.n_symbols, -1, dtype=np.int32)
        tag_of[: grammar.n_preterminals] = grammar.tag_of
        self.table = LabelTable(
            offsets(np.array([len(c) for c in chains])).astype(np.int32),
            np.array([labels[l] for c in chains for l in c], dtype=np.int32), tag_of, len(labels))

    def forest(self, words, tags=None, tag_weight=0.0):
        n = len(words)
        s = self.settings
        terminals = self.grammar.lexicon.terminals_of(words)
        given = np.full(n, -1, dtype=np.int32) if tags is None else self.grammar.lexicon.tags_of(tags)
        c = self.context.context(terminals, given, tag_weight, s.tag_threshold)
        return build_forest(self.coarse, terminals, given, *c, beam=s.beam,
                              threshold=s.threshold, edge_threshold=s.edge_threshold)

    def parse(self, words, tags=None, tag_weight=0.0):
        s = self.settings
        forest = self.forest(words, tags, tag_weight)
        if not forest.n_items:
            return None
        marginals = Marginals(self.fine, forest)
        edges, items = marginals.edges(), marginals.items()
        if s.absolute:
            edges, items = np.abs(edges), np.abs(items)
        nodes = best_tree(forest, edges, items)
        b = Brackets(forest, self.table, nodes, items)
        names = self.grammar.labels
        return Parse(words, [self.grammar.tags[t] for t in b.tag_ids()], [(i, j, names[l]) for i, j, l in b.spans()],
                     b.span_scores(), b.tag_posteriors(), marginals.log_probability, "parsed")
