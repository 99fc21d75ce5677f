"""The theorems of Cohen and Collins (2014) on the pivot algorithm, and the contract of a learner."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracles.enumeration import Model, language, model_of_parameters, tree_weight, weight
from oracles.latent import PLAIN
from scipy.optimize import linear_sum_assignment

from spacy_lpcfg.grammar.tensors import EXACT as EXACT_TENSOR
from spacy_lpcfg.learning import LexicalSettings, Pivot, StateSmoothing
from spacy_lpcfg.learning.em import EMFit
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED, Split
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.pivot import MATCHINGS, PivotFeatures, _normalized
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.settings import RuleSettings, TreebankSettings
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import join, skeletons
from spacy_lpcfg.trees import Tree

EXACT = {"tokens_per_state": 1, "lexical": PLAIN}
CONVERGED = ConvexEM(max_iterations=4_000, tolerance=1e-15)
PIVOTS = PivotFeatures(more_inside=(), more_outside=(), shrink=0.0, prior=0.0, precision=1e-20, em=CONVERGED)


# ------------------------------------------------------------------------ theorem 1 of Cohen and Collins (2014)

STATES = {"S": 1, "A": 2, "B": 2, "D": 2, "E": 2}
SHARES = {"S": 8, "A": 4, "B": 4, "D": 3, "E": 3}  # every probability of a symbol is a multiple of 1 / share
N_TREES = 8 * 4 * 4 * 3**4
# The states that may meet in a rule, None for any. A feature that goes with one state only is its pivot: below A the
# rule "D E" is one of A's first state, above D the same rule is one of D's first state.
RULES: dict[tuple[str, ...], tuple[int | None, ...]] = {
    ("S", "A", "B"): (None, 0, 0),
    ("S", "B", "A"): (None, 1, 1),
    ("S", "A", "A"): (None, None, None),
    ("S", "B", "B"): (None, None, None),
    ("A", "D", "E"): (0, 0, 0),
    ("A", "E", "D"): (1, 1, 1),
    ("A", "D", "D"): (None, None, None),
    ("B", "E", "D"): (0, 1, None),
    ("B", "D", "D"): (1, None, None),
    ("B", "E", "E"): (None, None, None),
    ("D", "a"): (0,),
    ("D", "b"): (1,),
    ("D", "c"): (None,),
    ("E", "b"): (0,),
    ("E", "c"): (1,),
    ("E", "d"): (None,),
}


def pivot_model(seed: int) -> Model:
    """A random L-PCFG of four-word sentences under the pivot assumption, whose probabilities are such multiples."""
    rng = np.random.default_rng(seed)
    model = Model({"S": np.ones(1)}, {}, {})
    for a, *rest in RULES:
        table = model.binary if len(rest) == 2 else model.lexical
        table[(a, *rest)] = np.zeros([STATES[symbol] for symbol in (a, *rest) if symbol in STATES])
    for a, m in STATES.items():
        for h in range(m):
            places = [place for rule in RULES if rule[0] == a for place in _places(rule, h)]
            rules = [rule for rule, _ in places]
            first = [places[rng.choice([i for i, other in enumerate(rules) if other == rule])] for rule in {*rules}]
            first.sort()
            more = [places[i] for i in rng.choice(len(places), SHARES[a] - len(first))]
            for rule, indices in first + more:
                (model.binary if len(rule) == 3 else model.lexical)[rule][indices] += 1 / SHARES[a]
    return model


def _places(rule: tuple[str, ...], h: int) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The parameters of a rule under state h of its left-hand side that the pivots leave free."""
    choices = [
        range(STATES[symbol]) if state is None else (state,) for symbol, state in zip(rule, RULES[rule], strict=False)
    ]
    return [(rule, states) for states in itertools.product(*choices[: len(RULES[rule])]) if states[0] == h]


def treebank_of(trees: dict[Tree, float], counts: np.ndarray) -> IndexedTreebank:
    """So many of each tree; powers of two are joined, so that no tree is read twice."""
    shards = []
    for bit in range(int(counts.max()).bit_length()):
        shards += [skeletons([tree for tree, n in zip(trees, counts, strict=True) if n >> bit & 1])] * 2**bit
    return IndexedTreebank.of(join([shard for shard in shards if shard.n_nodes]), PLAIN)


def permuted(model: Model, truth: Model) -> Model:
    """The model with the states of each symbol in the order of those of the truth that make the same rules."""
    order = {}
    for a in STATES:
        rules = [rule for rule in RULES if rule[0] == a]
        rows = [
            np.array([(one.binary.get(r, one.lexical.get(r))).reshape(STATES[a], -1).sum(axis=1) for r in rules]).T
            for one in (truth, model)
        ]
        order[a] = linear_sum_assignment(np.abs(rows[0][:, None] - rows[1]).sum(axis=2))[1]
    return Model(
        {a: vector[order[a]] for a, vector in model.roots.items() if vector.any()},
        {rule: tensor[np.ix_(*(order[a] for a in rule))] for rule, tensor in model.binary.items()},
        {(a, x): vector[order[a]] for (a, x), vector in model.lexical.items() if not x.startswith("<form")},
    )


def assert_recovered(found: Model, truth: Model, atol: float) -> None:
    for mine, true in zip(vars(permuted(found, truth)).values(), vars(truth).values(), strict=True):
        assert mine.keys() == true.keys()
        for key, expected in true.items():
            np.testing.assert_allclose(mine[key], expected, atol=atol, err_msg=str(key))


@pytest.fixture(scope="module", params=[0, 1])
def exact(request) -> tuple[Model, dict[Tree, float], IndexedTreebank]:
    """A model, its language, and a treebank with exactly its moments."""
    model = pivot_model(request.param)
    trees = language(model, "abcd", (4,))
    counts = np.round(np.array(list(trees.values())) * N_TREES).astype(int)
    assert counts.sum() == N_TREES
    return model, trees, treebank_of(trees, counts)


@pytest.mark.parametrize("matching", MATCHINGS)
def test_theorem_1(exact, matching):
    """t, q and pi up to permutation."""
    model, trees, treebank = exact
    parameters = Pivot(n_states=5, pivots=replace(PIVOTS, matching=matching), **EXACT).parameters(treebank)
    assert dict(zip(treebank.nodes.symbols, parameters.n_states, strict=True)) == STATES
    found = model_of_parameters(treebank, parameters)
    assert_recovered(found, model, 1e-6)
    for tree, p in list(trees.items())[::50]:
        assert weight(found, tree) == pytest.approx(p, abs=1e-8)


@pytest.mark.slow
def test_theorem_1_error_falls_with_the_square_root_of_the_number_of_trees():
    """Sum of the absolute errors of tree probabilities, which pytest -rP prints; docs/papers.md has the figures."""
    trees = language(pivot_model(0), "abcd", (4,))
    p = np.array(list(trees.values()))
    sizes, errors = (500, 2_000, 8_000), []
    pivot = Pivot(n_states=2, pivots=replace(PIVOTS, em=ConvexEM(100, 1e-8)), **EXACT)
    for size in sizes:
        samples = [np.random.default_rng(seed).multinomial(size, p / p.sum()) for seed in range(8)]
        treebanks = [treebank_of(trees, counts) for counts in samples]
        learned = [model_of_parameters(treebank, pivot.parameters(treebank)) for treebank in treebanks]
        errors.append(np.mean([sum(abs(weight(model, tree) - q) for tree, q in trees.items()) for model in learned]))
    slope, _ = np.polyfit(np.log(sizes), np.log(errors), 1)
    print(dict(zip(sizes, np.round(errors, 4).tolist(), strict=True)), f"slope {slope:.2f}")
    assert -0.7 < slope < -0.3


@pytest.mark.slow
def test_theorem_1_finds_pi_of_several_roots_with_several_states():
    """Section 6.1: pi(a, h) where trees begin with S or A, and A has two states that are not alike at the root."""
    inner = pivot_model(3)
    model = Model({"S": np.array([0.25]), "A": np.array([0.5, 0.25])}, inner.binary, inner.lexical)
    trees = language(model, "abcd", (2, 4))
    counts = np.round(np.array(list(trees.values())) * 4 * N_TREES).astype(int)
    assert counts.sum() == 4 * N_TREES
    treebank = treebank_of(trees, counts)
    parameters = Pivot(n_states=5, pivots=PIVOTS, **EXACT).parameters(treebank)
    assert_recovered(model_of_parameters(treebank, parameters), model, 1e-6)


def test_exact_pivots_give_a_grammar_of_exact_tensors(exact):
    """By figures 1 and 2; only float32, and the share of words' more general forms, are between pivots and grammar."""
    _, trees, treebank = exact
    paper = Pivot.variant("paper", n_states=5, n_iterations=0, lexical=PLAIN, rules=RuleSettings(exact_tensors=True))
    pivots = replace(paper.pivots, em=CONVERGED, more_inside=(), more_outside=(), precision=1e-20)
    grammar = replace(paper, pivots=pivots).fit(treebank)
    assert (grammar.tensors.forms == EXACT_TENSOR).all()
    weights = np.array([tree_weight(grammar, tree) for tree in trees])
    p = np.array(list(trees.values()))
    np.testing.assert_allclose(weights / weights.sum(), p / p.sum(), rtol=1e-4)


def test_theorem_1_with_more_features(exact):
    """Section 6.2: further features leave the optimum where it was, though some of them have no pivots."""
    model, _, treebank = exact
    pivots = replace(PIVOTS, more_inside=("rule+left_rule", "head_tag"), more_outside=("parent",))
    pivot = Pivot(n_states=5, pivots=pivots, **EXACT)
    assert_recovered(model_of_parameters(treebank, pivot.parameters(treebank)), model, 1e-6)


def test_em_stays_at_exact_pivots(exact):
    """Section 6.3: with exact moments the pivots' parameters are a maximum of the likelihood."""
    treebank = exact[-1]
    parameters = Pivot(n_states=5, pivots=PIVOTS, **EXACT).parameters(treebank)
    split = Split(treebank, parameters.n_states)
    fit = EMFit(split, split.expect_parameters(parameters), UNSMOOTHED)
    first = fit.step()
    np.testing.assert_allclose(split.maximize(fit.expected, UNSMOOTHED).tensors, parameters.tensors, atol=1e-5)
    assert fit.step() == pytest.approx(first, rel=1e-7)


# --------------------------------------------------------------------------------- what a learner promises


def test_a_state_that_begins_no_rule_does_as_its_symbol():
    joint = [np.array([0.6, 0.4, 0.0])[:, None, None], np.array([0.3, 0.7, 0.0])[:, None, None]]
    rules, weights = np.array([[1, 0, 0], [1, 0, 1]]), np.array([0.8, 0.2])
    found = _normalized(joint, rules, weights, np.array([1, 3])).reshape(2, 3)
    np.testing.assert_allclose(found, [[0.48 / 0.54, 0.32 / 0.46, 0.8], [0.06 / 0.54, 0.14 / 0.46, 0.2]])


def test_em_improves_on_the_pivots(sample):
    """Step 0 is the grammar of the pivots; from there the likelihood rises."""
    sample = sample[:50]
    pivot = Pivot(n_states=4, tokens_per_state=10, smoothing=StateSmoothing(0.0, 0.0, 1.0, 1.0))
    history = []
    grammar = replace(pivot, n_iterations=6).fit(sample, held_out=sample[:5], on_step=history.append)
    assert [step.iteration for step in history] == list(range(7))
    assert np.isnan(history[0].log_likelihood)
    assert (np.diff([step.log_likelihood for step in history[1:]]) > 0).all()
    best = max(history, key=lambda step: step.f1).iteration
    assert grammar.to_bytes() == replace(pivot, n_iterations=best).fit(sample).to_bytes()


def test_em_that_smooths_nothing_begins_where_every_tree_has_a_probability(sample):
    """The optimum of the convex EM leaves some trees of a finite treebank without any."""
    sample = sample[:40]
    paper = Pivot.variant("paper", n_states=4, n_iterations=4)
    treebank = IndexedTreebank.read(sample, TreebankSettings(lexical=paper.lexical, rules=paper.rules))
    parameters = paper.parameters(treebank)
    split = Split(treebank, parameters.n_states)
    with pytest.raises(FloatingPointError, match="each tree of the treebank has a probability"):
        EMFit(split, split.expect_parameters(parameters), UNSMOOTHED).step()
    history = []
    paper.fit(sample, on_step=history.append)
    assert (np.diff([step.log_likelihood for step in history[1:]]) > 0).all()


def test_the_floor_of_the_start_is_a_thousandth_of_an_occurrence(sample):
    treebank = IndexedTreebank.of(read_skeletons(sample), LexicalSettings())
    parameters = Pivot(n_states=4, tokens_per_state=10).parameters(treebank)
    split = Split(treebank, parameters.n_states)
    start = split.expect_parameters(parameters)
    floored = split.floored(start)
    shares = start.symbols / start.symbols.sum(axis=1, keepdims=True)
    counts = treebank.counts
    for rule in (0, len(counts.rules) // 2, len(counts.rules) - 1):
        of = slice(split.starts[rule], split.starts[rule + 1])
        a, b, c = (shares[symbol, : split.n_states[symbol]] for symbol in counts.rules[rule])
        n = counts.rule_counts[rule]
        independent = n * np.einsum("i,j,k->ijk", a, b, c).ravel()
        expected = (n * start.rules[of] + 1e-3 * independent) / (n + 1e-3)
        np.testing.assert_allclose(floored.rules[of], expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(floored.words.sum(axis=1), start.words.sum(axis=1), rtol=1e-3)
    is_root = counts.roots > 0
    np.testing.assert_allclose(floored.roots.sum(axis=1), counts.roots + 1e-3 * is_root, rtol=1e-6)


def test_unknown_features_are_refused(sample):
    with pytest.raises(ValueError, match="Expected features among"):
        Pivot(pivots=PivotFeatures(more_outside=("colour",))).fit(sample)
    with pytest.raises(ValueError, match="Expected pivot features that are not numeric"):
        Pivot(pivots=PivotFeatures(more_inside=("n_words",))).fit(sample)
