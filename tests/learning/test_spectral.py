"""The papers' theorems on spectral learning, and the formulas of section 3.2 as loops."""

import itertools
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import Model, all_trees, language, model_of_estimate, tree_weight, weight
from oracles.latent import PLAIN, projections_of
from oracles.strategies import trees as random_trees
from paths import SAMPLE
from scipy.sparse import csr_array

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.tensors import EXACT
from spacy_lpcfg.learning import Smoothing, Spectral, TreebankPCFG, tuning
from spacy_lpcfg.learning.em import held_out_f1
from spacy_lpcfg.learning.lexicon.lexical import _BACKOFF_WEIGHT
from spacy_lpcfg.learning.moments.estimation import RuleMoments
from spacy_lpcfg.learning.moments.projections import Features, singular_vectors
from spacy_lpcfg.learning.treebank.settings import RuleSettings
from spacy_lpcfg.learning.tuning import GRID, tune
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, clean, normalize, parse_trees, read_trees

UNSMOOTHED = Smoothing(c=0.0, nu=1.0, max_lexical=0.0)
WORDS = "abcd"


# ------------------------------------------------------------------------ theorem 2 of Cohen et al. (2012)

RULES = {"S": ("A B", "B A"), "A": ("D E", "E D"), "B": ("D E", "E E")}
LEXICON = {"D": "abc", "E": "bcd"}
SHARES = {"S": 8, "A": 4, "B": 4, "D": 2, "E": 2}  # every probability of a symbol is a multiple of 1 / share
N_TREES = 8 * 4 * 4 * 2**4


def finite_model(seed: int, states: dict[str, int]) -> Model:
    """A random L-PCFG of four-word sentences whose trees have probabilities that are multiples of 1 / N_TREES."""
    rng = np.random.default_rng(seed)
    model = Model({"S": np.ones(1)}, {}, {})
    for a, share in SHARES.items():
        rules = [tuple(rule.split()) for rule in RULES.get(a, LEXICON.get(a, ()))]
        shapes = [[states[b] for b in rule] if a in RULES else [] for rule in rules]
        sizes = [int(np.prod(shape)) for shape in shapes]
        drawn = rng.multinomial(share, np.full(sum(sizes), 1 / sum(sizes)), size=states[a]) / share
        for rule, shape, block in zip(rules, shapes, np.split(drawn, np.cumsum(sizes)[:-1], axis=1), strict=True):
            (model.binary if a in RULES else model.lexical)[(a, *rule)] = block.reshape([states[a], *shape])
    return model


STATES = {"S": 1, "A": 2, "B": 2, "D": 2, "E": 2}


def estimate(trees: dict[Tree, float], counts, n_states: int, **options):
    """The estimate from a treebank with so many of each tree."""
    treebank = (tree for tree, n in zip(trees, counts, strict=True) for _ in range(n))
    return Spectral(n_states=n_states, tokens_per_state=1, lexical=PLAIN, **options).estimate(treebank)


@pytest.fixture(scope="module", params=[(0, STATES), (1, {**STATES, "D": 3})])
def exact(request):
    """A model whose Omega have full rank, its language, and its estimate from a treebank with exactly its moments."""
    seed, states = request.param
    model = finite_model(seed, states)
    trees = language(model, WORDS, (4,))
    counts = [round(p * N_TREES) for p in trees.values()]
    assert sum(counts) == N_TREES
    found = estimate(trees, counts, n_states=8)
    assert dict(zip(found.treebank.nodes.symbols, found.bases.n_states, strict=True)) == states
    return model, trees, found


def test_exact_moments_give_tree_probabilities(exact):
    _, trees, found = exact
    spectral = model_of_estimate(found, UNSMOOTHED)
    for words in itertools.product(WORDS, repeat=4):
        for tree in all_trees(spectral, words):
            assert weight(spectral, tree) == pytest.approx(trees.get(tree, 0.0), abs=1e-12)
    assert any((tensor < 0).any() for tensor in spectral.binary.values())


@pytest.mark.slow
def test_theorem_3_error_falls_with_the_square_root_of_the_number_of_trees():
    """Sum of the absolute errors of tree probabilities, which pytest -rP prints; docs/papers.md has the figures."""
    trees = language(finite_model(0, STATES), WORDS, (4,))
    p = np.array(list(trees.values()))
    sizes, errors = (500, 2_000, 8_000), []
    for size in sizes:
        samples = [np.random.default_rng(seed).multinomial(size, p / p.sum()) for seed in range(8)]
        learned = [model_of_estimate(estimate(trees, counts, n_states=2), UNSMOOTHED) for counts in samples]
        errors.append(np.mean([sum(abs(weight(model, tree) - q) for tree, q in trees.items()) for model in learned]))
    slope, _ = np.polyfit(np.log(sizes), np.log(errors), 1)
    print(dict(zip(sizes, np.round(errors, 4).tolist(), strict=True)), f"slope {slope:.2f}")
    assert -0.7 < slope < -0.3


@pytest.mark.parametrize(
    "options",
    [
        {"kappa": None},
        {"kappa": 50.0},
        {"inside": ("rule", "n_words"), "outside": ("three_above", "n_left")},
        {"inside": ("rule+left_rule", "rule+right_rule"), "leaf": ("rule", "head_word")},
    ],
    ids=str,
)
def test_exact_moments_need_no_certain_features(options):
    """Theorem 2 holds for any phi and psi whose Omega has full rank."""
    trees = language(finite_model(0, STATES), WORDS, (4,))
    found = estimate(trees, [round(p * N_TREES) for p in trees.values()], n_states=8, features=Features(**options))
    assert dict(zip(found.treebank.nodes.symbols, found.bases.n_states, strict=True)) == STATES
    spectral = model_of_estimate(found, UNSMOOTHED)
    for tree, p in trees.items():
        assert weight(spectral, tree) == pytest.approx(p, abs=1e-10)


def test_exact_moments_give_a_grammar_of_exact_tensors(exact):
    """Nothing but float32 is between the moments and the probabilities that the grammar of a file gives."""
    _, trees, found = exact
    treebank = replace(found.treebank, exact_tensors=True)
    grammar = Grammar.from_bytes(replace(found, treebank=treebank).grammar(UNSMOOTHED).to_bytes())
    known = (1 - 1e-4) / (1 + _BACKOFF_WEIGHT) ** 4
    for tree, p in trees.items():
        assert tree_weight(grammar, tree) == pytest.approx(p * known, rel=1e-4, abs=1e-8)


def test_exact_tensors_are_a_setting(sample):
    grammar = Spectral(n_states=6, tokens_per_state=5, rules=RuleSettings(exact_tensors=True)).fit(sample[:20])
    assert (grammar.tensors.forms == EXACT).all()


# ---------------------------------------------------------------------------------------- limiting cases


@pytest.fixture(scope="module")
def one_state_grammars(sample) -> tuple[Grammar, Grammar]:
    label = Features(inside=("label",), outside=("label",), leaf=("label",))
    return Spectral(n_states=1, features=label).estimate(sample).grammar(UNSMOOTHED), TreebankPCFG().fit(sample)


def test_one_state_without_smoothing_is_the_treebank_pcfg(one_state_grammars, sample):
    spectral, pcfg = one_state_grammars
    assert (spectral.symbols, spectral.lexicon.terminals) == (pcfg.symbols, pcfg.lexicon.terminals)
    for name in ("rules", "rule_weights", "root_weights", "n_states"):
        np.testing.assert_array_equal(getattr(spectral, name), getattr(pcfg, name))
    for tree in sample:
        assert tree_weight(spectral, tree) == pytest.approx(tree_weight(pcfg, tree), rel=1e-4)


# --------------------------------------------------------------------- steps 1 and 2 of Cohen et al. (2013)


def test_projections_have_unit_cross_moments(sample):
    """E[Y Z'] = I for every symbol, as Y = U' phi, Z = Sigma^-1 V' psi and Omega = E[phi psi'] = U Sigma V'."""
    found = Spectral(n_states=6).estimate(sample)
    nodes, projections = found.treebank.nodes, projections_of(found)
    assert found.bases.n_states.max() == 6
    for symbol, m in enumerate(found.bases.n_states):
        y, z = (side[nodes.symbol == symbol] for side in projections)
        np.testing.assert_allclose(y[:, :m].T @ z[:, :m] / len(y), np.eye(m), atol=1e-9)
        assert not y[:, m:].any()
        assert not z[:, m:].any()


def test_states_are_limited_by_counts(sample):
    nodes = (found := Spectral(n_states=5, tokens_per_state=20).estimate(sample)).treebank.nodes
    counts = np.bincount(nodes.symbol)
    assert (found.bases.n_states <= np.clip(counts // 20, 1, 5)).all()
    assert len(set(found.bases.n_states.tolist())) > 2


@pytest.mark.parametrize("shape", [(12, 9), (60, 50)], ids=["exact", "randomised"])
def test_project_finds_singular_vectors(shape):
    """Against numpy's decomposition of a dense Omega of rank 4, of which 3 or all directions are wanted."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(200, 4)) * [4.0, 3.0, 2.0, 1.0]
    phi, psi = (hidden @ rng.normal(size=(4, d)) for d in shape)
    u, sigma, vt = np.linalg.svd(phi.T @ psi / 200)
    for n_states, m in ((3, 3), (9, 4)):
        u_found, found, v_found = singular_vectors(csr_array(phi.T @ psi / 200), n_states, 0)
        y, z = phi @ u_found, psi @ v_found / found
        assert y.shape == z.shape == (200, m)
        np.testing.assert_allclose(found, sigma[:m], rtol=1e-6)
        signs = np.sign(np.sum(y * (phi @ u[:, :m]), axis=0))
        np.testing.assert_allclose(y, phi @ u[:, :m] * signs, rtol=1e-6, atol=1e-6 * np.abs(y).max())
        np.testing.assert_allclose(z, psi @ vt[:m].T / sigma[:m] * signs, rtol=1e-6, atol=1e-6 * np.abs(z).max())


@pytest.mark.parametrize("c", [0.0, 5.0, 20.0])
def test_smoothing_is_that_of_section_3_2(c):
    """E, E2, E3, E4 and lambda as loops over the occurrences and the indices."""
    rng = np.random.default_rng(1)
    n, m_a, m_b, m_c = 7, 3, 2, 4
    z, y2, y3 = (rng.normal(size=(n, m)) for m in (m_a, m_b, m_c))
    h, f_b, f_c = (rng.normal(size=m) for m in (m_a, m_b, m_c))
    found = RuleMoments.of(z, y2, y3).smoothed(h, f_b, f_c, c)
    lam = np.sqrt(n) / (c + np.sqrt(n))

    def mean(*columns):
        return sum(np.prod([column[o] for column in columns]) for o in range(n)) / n

    for i, j, k in itertools.product(range(m_a), range(m_b), range(m_c)):
        zi, yj, yk = z[:, i], y2[:, j], y3[:, k]
        e = mean(zi, yj, yk)
        e2 = (mean(zi, yj) * mean(yk) + mean(zi, yk) * mean(yj) + mean(yj, yk) * mean(zi)) / 3
        e3 = mean(zi) * mean(yj) * mean(yk)
        e4 = h[i] * f_b[j] * f_c[k]
        expected = lam * e + (1 - lam) * (lam * e2 + (1 - lam) * (lam * e3 + (1 - lam) * e4))
        assert found[i, j, k] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("smoothing", [UNSMOOTHED, Smoothing(c=5.0, nu=0.25, max_lexical=3.0)], ids=str)
def test_parameters_are_equations_2_and_3(sample, smoothing):
    """Over the nodes of a treebank: rules, words, and roots, with H^a and F^b from all nodes of a symbol."""
    found = Spectral(n_states=3, lexical=PLAIN).estimate(sample[:40])
    nodes, (y, z) = found.treebank.nodes, projections_of(found)
    m = found.bases.n_states
    model = model_of_estimate(found, smoothing)
    of_rule: dict[tuple[int, int, int], list[int]] = {}
    for node in nodes.inner.tolist():
        a, b, c = nodes.symbol[[node, nodes.left[node], nodes.right[node]]].tolist()
        of_rule.setdefault((a, b, c), []).append(node)

    def mean_of(values: np.ndarray, symbol: int) -> np.ndarray:
        return values[nodes.symbol == symbol, : m[symbol]].mean(axis=0)

    assert len(model.binary) == len(of_rule)
    for (a, b, c), places in of_rule.items():
        left, right = y[nodes.left[places], : m[b]], y[nodes.right[places], : m[c]]
        moments = RuleMoments.of(z[places, : m[a]], left, right)
        expected = moments.smoothed(mean_of(z, a), mean_of(y, b), mean_of(y, c), smoothing.c)
        expected = expected * len(places) / np.count_nonzero(nodes.symbol == a)
        np.testing.assert_allclose(model.binary[tuple(nodes.symbols[s] for s in (a, b, c))], expected, atol=1e-12)
    is_seen = {}
    for leaf in nodes.leaves.tolist():
        is_seen.setdefault((nodes.symbol[leaf], nodes.words[nodes.word[leaf]]), []).append(leaf)
    for (a, word), places in is_seen.items():
        expected = z[places, : m[a]].mean(axis=0)
        if len(places) <= smoothing.max_lexical:
            expected = smoothing.nu * expected + (1 - smoothing.nu) * mean_of(z, a)
        expected = expected * len(places) / np.count_nonzero(nodes.symbol == a)
        np.testing.assert_allclose(model.lexical[nodes.symbols[a], word], expected, atol=1e-12)
    for a, name in enumerate(nodes.symbols):
        expected = y[[root for root in nodes.roots if nodes.symbol[root] == a], : m[a]].sum(axis=0) / len(nodes.roots)
        np.testing.assert_allclose(model.roots[name], expected, atol=1e-12)


def test_grammar_has_the_parameters_but_for_rounding(sample):
    """Tensors to the tolerance of their factors; the roots with a little for all symbols."""
    found = Spectral(n_states=4).estimate(sample)
    parameters, grammar = found.parameters(Smoothing()), found.grammar(Smoothing())
    start = 0
    for rule in range(grammar.n_rules):
        tensor = grammar.tensor(rule)
        expected = parameters.tensors[start : start + tensor.size].reshape(tensor.shape)
        assert np.linalg.norm(tensor - expected) <= 0.025 * np.linalg.norm(expected)
        start += tensor.size
    counts = found.treebank.counts
    for a, share in enumerate(counts.roots / counts.roots.sum()):
        expected = share * parameters.root_vectors[a, : grammar.n_states[a]]
        np.testing.assert_allclose(grammar.root_vector(a), expected, atol=1e-3)


# --------------------------------------------------------------------------------- what a learner promises


@given(
    st.lists(random_trees(), min_size=1, max_size=5),
    st.sampled_from([TreebankPCFG(rules=RuleSettings(markov=1)), Spectral(n_states=3, tokens_per_state=1, lang="xx")]),
)
def test_any_treebank_is_learned_and_parsed(treebank, learner):
    golds = [gold for gold in map(normalize, treebank) if gold is not None]
    if golds:
        grammar = Grammar.from_bytes(learner.fit(treebank).to_bytes())
        parser = Parser(grammar, settings=EXHAUSTIVE)
        for gold in golds:
            parse = parser.parse(Query(gold.words, gold.tags))
            assert parse.is_parsed
            assert (parse.tree.words, parse.tree.tags) == (gold.words, gold.tags)
            assert tree_weight(grammar, gold, markov=learner.rules.markov) > 0 or not grammar.is_proper


def test_unknown_features_are_refused(sample):
    with pytest.raises(ValueError, match="Expected features among"):
        Spectral(features=Features(inside=("rule", "colour"))).fit(sample)


def test_tuning_climbs_to_the_best_smoothing_of_the_grid(sample, monkeypatch):
    """Each parameter in turn, from what was best before, by an F1 with one peak in the grid."""
    peak, trials = Smoothing(c=25.0, nu=0.75, max_lexical=100.0), []
    monkeypatch.setattr(
        tuning,
        "held_out_f1",
        lambda smoothing, golds: 90 - sum(abs(getattr(smoothing, name) - getattr(peak, name)) for name in GRID),
    )
    assert tune(lambda smoothing: smoothing, sample[:1], on_step=trials.append) == (peak, peak)
    assert (
        len({trial.smoothing for trial in trials})
        == len(trials)
        == 1 + sum(len(values) - 1 for values in GRID.values())
    )
    assert max(trials, key=lambda trial: trial.f1) == (peak, 90.0)


def test_tuning_is_what_held_out_trees_do(sample):
    learner, trials = Spectral(n_states=2), []
    held_out = list(map(clean, islice(read_trees([SAMPLE / "dev.mrg"]), 10)))
    best, grammar = tune(learner.estimate(sample).grammar, held_out, on_step=trials.append)
    assert dict(trials)[best] == held_out_f1(grammar, held_out) == max(f1 for _, f1 in trials)
    assert learner.fit(sample, held_out=held_out).to_bytes() == grammar.to_bytes()


def test_tuning_needs_held_out_trees(sample):
    with pytest.raises(ValueError, match="held-out trees"):
        tune(Spectral(n_states=1).estimate(sample[:5]).grammar, list(parse_trees(["(S (NP (-NONE- *)))"])))
