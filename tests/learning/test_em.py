"""The guarantees of EM, against sums over all assignments of states."""

import itertools
from collections import defaultdict
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from grammars import grammar_of, one_state, random_model
from oracles.enumeration import tree_log_probability, tree_weight, weight, weight_by_states
from oracles.latent import PLAIN, model_of_latent, random_fit, random_latent, skeletal_trees, split_of
from paths import SAMPLE

from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.learning import EM, LexicalSettings, StateSmoothing, TreebankPCFG
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED
from spacy_lpcfg.trees import Tree, parse_trees, read_trees

BRACKETS = [
    "(S (NP (D a) (N b)) (VP (V c) (NP (N b))))",
    "(S (NP (N b)) (VP (V c)))",
    "(NP (NP (D a) (N c)) (NP (N b)))",
    "(NP (N b))",
]


# ------------------------------------------------------------------------------------------ the E step


@pytest.fixture(scope="module", params=[1, 2, 3])
def step(request):
    """A split of small trees, random parameters, and their expected counts."""
    split = split_of(list(parse_trees(BRACKETS)), request.param)
    latent = random_latent(split, noise=2.0, seed=request.param)
    return split, latent, split.expect(latent)


def test_log_likelihood_is_that_of_the_sum_over_states(step):
    split, latent, expected = step
    model = model_of_latent(split, latent)
    weights = [weight_by_states(model, tree) for tree in skeletal_trees(split)]
    assert expected.log_likelihood == pytest.approx(np.log(weights).sum(), rel=1e-6)


def test_expected_counts_are_those_of_the_sum_over_states(step):
    split, latent, expected = step
    nodes, model = split.treebank.nodes, model_of_latent(split, latent)
    posteriors, rules = np.zeros((nodes.n_nodes, split.width)), np.zeros(len(expected.rules))
    first = 0
    for tree, root in zip(skeletal_trees(split), nodes.roots, strict=True):
        total = weight(model, tree)
        of_tree = range(first, root + 1)
        for states in itertools.product(*(range(split.n_states[nodes.symbol[node]]) for node in of_tree)):
            state = dict(zip(of_tree, states, strict=True))
            share = latent.roots[nodes.symbol[root], state[root]] / total
            entries = []
            for node in of_tree:
                left, right = nodes.left[node], nodes.right[node]
                if left < 0:
                    share *= latent.emissions[split.events.of_leaf[np.searchsorted(nodes.leaves, node)], state[node]]
                else:
                    rule = split.treebank.counts.rule_of[node]
                    place = np.ravel_multi_index((state[node], state[left], state[right]), split.shapes[rule])
                    entries.append(split.starts[rule] + place)
                    share *= latent.tensors[entries[-1]]
            np.add.at(rules, entries, share)
            posteriors[list(of_tree), list(states)] += share
        first = root + 1
    np.testing.assert_allclose(expected.rules, rules, atol=1e-5)
    symbols, roots, words = (np.zeros_like(part) for part in (expected.symbols, expected.roots, expected.words))
    np.add.at(symbols, nodes.symbol, posteriors)
    np.add.at(roots, nodes.symbol[nodes.roots], posteriors[nodes.roots])
    np.add.at(words, split.events.of_leaf, posteriors[nodes.leaves])
    np.testing.assert_allclose(expected.symbols, symbols, atol=1e-5)
    np.testing.assert_allclose(expected.roots, roots, atol=1e-5)
    np.testing.assert_allclose(expected.words, words, atol=1e-5)


def test_expected_counts_add_up(sample):
    split = split_of(sample, 4)
    expected = split.expect(random_latent(split, noise=1.0, seed=0))
    counts = split.treebank.counts
    np.testing.assert_allclose(expected.symbols.sum(axis=1), counts.symbols, rtol=1e-5)
    np.testing.assert_allclose(expected.roots.sum(axis=1), counts.roots, rtol=1e-5)
    np.testing.assert_allclose(expected.forms.sum(axis=1), split.events.counts, rtol=1e-5)
    totals = np.add.reduceat(expected.rules.astype(float), split.starts[:-1])
    np.testing.assert_allclose(totals, counts.rule_counts, rtol=1e-4)


def test_trees_of_any_depth_have_a_likelihood():
    """A product of two thousand small numbers."""
    deep = Tree("X", word="x")
    for word in np.random.default_rng(0).choice(list("abcdefg"), 2000).tolist():
        deep = Tree("X", (Tree("Y", word=word), deep))
    split = split_of([deep], 3)
    log_likelihood = split.expect(random_latent(split, noise=0.1, seed=0)).log_likelihood
    assert log_likelihood == pytest.approx(-2000 * np.log(7), rel=0.02)


def test_states_without_probability_are_an_error(sample):
    split = split_of(sample[:5], 2)
    start = random_latent(split, noise=1.0, seed=0)
    with pytest.raises(FloatingPointError, match="each tree of the treebank has a probability"):
        split.expect(replace(start, tensors=np.zeros_like(start.tensors)))


def test_known_states_are_counted(sample):
    split = split_of(sample[:40], 3)
    nodes, counts = split.treebank.nodes, split.treebank.counts
    states = np.random.default_rng(0).integers(0, split.n_states[nodes.symbol])
    expected = split.expect_states(states)
    found: dict[int, int] = defaultdict(int)
    for node in nodes.inner:
        m = split.shapes[counts.rule_of[node]]
        place = np.ravel_multi_index((states[node], states[nodes.left[node]], states[nodes.right[node]]), m)
        found[split.starts[counts.rule_of[node]] + place] += 1
    assert {entry: n for entry, n in enumerate(expected.rules) if n} == found
    symbols = np.zeros_like(expected.symbols)
    np.add.at(symbols, (nodes.symbol, states), 1)
    np.testing.assert_array_equal(expected.symbols, symbols)


# ----------------------------------------------------------------------------------------------- EM


@pytest.mark.parametrize("seed", [0, 1])
def test_log_likelihood_never_falls(sample, seed):
    split = split_of(sample, 4, LexicalSettings())
    fit = random_fit(split, UNSMOOTHED, seed=seed)
    found = [fit.step() for _ in range(30)]
    assert min(np.diff(found)) > -1e-6 * abs(found[0])
    assert found[-1] > found[0] + 100


@pytest.mark.parametrize("smoothing", [UNSMOOTHED, StateSmoothing(), StateSmoothing(0.2, 0.3, 5.0, 6.0)], ids=str)
def test_parameters_are_distributions(sample, smoothing):
    split = split_of(sample, 5, LexicalSettings())
    fit = random_fit(split, smoothing)
    for _ in range(3):
        fit.step()
    latent = split.maximize(fit.expected, smoothing)
    assert latent.roots.sum() == pytest.approx(1)
    totals = np.zeros(split.is_state.shape)
    np.add.at(totals, split.events.pairs[:, 0], latent.emissions)
    for (a, _, _), i, j in zip(split.treebank.counts.rules, split.starts[:-1], split.starts[1:], strict=True):
        m = split.n_states[a]
        totals[a, :m] += latent.tensors[i:j].reshape(m, -1).sum(axis=1)
    np.testing.assert_allclose(totals, split.is_state, atol=1e-5)


def test_states_that_were_not_seen_get_the_mean(sample):
    split = split_of(sample[:20], 3)
    latent = split.maximize(split.expect_states(np.zeros(split.treebank.nodes.n_nodes, dtype=int)), UNSMOOTHED)
    model = model_of_latent(split, latent)
    for parts in (model.binary, model.lexical):
        for block in parts.values():
            np.testing.assert_allclose(block.sum(axis=(1, 2)) if block.ndim == 3 else block, block[0].sum())


def test_grammar_has_the_parameters(sample):
    """Without lexical smoothing, a tree's probability under the grammar is the one that EM computes."""
    learner = EM(n_states=3, n_iterations=4, smoothing=UNSMOOTHED, lexical=PLAIN, tokens_per_state=1)
    history = []
    grammar = learner.fit(sample, on_step=history.append)
    split = split_of(sample, 3)
    fit = random_fit(split, UNSMOOTHED, learner.noise)
    *during, after = [fit.step() for _ in range(5)]
    n_words = sum(len(tree) for tree in skeletal_trees(split))
    kept = len(sample) * np.log(1 - 1e-4) - n_words * np.log(1.01)  # for unseen roots, and forms of unknown words
    total = sum(tree_log_probability(grammar, tree) for tree in sample)
    assert total == pytest.approx(after + kept, abs=0.001 * n_words)
    assert [step.iteration for step in history] == [1, 2, 3, 4]
    assert [step.log_likelihood for step in history] == pytest.approx(during)


def test_states_are_found_again():
    """Trees drawn from a latent grammar are as likely under what EM learns of them as under the grammar itself."""
    true = random_model(3, most_states=2)
    grammar = grammar_of(true, one_state(true, 3), is_proper=True)
    drawn = list(islice(sample_trees(grammar, max_words=12), 1500))
    learned = EM(n_states=2, n_iterations=60, smoothing=UNSMOOTHED, lexical=PLAIN).fit(drawn)
    pcfg = TreebankPCFG(lexical=PLAIN).fit(drawn)
    new = list(islice(sample_trees(grammar, max_words=12, seed=1), 500))
    of_true, of_learned, of_pcfg = (
        np.mean([np.log(max(tree_weight(by, tree), 1e-12)) for tree in new]) for by in (grammar, learned, pcfg)
    )
    assert of_learned > of_pcfg + 0.5 * (of_true - of_pcfg)


# ---------------------------------------------------------------------------------------- the learner


def test_iterations_are_chosen_on_held_out_trees(sample):
    """The last one is looked at too, whatever its number."""
    history = []
    held_out = list(islice(read_trees([SAMPLE / "dev.mrg"]), 10))
    learner = EM(n_states=2, n_iterations=7)
    grammar = learner.fit(sample, held_out=held_out, on_step=history.append)
    scores = {step.iteration: step.f1 for step in history if not np.isnan(step.f1)}
    assert set(scores) == {5, 7}
    best = max(scores, key=lambda iteration: scores[iteration])
    assert grammar.to_bytes() == EM(n_states=2, n_iterations=best).fit(sample).to_bytes()


def test_no_iterations_are_refused(sample):
    with pytest.raises(ValueError, match="n_iterations to be a whole number of at least 1, got 0"):
        EM(n_iterations=0).fit(sample)
