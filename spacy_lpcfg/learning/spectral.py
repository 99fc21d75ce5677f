"""Spectral learning of L-PCFGs (Cohen et al. 2012; Cohen et al. 2013).

Differs from the papers: (1) a symbol gets no more states than its count supports; (2) features of a symbol are scaled
by their counts within the symbol; (3) the emissions of words are smoothed further (`lexical.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.learning.counts import Counts, boundary_tags, count, smoothed_roots, tag_bigrams
from spacy_lpcfg.learning.features import (
    INSIDE, OUTSIDE, PAPER_INSIDE, PAPER_OUTSIDE, Context, FeatureTable, feature_table,
)
from spacy_lpcfg.learning.lexical import Emissions, LexicalSettings, Vocabulary, build_lexicon, count_words
from spacy_lpcfg.learning.moments import Projections, RuleMoments, group_means, rule_moments
from spacy_lpcfg.learning.projections import project, scaled
from spacy_lpcfg.learning.skeletons import Skeletons, skeletons
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.trees.tree import Tree

ROOT_SHARE = 1e-4


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of the moments (section 3.2).

    c (float): C of the binary rules' lambda.
    nu (float): weight of a lexical rule's own mean; the rest goes to its symbol's.
    most_lexical (int): lexical rules seen more often than this are not smoothed.
    """

    c: float = 20.0
    nu: float = 0.5
    most_lexical: int = 5


@dataclass(frozen=True)
class Spectral:
    n_states: int = 16
    seed: int = 0
    n_jobs: int = 1
    smoothing: Smoothing = Smoothing()
    lexical: LexicalSettings = LexicalSettings()
    kappa: float | None = 5.0
    tokens_per_state: float = 10.0
    inside: tuple[str, ...] = PAPER_INSIDE
    outside: tuple[str, ...] = PAPER_OUTSIDE
    leaf: tuple[str, ...] = ("rule",)
    lang: str = "en"
    markov: int = 0

    def fit(self, trees: Iterable[Tree]) -> Grammar:
        nodes = skeletons(trees, lang=self.lang, markov=self.markov)
        return self.fit_skeletons(nodes)

    def fit_skeletons(self, nodes):
        counts = count(nodes)
        vocabulary = Vocabulary(count_words(nodes), self.lexical.rare)
        terminal = vocabulary.of_leaves(nodes)
        projections = self.projections(nodes, terminal)
        moments = rule_moments(nodes, counts, projections)
        return assemble(nodes, counts, vocabulary, terminal, projections, moments, self.smoothing, self.lexical)

    def projections(self, nodes, terminal):
        context = Context(nodes, terminal)
        inner = feature_table(context, INSIDE, self.inside)
        leaf = feature_table(context, INSIDE, self.leaf)
        outside = feature_table(context, OUTSIDE, self.outside)
        order = np.argsort(nodes.symbol, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(nodes.symbol))[:-1])
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(_project)(
                (leaf if symbol < len(nodes.preterminals) else inner).rows(group), outside.rows(group),
                self.states_for(len(group)), self.kappa, self.seed,
            ) for symbol, group in enumerate(groups)
        )
        y = np.zeros((nodes.n_nodes, self.n_states))
        z = np.zeros((nodes.n_nodes, self.n_states))
        n_states = np.zeros(len(groups), dtype=np.int32)
        for symbol, (group, (ys, zs)) in enumerate(zip(groups, results)):
            n_states[symbol] = ys.shape[1]
            y[group, :ys.shape[1]] = ys
            z[group, :zs.shape[1]] = zs
        return Projections(y, z, n_states)

    def states_for(self, n):
        return int(min(self.n_states, max(1, n / self.tokens_per_state)))


def _project(inside: FeatureTable, outside: FeatureTable, n_states, kappa, seed):
    return project(scaled(inside, kappa), scaled(outside, kappa), n_states, seed)


def assemble(nodes: Skeletons, counts: Counts, vocabulary, terminal, projections, moments: Sequence[RuleMoments], smoothing: Smoothing, lexical) -> Grammar:
    n_symbols, n_pre = len(nodes.symbols), len(nodes.preterminals)
    m = projections.n_states
    f = group_means(projections.inside, nodes.symbol, n_symbols)
    h = group_means(projections.outside, nodes.symbol, n_symbols)
    tensors = [
        weight * moment.smoothed(h[a, :m[a]], f[b, :m[b]], f[c, :m[c]], smoothing.c).ravel()
        for weight, moment, (a, b, c) in zip(counts.rule_weights, moments, counts.rules)
    ]
    root_weights = smoothed_roots(counts, nodes.symbols, ROOT_SHARE)
    at_root = group_means(projections.inside[nodes.roots], nodes.symbol[nodes.roots], n_symbols)
    roots = (1 - ROOT_SHARE) * (counts.roots / counts.roots.sum())[:, None] * at_root
    roots += (root_weights - (1 - ROOT_SHARE) * counts.roots / counts.roots.sum())[:, None] * f
    leaves, terminals, weights = vocabulary.events(nodes, terminal)
    pairs, of = np.unique(np.stack([nodes.symbol[leaves], terminals], 1), axis=0, return_inverse=True)
    of = of.reshape(-1)
    pair_counts = np.bincount(of, weights=weights)
    means = group_means(projections.outside[leaves], of, len(pairs), weights)
    low = pair_counts <= smoothing.most_lexical
    means[low] = smoothing.nu * means[low] + (1 - smoothing.nu) * h[pairs[low, 0]]
    emissions = Emissions(pairs[:, 0], pairs[:, 1], pair_counts, means, h[:n_pre])
    lexicon = build_lexicon(emissions, vocabulary, nodes.preterminals, m[:n_pre], lexical)
    tag_of = np.array([lexicon.tags.index(split_chain(name)[-1]) for name in nodes.preterminals])
    before, after = boundary_tags(nodes, tag_of, len(lexicon.tags))
    return Grammar(
        symbols=nodes.symbols, n_preterminals=n_pre, n_states=m,
        symbol_weights=counts.symbols / counts.symbols.sum(), root_weights=root_weights,
        root_vectors=np.concatenate([roots[a, :m[a]] for a in range(n_symbols)]).astype(np.float32),
        rules=counts.rules, rule_weights=counts.rule_weights,
        tensors=Tensors.factorize(np.concatenate(tensors), m[counts.rules]),
        lexicon=lexicon, root_label=nodes.root_label, is_proper=False, tag_bigrams=tag_bigrams(nodes, tag_of, len(lexicon.tags)), tags_before=before, tags_after=after,
    )
