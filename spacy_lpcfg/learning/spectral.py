"""Spectral learning of L-PCFGs (Cohen et al. 2012; Cohen et al. 2013).

By default (1) a symbol gets no more states than its count supports, and (2) the emissions of words are smoothed further
(`lexical.py`). The variant "2013" (also called "paper") does neither. The variant "2012" has no smoothing and no
scaling either, and its only features are the rules below and above a node, the examples of section 6.1 of that paper.

Differs from the papers in all variants: (1) a symbol gets no more states than Omega has singular values above 1e-4 of
the largest; (2) rare words are emitted by their signatures, as the papers do not say what emits unknown words; (3) a
Grammar stores tensors as factored approximations, unless `rules.exact_tensors`, and spreads 1e-4 of the root
probability over all constituents by frequency; (4) the second paper's C, nu and counts have the values that our
development trees chose, unless `tune` chooses others; (5) the decompositions of large Omegas are randomised; (6) a
parser takes raw words and decodes by minimum Bayes risk, where the second paper's parser takes the tags of a tagger and
decodes by `decoding="max-rule"`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import add
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.checks import SEED
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep, SingularValues
from spacy_lpcfg.learning.latent.state_numbers import check_states, log_fewer_states, max_states
from spacy_lpcfg.learning.lexicon.lexical import PLAIN_LEXICON, Emissions
from spacy_lpcfg.learning.moments.estimation import ProjectionSums, group_sums, rule_moments
from spacy_lpcfg.learning.moments.projections import Bases, Features, project_bases
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, Part, build_grammar
from spacy_lpcfg.learning.treebank.cooccurrence import pairwise_sum
from spacy_lpcfg.learning.treebank.features import (
    SIMPLE_INSIDE,
    SIMPLE_OUTSIDE,
)
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.learning.tuning import NO_SMOOTHING, Smoothing, tune
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import Variants


@dataclass(frozen=True)
class Spectral(TreebankSettings, Variants):
    """Learner of an L-PCFG by the spectral method; its parameters may be negative, so the grammar is not proper.

    It has the settings of `TreebankSettings` too.

    n_states (int): The maximum number of latent states of a symbol (m).
    seed (int): Seed of the randomised singular value decompositions.
    smoothing (Smoothing): Smoothing of the moments; with held-out trees the first one that is tried.
    features (Features): The features that are projected, and their scaling.
    tokens_per_state (float): A symbol seen n times gets at most n / tokens_per_state states; 0 for no limit.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    seed: int = 0
    smoothing: Smoothing = Smoothing()
    features: Features = Features()
    tokens_per_state: float = 40.0

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "2012": {
                "tokens_per_state": 0.0,
                "lexical": PLAIN_LEXICON,
                "smoothing": NO_SMOOTHING,
                "features": Features(SIMPLE_INSIDE, SIMPLE_OUTSIDE, kappa=None),
            },
            "2013": {"tokens_per_state": 0.0, "lexical": PLAIN_LEXICON},
        }
    )

    def __post_init__(self) -> None:
        check_states(self.n_states, self.tokens_per_state)
        SEED(seed=self.seed)

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn a grammar from trees.

        trees (Iterable[Tree] or IndexedTreebank): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Trees on which the smoothing is chosen, see `tune`; ignored if `smoothing` is
            `NO_SMOOTHING`. None keeps the smoothing of the settings.
        on_step (callable or None): Called with the `SingularValues`, and with a `SmoothingTrial` for each smoothing
            tried.
        RAISES (ValueError): If there are no trees, `held_out` is given but has no trees, or features are unknown.
        """
        estimate = self.estimate(trees)
        if on_step is not None:
            on_step(estimate.singular_values)
        if held_out is None or self.smoothing == NO_SMOOTHING:
            return estimate.grammar(self.smoothing)
        return tune(estimate.grammar, held_out, start=self.smoothing, on_step=on_step)[1]

    def estimate(self, trees: Iterable[Tree] | IndexedTreebank) -> "SpectralEstimate":
        """Compute the moments of trees, from which `SpectralEstimate.grammar` builds grammars; `trees` as in `fit`."""
        treebank = IndexedTreebank.read(trees, self)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):  # threads cost more than they save on small matrices
            most = max_states(treebank.counts.symbols, self.n_states, self.tokens_per_state)
            bases = project_bases(treebank, self.features, most, self.seed, self.n_jobs)
            log_fewer_states(treebank, bases.n_states, self.n_states, self.tokens_per_state)
            calls = ((part, bases) for part in treebank.parts())
            sums = pairwise_sum(in_order(_part_sums, calls, n_jobs=self.n_jobs), add)
        return SpectralEstimate(treebank, bases, sums)


def _part_sums(part: Part, bases: Bases) -> ProjectionSums:
    nodes, n_symbols = part.nodes, len(bases.n_states)
    y, z = bases.project(nodes, part.terminal)
    return ProjectionSums(
        inside=group_sums(y, nodes.symbol, n_symbols),
        outside=group_sums(z, nodes.symbol, n_symbols),
        roots=group_sums(y[nodes.roots], nodes.symbol[nodes.roots], n_symbols),
        words=part.forms @ z[nodes.leaves],
        rules=rule_moments(nodes, part.rule, y, z, bases.n_states),
    )


@dataclass(frozen=True, eq=False)
class SpectralEstimate:
    """Moments of a treebank under projections of its inside and outside trees.

    treebank (IndexedTreebank): The treebank.
    bases (Bases): The bases of the projections.
    sums (ProjectionSums): Sums of the projections, and moments of the rules.
    """

    treebank: IndexedTreebank
    bases: Bases
    sums: ProjectionSums

    @property
    def singular_values(self) -> SingularValues:
        """The positive singular values of each symbol's inside-outside matrix, rounded to six decimals."""
        rows = [[round(value, 6) for value in row[row > 0].tolist()] for row in self.bases.singular_values]
        return SingularValues(dict(zip(self.treebank.nodes.symbols, rows, strict=True)))

    def grammar(self, smoothing: Smoothing) -> Grammar:
        """Build the grammar whose parameters are the moments, smoothed by `smoothing`."""
        return build_grammar(self.treebank, self.parameters(smoothing))

    def parameters(self, smoothing: Smoothing) -> Parameters:
        """Return the smoothed moments as the parameters of a grammar (step 2 of spectral learning)."""
        counts, sums, m = self.treebank.counts, self.sums, self.bases.n_states
        inside_means, outside_means = (side / counts.symbols[:, None] for side in (sums.inside, sums.outside))
        tensors = [np.empty(0)]
        for rule, (weight, (a, b, c)) in enumerate(zip(counts.rule_weights, counts.rules, strict=True)):
            means = outside_means[a, : m[a]], inside_means[b, : m[b]], inside_means[c, : m[c]]
            tensors.append(weight * sums.rules[rule].smoothed(*means, smoothing.c).ravel())
        return Parameters(
            n_states=m,
            root_vectors=sums.roots / np.maximum(counts.roots, 1.0)[:, None],
            tensors=np.concatenate(tensors),
            emissions=self._emissions(outside_means, smoothing),
            means=inside_means,
            is_proper=False,
        )

    def _emissions(self, outside_means: np.ndarray, smoothing: Smoothing) -> Emissions:
        """Return the emissions E[Z | a -> x], for rare pairs smoothed towards E[Z | a].

        outside_means (float64, (n_symbols, m)): E[Z | a] of each symbol.
        """
        nodes, events = self.treebank.nodes, self.treebank.events
        symbols, terminals = events.pairs.T
        means = self.sums.words / events.counts[:, None]
        rare = events.counts <= smoothing.max_lexical
        means[rare] = smoothing.nu * means[rare] + (1 - smoothing.nu) * outside_means[symbols[rare]]
        return Emissions(symbols, terminals, events.counts, means, outside_means[: len(nodes.preterminals)])
