"""MAP-EM on new trees, against sums over all assignments of states; its limits; what is new in the trees."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from oracles.enumeration import model_of, sums_of_states, tree_log_probability

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.grammar import check
from spacy_lpcfg.learning import EM, LexicalSettings, TreebankPCFG
from spacy_lpcfg.learning.adaptation.map_em import PriorEM
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.learning.treebank.settings import RuleSettings
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries

OLD = """
(S (NP (D a) (N b)) (VP (V c) (NP (N b)))) (S (NP (N b)) (VP (V c))) (NP (NP (D a) (N d)) (NP (N b)))
(S (NP (D e) (N b)) (VP (V c) (NP (D a) (N d)))) (S (NP (N d)) (VP (V c) (NP (D e) (N b))))
"""
KNOWN = "(S (NP (D a) (N b)) (VP (V c) (NP (D a) (N d)))) (S (NP (N b)) (VP (V c)))"
NEW = "(S (NP (D a) (NML (A green) (N b)) (N b)) (VP (V c) (XP (U oh)))) (S (NP (A red) (N b)) (VP (V c)))"


def trees(text: str) -> list[Tree]:
    return list(parse_trees(text))


def adapted(prior: Prior, treebank: list[Tree], strength: float) -> Grammar:
    return PriorEM(prior, NewTrees.read(prior.grammar, treebank)).fit(strength)


@pytest.fixture(scope="module")
def prior() -> Prior:
    """Two states a symbol, all words terminals, exact tensors."""
    lexical = LexicalSettings(rare=0, signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)
    learner = EM(2, 3, tokens_per_state=0.0, lexical=lexical, rules=RuleSettings(exact_tensors=True))
    return Prior.of(learner.fit(trees(OLD)))


def visits_by_generations(grammar: Grammar) -> dict[str, np.ndarray]:
    """Sum the expected nodes of each generation of a tree, from the root on."""
    model = model_of(grammar)
    generation = {a: vector.copy() for a, vector in model.roots.items()}
    total = {a: np.zeros(m) for a, m in zip(grammar.symbols, grammar.n_states, strict=True)}
    for _ in range(300):
        following: dict[str, np.ndarray] = {}
        for a, vector in generation.items():
            total[a] = total[a] + vector
        for (a, b, c), tensor in model.binary.items():
            if a in generation:
                both = np.einsum("i,ijk->jk", generation[a], tensor)
                following[b] = following.get(b, 0) + both.sum(axis=1)
                following[c] = following.get(c, 0) + both.sum(axis=0)
        generation = following
    return total


def test_expected_visits_are_the_sum_of_all_generations(prior):
    expected = visits_by_generations(prior.grammar)
    for a, name in enumerate(prior.grammar.symbols):
        np.testing.assert_allclose(prior.states[a, : len(expected[name])], expected[name], rtol=1e-4)
    counts = prior.grammar.symbol_weights / prior.grammar.symbol_weights.sum()
    np.testing.assert_allclose(prior.symbols / prior.symbols.sum(), counts, rtol=2e-3)


def test_prior_needs_probabilities_and_trees_that_end(prior):
    with pytest.raises(ValueError, match="a grammar of probabilities to go on from"):
        Prior.of(replace(prior.grammar, is_proper=False))
    tensors = prior.grammar.tensors
    with pytest.raises(ValueError, match="trees are finite in expectation"):
        Prior.of(replace(prior.grammar, tensors=replace(tensors, exact=tensors.exact * 8)))


def map_step(prior: Prior, treebank: list[Tree], strength: float) -> dict[tuple, np.ndarray]:
    """The tensors after a step: counts by all assignments of states, and the prior's, divided by their sums."""
    grammar, model = prior.grammar, model_of(prior.grammar)
    counts: dict[tuple, np.ndarray] = defaultdict(lambda: np.zeros(()))
    states = dict(zip(grammar.symbols, prior.states, strict=True))
    m = dict(zip(grammar.symbols, grammar.n_states.tolist(), strict=True))
    for key, tensor in {**model.binary, **model.lexical}.items():
        if not (len(key) == 2 and key[1].startswith("<tag ")):
            visits = states[key[0]][: m[key[0]]]
            counts[key] = strength * tensor * visits.reshape(-1, *[1] * (tensor.ndim - 1))
    for tree in treebank:
        nodes = list(binarize(collapse_unaries(tree)).nodes())
        found = []
        for chosen in itertools.product(*(range(m[node.label]) for node in nodes)):
            state = dict(zip(map(id, nodes), chosen, strict=True))
            weight, uses = model.roots[nodes[0].label][chosen[0]], []
            for node in nodes:
                below = (node.word,) if node.is_leaf else tuple(child.label for child in node.children)
                place = tuple(state[id(each)] for each in (node, *node.children))
                table = model.lexical if node.is_leaf else model.binary
                weight = weight * table[(node.label, *below)][place]
                uses.append(((node.label, *below), place))
            found.append((weight, uses))
        total = sum(weight for weight, _ in found)
        for weight, uses in found:
            for key, place in uses:
                counts[key][place] += weight / total
    sums = {a: sum(c.reshape(m[a], -1).sum(1) for key, c in counts.items() if key[0] == a) for a in m}
    return {key: c / sums[key[0]].reshape(-1, *[1] * (c.ndim - 1)) for key, c in counts.items()}


@pytest.mark.parametrize("strength", [0.0, 0.5, 20.0, 1e9])
def test_step_is_that_of_the_sum_over_states(prior, strength, monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.learning.adaptation.map_em._N_ITERATIONS", 1)
    grammar = adapted(prior, trees(KNOWN), strength=strength)
    expected = map_step(prior, trees(KNOWN), max(strength, 1e-6))
    model = model_of(grammar)
    for key, values in {**model.binary, **model.lexical}.items():
        if not (len(key) == 2 and key[1].startswith("<tag ")):
            np.testing.assert_allclose(values, expected[key], atol=2e-3, err_msg=str(key))


def test_infinite_strength_keeps_the_grammar(prior):
    same = adapted(prior, trees(KNOWN), strength=1e9)
    for tree in trees(OLD):
        expected = tree_log_probability(prior.grammar, tree)
        assert tree_log_probability(same, tree) == pytest.approx(expected, abs=5e-3)
    np.testing.assert_allclose(same.rule_weights, prior.grammar.rule_weights, rtol=1e-3)
    np.testing.assert_allclose(same.root_weights, prior.grammar.root_weights, atol=1e-6)


def test_no_strength_is_em_on_the_new_trees(prior, monkeypatch):
    """The likelihood of the new trees grows with each iteration, and is greater than under any prior."""
    em = PriorEM(prior, NewTrees.read(prior.grammar, trees(KNOWN)))

    def log_likelihood(strength: float, n_iterations: int) -> float:
        monkeypatch.setattr("spacy_lpcfg.learning.adaptation.map_em._N_ITERATIONS", n_iterations)
        grammar = em.fit(strength)
        return sum(tree_log_probability(grammar, tree) for tree in trees(KNOWN))

    steps = [log_likelihood(0.0, n) for n in (1, 2, 5)]
    assert min(np.diff(steps)) > -1e-6
    assert steps[-1] > log_likelihood(1.0, 5) > log_likelihood(10.0, 5)


@pytest.mark.parametrize("strength", [0.0, 3.0, 1e4])
def test_new_symbols_rules_and_words_have_entries(prior, strength):
    grammar = adapted(prior, trees(NEW), strength=strength)
    check(grammar)
    assert {"NML", "XP"} <= {*grammar.labels}
    assert {"A", "U"} <= {*grammar.tags}
    assert all(np.isfinite(tree_log_probability(grammar, tree)) for tree in trees(NEW))
    for sums, visited in zip(sums_of_states(grammar), grammar.symbol_weights > 1e-9, strict=True):
        np.testing.assert_allclose(sums, 1.0, rtol=1e-3 if visited else 1.0)
    table = grammar.tags_before, grammar.tags_after
    np.testing.assert_allclose([rows.sum(axis=1) for rows in table], 1.0, rtol=1e-6)


def test_trees_without_a_probability_are_learned(prior):
    grammar = prior.grammar
    vectors = grammar.lexicon.vectors.copy()
    row = grammar.lexicon.offsets[grammar.lexicon.terminal("a", False)]
    vectors[slice(*grammar.lexicon.vector_offsets[row : row + 2])] = 0.0
    without = replace(grammar, lexicon=replace(grammar.lexicon, vectors=vectors))
    assert tree_log_probability(without, trees(KNOWN)[0]) == -np.inf
    grammar = adapted(Prior.of(without), trees(KNOWN), strength=10.0)
    assert np.isfinite(tree_log_probability(grammar, trees(KNOWN)[0]))


def test_new_words_have_the_tags_that_they_were_seen_with():
    """A word that its signature emits has more of the tag of a new tree, and less the stronger the prior is."""
    learned = EM(2, 2, lexical=LexicalSettings(rare=1)).fit(
        trees(OLD + "(S (NP (N fogs)) (VP (V runs))) (S (NP (N dogs)) (VP (V barks) (NP (N cows))))")
    )
    prior = Prior.of(learned)
    new = trees("(S (NP (N b)) (VP (V blogs)))")

    def share(grammar: Grammar) -> float:
        terminals, factors = grammar.lexicon.look_up(["b", "blogs"])
        table = grammar.lexicon.tag_weights(grammar.symbol_weights, grammar.tag_of)[terminals[1]] * factors[1]
        return table[grammar.tags.index("V")] / table.sum()

    shares = [share(adapted(prior, new, strength=strength)) for strength in (1.0, 100.0)]
    assert shares[0] > shares[1] > share(learned)
    with pytest.raises(ValueError, match="strength"):
        adapted(prior, new, strength=-1.0)
    with pytest.raises(ValueError, match="at least one tree"):
        adapted(prior, [], strength=1.0)


@pytest.mark.parametrize("markov", range(4))
def test_trees_that_were_learned_from_are_read_as_they_were(markov):
    """Labels may have the "_" that joins the siblings in the names of "@" symbols."""
    old = trees("(S (NP_SBJ (N b)) (V c) (NP_OA (N d)) (PP_MOD (P e) (N b)) (A_D f)) (S (N_ b) (V c) (_ .))")
    new = NewTrees.read(TreebankPCFG(rules=RuleSettings(markov=markov)).fit(old), old)
    assert not new.is_new_rule.any()


def test_grammar_of_single_words_is_adapted():
    words = trees("(S (N a))\n" * 30)
    grammar = adapted(Prior.of(TreebankPCFG().fit(words)), words, strength=10.0)
    assert np.isfinite(tree_log_probability(grammar, words[0]))
