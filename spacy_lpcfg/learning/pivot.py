"""The pivot algorithm: provably correct learning of proper L-PCFGs (Cohen and Collins 2014).

Notation: tau(t) are the values f of an inside tree's pivot features, rho(o) the values g of an outside tree's pivot
features. The rule below a node is an inside pivot feature, and the rule above it an outside pivot feature, as section
6.1 requires for q and pi.

The default goes beyond the paper:

1. A symbol gets no more states than its count supports.
2. Rare features and rules are smoothed (`shrink` and `prior` of `PivotFeatures`).
3. The emissions of words are smoothed further (`lexical.py`), and in EM all parameters are smoothed (`smoothing`).
4. The convex EM stops after 5 iterations, short of its optimum, which fits the noise of a finite treebank (`em`).
5. Outside features get the states of inside features by the convex alternative of the remark below theorem 2, not by
   step 3 of figure 2 (`matching`).

The variant "2014" (also called "paper") does none of this.

Differs from the paper in all variants:

1. A symbol gets no more states than its pivot features span.
2. There are fewer pivot features than CCA features (which are those of Cohen et al. 2013). The convex EM has an
   observation for each choice of one outside and two inside pivot features: 18 at a rule by default, 216 with all.
3. The CCA is done on features scaled by sqrt(n / (count + kappa)): whitening without covariances (section 3.1 of Cohen
   et al. 2013).
4. The convex EM of the variant "2014" ends after 1,000 iterations, or where the log-likelihood of an observation grows
   by less than 1e-6.
5. If EM smooths nothing, 0.001 occurrences of each root, rule and word, with independent states, are added to the
   start: at the optimum of a finite treebank a tree may have probability 0.
6. Rare words are emitted by their signatures, as the paper does not say what emits unknown words.
7. A Grammar stores tensors as sparse approximations, unless `rules.exact_tensors`, and spreads 1e-4 of the root
   probability over all constituents by frequency.
8. A parser takes raw words and decodes by minimum Bayes risk, where the paper's parser takes the tags of a tagger and
   decodes by `decoding="max-rule"`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.checks import SEED, at_least, make_tuples, one_of, whole
from spacy_lpcfg.learning.em import EMFit, EMLearner
from spacy_lpcfg.learning.latent.state_numbers import check_states, log_fewer_states, max_states
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED, Split, StateSmoothing
from spacy_lpcfg.learning.lexicon.lexical import PLAIN_LEXICON, Emissions
from spacy_lpcfg.learning.moments.convex_em import ConvexEM, rule_weights
from spacy_lpcfg.learning.moments.estimation import group_means, groups_of
from spacy_lpcfg.learning.moments.pivot_states import Side, States, symbol_states
from spacy_lpcfg.learning.moments.projections import Features, scaled
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, build_grammar
from spacy_lpcfg.learning.treebank.features import (
    INSIDE,
    OUTSIDE,
    FeatureTable,
    NodeContext,
    feature_table,
    mix,
)
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.learning.treebank.skeletons import Skeletons
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import Variants

MATCHINGS = ("transition", "direct")
TO_CONVERGENCE = ConvexEM(max_iterations=1_000, tolerance=1e-6)


@dataclass(frozen=True)
class PivotFeatures:
    """Settings of the pivot features, and of the estimation of states and rules from them.

    more_inside, more_outside (sequence of str): Pivot features from `features.INSIDE` and `features.OUTSIDE`, in
        addition to the rules below and above a node (section 6.2); a leaf has only its rule a -> x inside.
    matching (str): How outside features get the states of inside features: "transition" by step 3 of figure 2, "direct"
        by the convex alternative of the remark below theorem 2.
    shrink (float): Pseudo-tokens of the overall mean in the representation of each pivot feature.
    precision (float): Tolerance of the simplex regression, as a share of the anchors' largest squared distance.
    prior (float): Pseudo-occurrences of each rule, in which its three states are independent.
    em (ConvexEM): When to stop the convex EM; on a finite treebank early, as the exact optimum fits its noise.
    RAISES (ValueError): If a setting is out of range.
    """

    more_inside: Sequence[str] = ("rule+left_rule", "rule+right_rule")
    more_outside: Sequence[str] = ("two_above",)
    matching: str = "direct"
    shrink: float = 5.0
    precision: float = 1e-4
    prior: float = 1.0
    em: ConvexEM = ConvexEM()

    def __post_init__(self) -> None:
        make_tuples(self, "more_inside", "more_outside")
        at_least(0)(shrink=self.shrink, prior=self.prior, precision=self.precision)
        one_of(*MATCHINGS)(matching=self.matching)


@dataclass(frozen=True)
class Pivot(EMLearner, TreebankSettings, Variants):
    """Learner of a proper L-PCFG by the pivot algorithm, followed by iterations of EM.

    It has the settings of `TreebankSettings` too.

    n_states (int): The maximum number of latent states of a symbol (m).
    n_iterations (int): Iterations of EM after the pivot algorithm (section 6.3), 0 for none; the maximum with held-out
        trees.
    seed (int): Seed of the randomised singular value decompositions.
    smoothing (StateSmoothing): Smoothing of the states of a symbol towards each other, in EM.
    features (Features): The features of the CCA, and their scaling.
    pivots (PivotFeatures): The pivot features, and the estimation of states and rules from them.
    tokens_per_state (float): A symbol seen n times gets at most n / tokens_per_state states; 0 for no limit.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    n_iterations: int = 2
    seed: int = 0
    smoothing: StateSmoothing = StateSmoothing(rare_words=3.0)
    features: Features = Features()
    pivots: PivotFeatures = PivotFeatures()
    tokens_per_state: float = 40.0

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "2014": {
                "tokens_per_state": 0.0,
                "pivots": PivotFeatures(matching="transition", shrink=0.0, prior=0.0, em=TO_CONVERGENCE),
                "smoothing": UNSMOOTHED,
                "lexical": PLAIN_LEXICON,
            }
        }
    )

    def __post_init__(self) -> None:
        check_states(self.n_states, self.tokens_per_state)
        SEED(seed=self.seed)
        whole(0)(n_iterations=self.n_iterations)

    def start(self, trees: Iterable[Tree] | IndexedTreebank) -> EMFit:
        """Estimate the parameters with the pivot algorithm, and return an `EMFit` that starts from them (section 6.3).

        No EM iteration is done yet.

        trees (Iterable[Tree] or IndexedTreebank): As for `fit`.
        """
        treebank = IndexedTreebank.read(trees, self)
        return self.start_at(treebank, self.parameters(treebank))

    def start_at(self, treebank: IndexedTreebank, parameters: Parameters) -> EMFit:
        """Start EM from given parameters: return an `EMFit` that has done no iteration yet.

        treebank (IndexedTreebank): The treebank that EM learns from.
        parameters (Parameters): Probabilities, such as `parameters` estimates.
        """
        split = Split(treebank, parameters.n_states)
        start = split.expect_parameters(parameters)
        if not self.smoothing.ensures_trees:
            start = split.floored(start)
        make_grammar = partial(build_grammar, treebank, parameters)
        return EMFit(split, start, self.smoothing, self.n_jobs, start_grammar=make_grammar)

    def parameters(self, treebank: IndexedTreebank) -> Parameters:
        """Estimate the parameters t, q and pi, all of them probabilities, with the pivot algorithm.

        treebank (IndexedTreebank): The treebank.
        RAISES (ValueError): If features are unknown, or pivot features are numeric.
        """
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):  # threads cost more than they save on small matrices
            states = self._states(treebank)
            tensors = self._tensors(treebank, states)
        return Parameters(
            n_states=states.n_states,
            root_vectors=_root_vectors(treebank, states),
            tensors=tensors,
            emissions=_emissions(treebank, states),
            means=states.pi,
            is_proper=True,
        )

    def _states(self, treebank: IndexedTreebank) -> States:
        """Find the latent states of every symbol from its pivot features (step 1 of figure 1)."""
        nodes = treebank.nodes
        parts = ((part.nodes, part.terminal) for part in treebank.parts())
        tables = zip(*in_order(self._features, parts, n_jobs=self.n_jobs), strict=True)
        inner, leaf, outside, tau, rho = map(FeatureTable.join, tables)
        groups = groups_of(nodes.symbol, len(nodes.symbols))
        is_leaf = np.arange(len(groups)) < len(nodes.preterminals)
        solve = partial(
            symbol_states,
            seed=self.seed,
            matching=self.pivots.matching,
            shrink=self.pivots.shrink,
            precision=self.pivots.precision,
            em=self.pivots.em,
        )
        most = max_states(treebank.counts.symbols, self.n_states, self.tokens_per_state)
        calls = (
            (
                scaled((leaf if is_leaf[symbol] else inner).rows(group), self.features.kappa),
                scaled(outside.rows(group), self.features.kappa),
                tau.keys[group, : 1 if is_leaf[symbol] else None],
                rho.keys[group],
                m,
            )
            for symbol, (group, m) in enumerate(zip(groups, most.tolist(), strict=True))
        )
        states_of_symbols = list(in_order(solve, calls, n_jobs=self.n_jobs))
        row = np.empty(nodes.n_nodes, dtype=np.int64)
        for group in groups:
            row[group] = np.arange(len(group))
        states = States(states_of_symbols, row)
        log_fewer_states(treebank, states.n_states, self.n_states, self.tokens_per_state)
        return states

    def _features(self, nodes: Skeletons, terminal: np.ndarray) -> list[FeatureTable]:
        """Return five feature tables: CCA features of inner nodes, of leaves, and outside features; then tau and rho.

        RAISES (ValueError): If features are unknown, or pivot features are numeric.
        """
        context = NodeContext(nodes, terminal)
        tau, rho = ("rule", *self.pivots.more_inside), ("rule_above", *self.pivots.more_outside)
        features = self.features
        templates_of = (
            (INSIDE, features.inside),
            (INSIDE, features.leaf),
            (OUTSIDE, features.outside),
            (INSIDE, tau),
            (OUTSIDE, rho),
        )
        tables = [feature_table(context, templates, names) for templates, names in templates_of]
        for (_, names), table in zip(templates_of[3:], tables[3:], strict=True):
            if table.values.shape[1]:
                raise ValueError(
                    f"Expected pivot features that are not numeric, got {list(names)}: leave out names with n_."
                )
        return tables

    def _tensors(self, treebank: IndexedTreebank, states: States) -> np.ndarray:
        """Estimate t(a -> b c, h2, h3 | a, h1) of all rules, concatenated (steps 2 and 3 of figure 1)."""
        nodes, counts = treebank.nodes, treebank.counts
        calls = (
            (
                states.outside(a, nodes.inner[at]),
                states.inside(b, nodes.left[nodes.inner[at]]),
                states.inside(c, nodes.right[nodes.inner[at]]),
                self.pivots.prior,
                self.pivots.em,
            )
            for at, (a, b, c) in zip(
                groups_of(counts.rule_of[nodes.inner], len(counts.rules)), counts.rules, strict=False
            )
        )
        joints = list(in_order(_rule_weights, calls, n_jobs=self.n_jobs))
        return _normalized(joints, counts.rules, counts.rule_weights, states.n_states)


def _rule_weights(outside: Side, left: Side, right: Side, prior: float, em: ConvexEM) -> np.ndarray:
    """Estimate t(h1, h2, h3 | a -> b c) of one rule by EM, started at the product of mean posteriors (step 2).

    outside, left, right (Side): Outside features of the parent, and inside features of the children, at the rule's n
        occurrences.
    prior (float), em (ConvexEM): See `PivotFeatures`.
    """
    sides = outside, left, right
    i, j, k = (side.posteriors[side.columns].mean(axis=(0, 1)) for side in sides)
    start = i[:, None, None] * j[:, None] * k
    if start.size == 1:
        return start
    triples = np.concatenate([np.stack(columns, axis=1) for columns in product(*(side.columns.T for side in sides))])
    _, first, counts = np.unique(mix(*triples.T), return_index=True, return_counts=True)
    n = len(outside.columns)
    ratios = [side.ratios for side in sides]
    return rule_weights(counts * (n / len(triples)), triples[first], ratios, start, prior=prior, settings=em)


def _normalized(joints: list[np.ndarray], rules: np.ndarray, weights: np.ndarray, n_states: np.ndarray) -> np.ndarray:
    """Convert t(h1, h2, h3 | a -> b c) to t(a -> b c, h2, h3 | a, h1), concatenated over rules (step 3 of figure 1).

    A state that has no weight in any rule gets the mean of its symbol's states.

    joints (list of float64 (m_a, m_b, m_c)): t(h1, h2, h3 | a -> b c) of each rule.
    rules (int32, (n_rules, 3)): The symbols of each rule.
    weights (float64, (n_rules,)): t(a -> b c | a).
    n_states (int32, (n_symbols,)): States of each symbol.
    """
    totals = [np.zeros(m) for m in n_states]
    for (a, _, _), weight, joint in zip(rules, weights, joints, strict=True):
        totals[a] += weight * joint.sum(axis=(1, 2))
    tensors = [np.empty(0)]
    for (a, _, _), weight, joint in zip(rules, weights, joints, strict=True):
        scale = np.where(totals[a] > 0, totals[a], 1.0)[:, None, None]
        is_used = (totals[a] > 0)[:, None, None]
        tensors.append((weight * np.where(is_used, joint / scale, joint.sum(axis=0))).ravel())
    return np.concatenate(tensors)


def _root_vectors(treebank: IndexedTreebank, states: States) -> np.ndarray:
    """Return p(h | a at the root), float64 (n_symbols, m); zeros for symbols that no tree has at its root.

    It is p(h | a, g), where g is the outside feature that all root nodes have (section 6.1).
    """
    nodes, vectors = treebank.nodes, np.zeros_like(states.pi)
    for symbol in np.unique(nodes.symbol[nodes.roots]):
        root = nodes.roots[nodes.symbol[nodes.roots] == symbol][:1]
        outside = states.outside(symbol, root)
        vectors[symbol, : len(outside.pi)] = outside.posteriors[outside.columns[0, 0]]
    return vectors


def _emissions(treebank: IndexedTreebank, states: States) -> Emissions:
    """Return the emissions q(a -> x | a, h) = r(f | h, a), where f is the feature a -> x (section 6.1).

    `Emissions.vectors` has them as ratios to q(a -> x | a).
    """
    nodes, events = treebank.nodes, treebank.events
    ratios = np.zeros((len(nodes.leaves), states.n_states.max()))
    for symbol in range(len(nodes.preterminals)):
        at = nodes.symbol[nodes.leaves] == symbol
        inside = states.inside(symbol, nodes.leaves[at])
        ratios[at, : states.n_states[symbol]] = inside.ratios[inside.columns[:, 0]]
    vectors, (symbols, terminals) = events.means(ratios), events.pairs.T
    sums = group_means(vectors, symbols, len(nodes.preterminals), events.counts)  # 1 but for signatures
    is_state = np.arange(ratios.shape[1]) < states.n_states[: len(sums), None]
    vectors /= np.where(is_state, sums, 1.0)[symbols]
    return Emissions(symbols, terminals, events.counts, vectors, is_state.astype(np.float64))
