"""Gold brackets and baselines: what each system gets to see, and what of it is scored."""

import pytest
from paths import SAMPLE

from benchmarks.papers.baselines import (
    INSIDE_TOP,
    LEFT_BRANCHING,
    RANDOM,
    RIGHT_BRANCHING,
    UPPER_BOUND,
    GoldSentence,
    baselines,
    gold_sentences,
)
from spacy_lpcfg.evaluation.unlabelled import unlabelled_totals
from spacy_lpcfg.trees import parse_trees, read_trees

TREES = """
(ROOT (S (`` ``) (NP (DT The) (NN dog)) (, ,) (VP (VBD barked) (PP (IN at) (NP (NNS cats)))) (. .)))
(S (NP-SBJ (-NONE- *)) (VP (VB Go) (ADVP (RB home))) (. !))
(NP (NN Dogs) (. .))
(X (. .) (. .))
"""


def totals(golds, name, limit=None, seed=0):
    return unlabelled_totals([gold.score(baselines(seed)[name](gold)) for gold in golds], limit)


@pytest.fixture(scope="module")
def golds() -> list[GoldSentence]:
    return list(gold_sentences(read_trees(SAMPLE / "dev.mrg")))[:40]


def test_baselines_gold_sentences_are_words_without_punctuation_and_empty_elements():
    first, second = gold_sentences(parse_trees(TREES))
    assert first.tagged.words == ('"', "The", "dog", ",", "barked", "at", "cats", ".")
    assert first.keep == (False, True, True, False, True, True, True, False)
    assert first.gold == {(0, 5), (0, 2), (2, 5), (3, 5)}
    assert first.tags == ["DT", "NN", "VBD", "IN", "NNS"]
    assert (second.tagged.words, second.n_words, second.gold) == (("Go", "home", "!"), 2, {(0, 2)})


def test_baselines_are_scored_by_hand():
    tree = "(S (NP (DT The) (NN dog)) (, ,) (VP (VBD saw) (NP (DT a) (NN cat))) (. .))"
    golds = list(gold_sentences(parse_trees(tree)))
    assert totals(golds, UPPER_BOUND).f == pytest.approx(100)
    assert totals(golds, INSIDE_TOP).f == pytest.approx(100)
    assert totals(golds, LEFT_BRANCHING).inner.matched == 1


def test_baselines_only_the_upper_bound_looks_at_gold_brackets(golds):
    flat = [GoldSentence(gold.tagged, gold.keep, frozenset({(0, gold.n_words)})) for gold in golds]
    for name in baselines():
        of, other = totals(golds, name), totals(flat, name)
        assert name == UPPER_BOUND or of.inner.n_test == other.inner.n_test
        assert name == UPPER_BOUND or 0 < of.f < totals(golds, UPPER_BOUND).f < 100


def test_baselines_repeat_but_for_the_seed_of_random_trees(golds):
    for name in baselines():
        assert totals(golds, name) == totals(golds, name)
        assert (totals(golds, name) == totals(golds, name, seed=1)) == (name != RANDOM)


def test_baselines_are_those_of_another_program(shared_data):
    """With the whole sentence and without, up to 10, 20 and 40 words, on GUM"""
    golds = list(gold_sentences(read_trees(shared_data / "gum" / "dev.mrg")))
    wanted = {
        LEFT_BRANCHING: [(6.4, 28.3), (6.1, 18.0), (4.9, 12.8)],
        RIGHT_BRANCHING: [(63.5, 72.0), (50.0, 56.4), (40.8, 45.7)],
        INSIDE_TOP: [(67.1, 74.8), (54.9, 60.6), (46.7, 51.1)],
        UPPER_BOUND: [(84.9, 88.4), (85.2, 87.1), (85.3, 86.6)],
    }
    for name, figures in wanted.items():
        found = [totals(golds, name, limit) for limit in (10, 20, 40)]
        assert [of.n_sentences for of in found] == [569, 1016, 1404]
        for of, figure in zip(found, figures, strict=True):
            assert (of.f, of.f_with_sentence) == pytest.approx(figure, abs=0.16)
