"""Unlabelled scores: by hand, against EVALB without labels, and on the baselines that the literature knows."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.evaluation.evalb import PRF, Params, score_sentence
from spacy_lpcfg.evaluation.unlabelled import counted_brackets, score_brackets, unlabelled_totals
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.transforms import collapse_unaries

PUNCTUATION = frozenset({",", "."})


def spans(tree: Tree) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _ in tree.spans()]


def score(gold: Tree, test: Tree):
    return score_brackets(spans(gold), spans(test), [tag not in PUNCTUATION for tag in gold.tags])


def test_unlabelled_counts_by_hand():
    gold, test = parse_trees(
        """
        (S (NP (N Dogs)) (, ,) (VP (VP (V bark) (PP (P at) (NP (N cats)))) (. .)))
        (S (X (X (N Dogs) (, ,)) (V bark)) (X (P at) (N cats)) (. .))
        """
    )
    found = score(gold, test)
    assert counted_brackets(spans(gold), [True, False, True, True, True, False]) == {(0, 4), (1, 4), (2, 4)}
    assert (found.length, found.inner, found.with_sentence) == (4, PRF(1, 2, 2), PRF(2, 3, 3))
    totals = unlabelled_totals([found])
    assert totals.f == totals.sentence_f == 50
    assert totals.f_with_sentence == pytest.approx(200 / 3)


def test_unlabelled_whole_sentence_counts_whether_it_is_bracketed_or_not():
    assert score_brackets([(0, 3)], [], [True] * 3) == score_brackets([], [(0, 3)], [True] * 3)
    assert score_brackets([], [], [True] * 3).with_sentence == PRF(1, 1, 1)


@pytest.mark.parametrize("keep", [[], [True], [False, False], [False, True, False]])
def test_unlabelled_sentences_of_a_word_or_less_do_not_count(keep):
    totals = unlabelled_totals([score_brackets([(0, len(keep))], [(0, len(keep))], keep)])
    assert totals.as_dict() == {
        "n_sentences": 0, "f": 0, "f_with_sentence": 0, "sentence_f": 0, "sentence_f_with_sentence": 0,
    }  # fmt: skip


def test_unlabelled_totals_are_of_brackets_and_of_sentences():
    right = score_brackets([(0, 2)], [(0, 2)], [True] * 3)
    wrong = score_brackets([(1, 3), (1, 4), (1, 5)], [(0, 2), (0, 3), (0, 4)], [True] * 5)
    flat = score_brackets([], [(0, 2)], [True] * 3)
    pair = score_brackets([], [], [True] * 2)
    assert unlabelled_totals([right, wrong]).f == pytest.approx(25)
    assert unlabelled_totals([right, wrong]).sentence_f == pytest.approx(50)
    assert unlabelled_totals([flat]).sentence_f == 0
    assert unlabelled_totals([pair]).sentence_f == 100
    limited = unlabelled_totals([right, wrong, flat, pair], 3)
    assert limited.n_sentences == 3
    assert limited.sentence_f == pytest.approx(200 / 3)


@given(
    trees(categories=st.sampled_from(["A", "B"]), tags=st.sampled_from(["N", "V", ",", "."])),
    st.randoms(use_true_random=False),
)
def test_unlabelled_counts_are_those_of_evalb_without_labels(gold, shuffler):
    """Where no span is bracketed twice, once punctuation and brackets of one word are gone."""
    test = _random_tree(gold, shuffler)
    params = Params(labeled=False)
    both = [_counted(tree) for tree in (gold, test)]
    found = score(gold, test)
    if found.length > 1:
        assert found.with_sentence == score_sentence(*both, params).brackets


def _random_tree(gold: Tree, shuffler: random.Random) -> Tree:
    """A binary tree over the words of another."""
    nodes = gold.leaves()
    while len(nodes) > 1:
        at = shuffler.randrange(len(nodes) - 1)
        nodes[at : at + 2] = [Tree("X", nodes[at : at + 2])]
    return nodes[0]


def _counted(tree: Tree) -> Tree | None:
    """The tree of the words that count, without unary nodes, and with a bracket of the whole."""

    def prune(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return None if node.label in PUNCTUATION else node
        rest = [child for child in children if child is not None]
        return Tree("X", rest) if rest else None

    pruned = tree.fold(prune)
    return collapse_unaries(pruned) if pruned else None
