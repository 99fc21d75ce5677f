"""Alternative trees: the best of each bracketing, and what differs."""

import pytest

from spacy_lpcfg.parsing.alternatives import best_bracketings, doubtful_brackets, show_span, tree_difference
from spacy_lpcfg.parsing.result import Analysis
from spacy_lpcfg.trees import parse_trees

TREES = [
    *parse_trees(
        "(S (NP (PRP her)) (VP (NN duck))) (S (NP (PRP$ her)) (VP (NN duck))) (S (NP (PRP$ her)) (VP (VB duck)))"
        "(S (NP (PRP$ her) (NN duck))) (NP (PRP$ her) (NN duck)) (NP (NP (PRP$ her) (NN duck)))"
    )
]
RANKED = [Analysis(tree, -float(i), 0.5**i) for i, tree in enumerate(TREES, start=1)]


@pytest.mark.parametrize(("n", "places"), [(1, [0]), (2, [0, 3]), (3, [0, 3, 4]), (4, [0, 3, 4, 5]), (9, [0, 3, 4, 5])])
def test_alternatives_are_the_best_of_each_bracketing(n, places):
    asked = []
    found = best_bracketings(lambda n: asked.append(n) or RANKED[:n], n)
    assert found == [RANKED[i] for i in places]
    assert asked == [n, 4 * n][: len(asked)]


def test_alternatives_end_where_nothing_but_tags_differs():
    asked = []
    assert len(best_bracketings(lambda n: asked.append(n) or RANKED[:1] * n, 5)) == 1
    assert asked == [5, 20]


def test_alternatives_differ_in_brackets_and_tags():
    assert tree_difference(TREES[0], TREES[0]) == ([], [])
    assert tree_difference(TREES[0], TREES[2]) == ([(0, 1, "PRP$"), (1, 2, "VB")], [(0, 1, "PRP"), (1, 2, "NN")])
    assert tree_difference(TREES[4], TREES[5]) == ([(0, 2, "NP")], [])  # one more in a unary chain


def test_alternatives_show_the_words_of_a_span():
    words = ["the", "old", "ferry", "on", "the", "lake"]
    assert show_span(words, (0, 4, "NP")) == "NP(the old ferry on)"
    assert show_span(words, (0, 6, "NP")) == "NP(the old ... lake)"


def test_doubtful_brackets_have_rivals_that_stand_in_no_tree_with_them():
    scores = [((0, 5, "S"), 0.99), ((0, 1, "NP"), 0.79), ((1, 5, "VP"), 0.8), ((2, 5, "NP"), 0.6)]
    likely = {(0, 1, "ADVP"): 0.1, (0, 1, "INTJ"): 0.04, (1, 3, "VP"): 0.3, (2, 4, "NP"): 0.05, (2, 5, "S"): 0.2}
    doubtful = doubtful_brackets(scores, {**dict(scores), **likely, (3, 5, "NP"): 0.3})
    assert [each for each in doubtful if each.is_in_tree] == [
        ((0, 1, "NP"), 0.79, {(0, 1, "ADVP"): 0.1}, True),
        ((2, 5, "NP"), 0.6, {(1, 3, "VP"): 0.3, (2, 5, "S"): 0.2}, True),
    ]
    (rivals,) = (each.rivals for each in doubtful if each.bracket == (2, 5, "NP"))
    assert list(rivals) == [(1, 3, "VP"), (2, 5, "S")]
    assert doubtful_brackets(scores, {}, threshold=0.6) == []
    assert doubtful_brackets(scores, {}, threshold=0.7) == [((2, 5, "NP"), 0.6, {}, True)]


def test_doubtful_brackets_may_be_missing_from_the_tree():
    scores = [((0, 5, "S"), 0.99), ((1, 5, "VP"), 0.9), ((2, 3, "NP"), 0.6)]
    others = {(1, 3, "VP"): 0.25, (2, 5, "NP"): 0.35, (3, 5, "NP"): 0.2, (2, 3, "ADVP"): 0.22}
    found = doubtful_brackets(scores, {**dict(scores), **others})
    assert found == [
        ((1, 3, "VP"), 0.25, {(2, 5, "NP"): 0.35}, False),
        ((2, 5, "NP"), 0.35, {(1, 3, "VP"): 0.25}, False),
        ((2, 3, "NP"), 0.6, {(2, 3, "ADVP"): 0.22}, True),
        ((2, 3, "ADVP"), 0.22, {(2, 3, "NP"): 0.6}, False),
    ]
    assert [each.bracket for each in doubtful_brackets(scores, others, threshold=0.7)] == [(2, 5, "NP"), (2, 3, "NP")]
    assert doubtful_brackets(scores, others, threshold=0.0) == []
    unlikely = doubtful_brackets(scores, {(0, 1, "X"): 0.04}, threshold=1.0)
    assert [(each.bracket, each.probability) for each in unlikely] == scores
