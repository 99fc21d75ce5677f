"""Spectral learning of L-PCFGs (Cohen et al. 2012; Cohen et al. 2013).

Differs from the papers: (1) a symbol gets no more states than its count supports; (2) the emissions of words are
smoothed further (`lexical.py`); (3) the tensors of a Grammar are factored to a tolerance (`grammar/tensors.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.assembly import Parameters, Treebank, build_grammar
from spacy_lpcfg.learning.features import PAPER_INSIDE, PAPER_LEAF, PAPER_OUTSIDE
from spacy_lpcfg.learning.lexical import Emissions, LexicalSettings
from spacy_lpcfg.learning.moments import Projections, RuleMoments, group_means, rule_moments
from spacy_lpcfg.learning.projections import Projector
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of the moments (section 3.2 of Cohen et al. 2013).

    c (float): C of the binary rules' lambda = sqrt(n) / (C + sqrt(n)); 0 for no smoothing.
    nu (float): weight of a lexical rule's own mean; the rest goes to its symbol's.
    most_lexical (float): lexical rules seen more often than this are not smoothed.
    """

    c: float = 15.0
    nu: float = 0.25
    most_lexical: float = 20.0


@dataclass(frozen=True)
class Spectral:
    """Spectral learner of an L-PCFG; its parameters may be negative, so the grammar is not proper.

    n_states (int): the most latent states of a symbol (m).
    seed (int): of the randomised singular value decompositions.
    n_jobs (int or None): parallel jobs, as of joblib; None for those of `joblib.parallel_config`, or 1.
    smoothing (Smoothing): of the moments.
    lexical (LexicalSettings): terminals and smoothing of the emissions.
    kappa (float or None): of the features' scaling (section 3.1); None for no scaling.
    tokens_per_state (float): a symbol seen n times gets at most n / tokens_per_state states.
    inside, outside, leaf (tuple[str, ...]): feature templates of `features.INSIDE` for nodes with children, of
        `features.OUTSIDE` for all nodes, and of `features.INSIDE` for leaves.
    lang (str): language of the head rules; markov (int): siblings that an "@" symbol remembers.
    """

    n_states: int = 16
    seed: int = 0
    n_jobs: int | None = None
    smoothing: Smoothing = Smoothing()
    lexical: LexicalSettings = LexicalSettings()
    kappa: float | None = 5.0
    tokens_per_state: float = 40.0
    inside: tuple[str, ...] = PAPER_INSIDE
    outside: tuple[str, ...] = PAPER_OUTSIDE
    leaf: tuple[str, ...] = PAPER_LEAF
    lang: str = "en"
    markov: int = 0

    def fit(self, trees: Iterable[Tree] | Treebank) -> Grammar:
        """Learn from trees.

        trees (Iterable[Tree] or Treebank): read once; raw or normalised.
        RAISES (ValueError): If there are none, or on settings that cannot be.
        """
        return self.estimate(trees).grammar(self.smoothing)

    def estimate(self, trees: Iterable[Tree] | Treebank) -> SpectralEstimate:
        """The moments of trees, of which grammars of any smoothing can be made; arguments as of `fit`."""
        projector = Projector(
            n_states=self.n_states,
            tokens_per_state=self.tokens_per_state,
            kappa=self.kappa,
            seed=self.seed,
            inside=self.inside,
            outside=self.outside,
            leaf=self.leaf,
        )
        treebank = Treebank.read(trees, self)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):  # threads cost more than they save on small matrices
            projections = projector.project(treebank, self.n_jobs)
            moments = rule_moments(treebank.nodes, treebank.counts, projections, self.n_jobs)
        return SpectralEstimate(treebank, projections, moments)


@dataclass(frozen=True, eq=False)
class SpectralEstimate:
    """Moments of a treebank under projections of its inside and outside trees.

    treebank (Treebank): its nodes and counts.
    projections (Projections): Y and Z of every node.
    moments (list[RuleMoments]): of every rule.
    """

    treebank: Treebank
    projections: Projections
    moments: list[RuleMoments]

    def grammar(self, smoothing: Smoothing) -> Grammar:
        """The grammar of the smoothed moments."""
        return build_grammar(self.treebank, self.parameters(smoothing))

    def parameters(self, smoothing: Smoothing) -> Parameters:
        """Step 2: the smoothed moments as parameters."""
        nodes, counts, projections = self.treebank.nodes, self.treebank.counts, self.projections
        n_symbols, m = len(nodes.symbols), projections.n_states
        inside_means = group_means(projections.inside, nodes.symbol, n_symbols)
        outside_means = group_means(projections.outside, nodes.symbol, n_symbols)
        tensors = [np.empty(0)]
        for weight, moments, (a, b, c) in zip(counts.rule_weights, self.moments, counts.rules):
            means = outside_means[a, : m[a]], inside_means[b, : m[b]], inside_means[c, : m[c]]
            tensors.append(weight * moments.smoothed(*means, smoothing.c).ravel())
        return Parameters(
            n_states=m,
            root_vectors=group_means(projections.inside[nodes.roots], nodes.symbol[nodes.roots], n_symbols),
            tensors=np.concatenate(tensors),
            emissions=self._emissions(outside_means, smoothing),
            means=inside_means,
            is_proper=False,
        )

    def _emissions(self, outside_means: np.ndarray, smoothing: Smoothing) -> Emissions:
        """E[Z | a -> x], that of rare pairs smoothed towards E[Z | a]."""
        nodes, events = self.treebank.nodes, self.treebank.events
        symbols, terminals = events.pairs.T
        means = events.means(self.projections.outside[nodes.leaves])
        rare = events.counts <= smoothing.most_lexical
        means[rare] = smoothing.nu * means[rare] + (1 - smoothing.nu) * outside_means[symbols[rare]]
        return Emissions(symbols, terminals, events.counts, means, outside_means[: len(nodes.preterminals)])
