"""The tensor form of Cohen et al. (2012) against the definition: sums over latent states, and over trees."""

from __future__ import annotations

import numpy as np
import pytest
from grammars import WORDS, grammar_of, one_state, random_grammar, random_model, rebased
from oracles.enumeration import (
    Model,
    all_trees,
    cancellation,
    items,
    marginals,
    model_of,
    total,
    weight,
    weight_by_states,
)
from oracles.tensor_form import inside_outside_marginals, tree_log_probability, tree_weight

from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize

COMPLETE = ("NP", "S", "S|VP", "VP")  # no "@" symbols, so that every skeletal tree stands for an n-ary one
PROPER = pytest.mark.parametrize("proper", [True, False], ids=["proper", "signed"])


def sentences(seed: int, *lengths: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [rng.choice(WORDS, n).tolist() for n in lengths]


def unfold(skeleton: Tree) -> Tree:
    return expand_unaries(unbinarize(skeleton))


@PROPER
@pytest.mark.parametrize("seed", range(3))
def test_tree_weight_is_sum_over_latent_states(seed, proper):
    grammar = random_grammar(seed, most_states=2, interminals=COMPLETE, proper=proper)
    model = model_of(grammar)
    n_trees = 0
    for words in sentences(seed, 1, 2, 3, 4):
        for skeleton in all_trees(model, words):
            expected = weight_by_states(model, skeleton)
            assert tree_weight(grammar, unfold(skeleton)) == pytest.approx(expected, rel=1e-12, abs=1e-18)
            assert weight(model, skeleton) == pytest.approx(expected, rel=1e-12, abs=1e-18)
            n_trees += 1
    assert n_trees > 5


def test_tree_weight_of_the_2012_parameters():
    """Equation (1) of Cohen et al. (2012): q(a -> b c | h) s(h2 | h) t(h3 | h), and the tensors of theorem 1."""
    rng = np.random.default_rng(5)
    (q, s, t), (q_left, q_right) = rng.dirichlet(np.ones(2), (3, 2)), rng.dirichlet(np.ones(3), (2, 2))
    pi, g = rng.dirichlet(np.ones(2)), {a: rng.normal(size=(2, 2)) for a in ("S", "D", "N")}
    back = {a: np.linalg.inv(matrix) for a, matrix in g.items()}
    expected = sum(
        pi[h] * q[h, 0] * s[h, h2] * q_left[h2, 1] * t[h, h3] * q_right[h3, 2]
        for h in range(2)
        for h2 in range(2)
        for h3 in range(2)
    )

    def c(y: np.ndarray) -> np.ndarray:
        return g["N"] @ t.T @ np.diag(y @ g["D"] @ s.T) @ np.diag(q[:, 0]) @ back["S"]

    # C(y) takes f of the left child and, from the left, that of the right one: [right, parent] for each entry of y.
    tensor = np.einsum("bca->abc", np.stack([c(unit) for unit in np.eye(2)]))
    model = Model(
        {"S": g["S"] @ pi},
        {("S", "D", "N"): tensor},
        {("D", "ant"): q_left[:, 1] @ back["D"], ("N", "cat"): q_right[:, 2] @ back["N"]},
    )
    skeleton = Tree("S", (Tree("D", word="ant"), Tree("N", word="cat")))
    assert weight(model, skeleton) == pytest.approx(expected, rel=1e-12)
    grammar = grammar_of(model, one_state(model, 0), is_proper=False)
    assert tree_weight(grammar, skeleton) == pytest.approx(expected, rel=1e-5)


@PROPER
@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_sums_over_trees(seed, proper):
    grammar = random_grammar(seed, proper=proper)
    model = model_of(grammar)
    for words in sentences(seed, 1, 3, 5, 6):
        expected = marginals(model, words, items)
        scale = max(map(abs, expected.values()), default=1.0) / min(cancellation(model, words) or 1.0, 1.0)
        found = inside_outside_marginals(grammar, words)
        assert found.total == pytest.approx(total(model, words), abs=1e-12 * scale)
        assert found.items.shape == (grammar.n_symbols, len(words) + 1, len(words) + 1)
        for (a, i, j), value in expected.items():
            assert found.items[grammar.symbols.index(a), i, j] == pytest.approx(value, abs=1e-12 * scale)
        assert np.count_nonzero(np.abs(found.items) > 1e-12 * scale) <= len(expected)


@pytest.mark.parametrize("seed", range(3))
def test_marginals_do_not_depend_on_the_basis(seed):
    model = random_model(seed)
    other = rebased(model, seed)
    pcfg = one_state(model, seed)
    grammars = grammar_of(model, pcfg, is_proper=True), grammar_of(other, pcfg, is_proper=False)
    for words in sentences(seed, 1, 4, 6):
        for skeleton in all_trees(model, words):
            assert weight(other, skeleton) == pytest.approx(weight(model, skeleton), rel=1e-10)
        one, two = (inside_outside_marginals(grammar, words) for grammar in grammars)
        np.testing.assert_allclose(one.items, two.items, rtol=1e-4, atol=1e-4 * one.total)


def test_tree_log_probability_agrees_with_weight():
    grammar = random_grammar(3, interminals=COMPLETE)
    for words in sentences(3, 4, 6):
        for skeleton in all_trees(model_of(grammar), words):
            value = tree_weight(grammar, unfold(skeleton))
            if value > 0:
                assert tree_log_probability(grammar, unfold(skeleton)) == pytest.approx(np.log(value), rel=1e-12)


def test_tree_log_probability_of_a_deep_tree():
    """A chain of n equal rules has n times the log-probability of one; its probability is no float."""
    grammar = TreebankPCFG().fit(parse_trees(["(S (A a) (S (A a) (S (A a) (B b))))"] * 10))

    def chain(n: int) -> Tree:
        tree = Tree("B", word="b")
        for _ in range(n):
            tree = Tree("S", (Tree("A", word="a"), tree))
        return tree

    logs = [tree_log_probability(grammar, chain(n)) for n in (1, 2, 3, 2_000)]
    assert logs[3] == pytest.approx(logs[0] + 1_999 * (logs[2] - logs[1]), rel=1e-9)
    assert tree_weight(grammar, chain(2_000)) == 0.0
    assert tree_weight(grammar, chain(2)) == pytest.approx(np.exp(logs[1]))


def test_tree_weight_undoes_what_the_learner_does():
    """Chains are collapsed, long nodes binarised, functions, empties and the root label taken off."""
    trees = [
        "(ROOT (S (NP-SBJ (PRP he)) (VP (VBD gave) (NP (PRP her)) (NP (DT a) (NN kiss)))))",
        "(ROOT (S (VP (VB go) (ADVP (RB home)))))",
    ]
    for markov in (0, 1, 2):
        grammar = TreebankPCFG(rules=RuleSettings(markov=markov)).fit(parse_trees(trees))
        for tree in parse_trees(trees):
            assert tree_weight(grammar, tree, markov=markov) > 0.0
    plain = "(S (NP (PRP he)) (VP (VBD gave) (NP (PRP her)) (NP (DT a) (NN kiss)) (NP (-NONE- *T*))))"
    (first,), (second,) = parse_trees(trees[:1]), parse_trees([plain])
    assert tree_weight(grammar, first, markov=2) == tree_weight(grammar, second, markov=2)


@pytest.mark.parametrize(
    "tree",
    [
        "(S (N ant) (V bee))",  # a word that the tag never had
        "(S (D ant) (X bee))",  # a tag
        "(X (D ant) (N bee))",  # a label
        "(S (N bee) (D ant))",  # a rule
        "(D (N bee) (D ant))",  # a tag where a label should be
        "(X (S (X (D ant) (N bee)) (N bee)) (N bee))",
        "(X bee)",
    ],
)
def test_tree_weight_of_what_the_grammar_does_not_have_is_zero(tree):
    model = Model({"S": np.ones(2)}, {("S", "D", "N"): np.full((2, 1, 2), 0.5)}, {})
    model.lexical.update({("D", "ant"): np.ones(1), ("N", "bee"): np.ones(2)})
    grammar = grammar_of(model, one_state(model, 0), is_proper=True)
    (known,), (unknown,) = parse_trees(["(S (D ant) (N bee))"]), parse_trees([tree])
    assert tree_weight(grammar, known) > 0.0
    assert tree_weight(grammar, unknown) == 0.0
    assert tree_log_probability(grammar, unknown) == -np.inf


def test_tree_weight_keeps_tags_and_labels_of_one_name_apart():
    grammar = TreebankPCFG().fit(parse_trees(["(X (X a) (Y (X a) (Y b)))"]))
    (same, other) = parse_trees(["(X (X a) (Y (X a) (Y b)))", "(Y (X a) (X (X a) (Y b)))"])
    assert tree_weight(grammar, same) > 0.0
    assert tree_weight(grammar, other) == 0.0


def test_tree_log_probability_refuses_signed_weights():
    with pytest.raises(ValueError, match="tree_weight"):
        tree_log_probability(random_grammar(0, proper=False), Tree("N", word="ant"))


def test_tree_weight_refuses_a_tree_without_words():
    (tree,) = parse_trees(["(S (NP (-NONE- *)))"])
    with pytest.raises(ValueError, match="empty elements"):
        tree_weight(random_grammar(0), tree)
