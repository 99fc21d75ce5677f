from itertools import product

import pytest

from benchmarks.significance import paired_permutation_test
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.trees import Tree, parse_trees

WAYS = list(product((1, -1), repeat=9))
GOLDS = ["(S (NP (N a) (N b)) (VP (V c)))", "(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (VP (V a) (NP (N b))))"] * 3


def scores(wrong):
    """Return the scores of trees that are flat where they are wrong."""
    golds = list(parse_trees(GOLDS))
    found = [Tree("S", tree.leaves()) if i in wrong else tree for i, tree in enumerate(golds)]
    return evaluate(golds, found).sentences


def f1(chosen):
    counts = [score.brackets for score in chosen]
    return 2 * sum(each.matched for each in counts) / sum(each.n_gold + each.n_test for each in counts)


def test_significance_is_that_of_all_assignments():
    one, other = scores({1}), scores({0, 2, 3, 5})
    gap = abs(f1(one) - f1(other))
    assignments = [
        list(zip(*(pair[::way] for pair, way in zip(zip(one, other, strict=True), ways, strict=True)), strict=True))
        for ways in WAYS
    ]
    expected = sum(abs(f1(a) - f1(b)) >= gap - 1e-12 for a, b in assignments) / len(assignments)
    assert paired_permutation_test(one, other, n_shuffles=20_000) == pytest.approx(expected, abs=0.01)


def test_significance_of_the_same_and_of_the_opposite():
    assert paired_permutation_test(scores(set()), scores(set())) == 1.0
    assert paired_permutation_test(scores(set()), scores(set(range(9)))) < 0.01


def test_significance_needs_pairs():
    with pytest.raises(ValueError, match="9 and 8"):
        paired_permutation_test(scores(set()), scores(set())[:8])
