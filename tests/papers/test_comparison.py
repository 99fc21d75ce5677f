"""The table of a bracketer beside its rivals: what each system gets to see, and what of it is scored."""

import math

import pytest
from paths import SAMPLE

from benchmarks.papers.comparison import (
    BRACKETER,
    INSIDE_TOP,
    LIMITS,
    RANDOM,
    RIGHT_BRANCHING,
    UPPER_BOUND,
    GoldSentence,
    compare,
    gold_sentences,
)
from spacy_lpcfg.bracketing import Brackets
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.trees import Tree, parse_trees, read_trees

TREES = """
(ROOT (S (`` ``) (NP (DT The) (NN dog)) (, ,) (VP (VBD barked) (PP (IN at) (NP (NNS cats)))) (. .)))
(S (NP-SBJ (-NONE- *)) (VP (VB Go) (ADVP (RB home))) (. !))
(NP (NN Dogs) (. .))
(X (. .) (. .))
"""
BASELINES = ("left-branching", RIGHT_BRANCHING, RANDOM, INSIDE_TOP, "CCM")


@pytest.fixture(scope="module")
def golds() -> list[GoldSentence]:
    return list(gold_sentences(read_trees(SAMPLE / "dev.mrg")))[:40]


@pytest.fixture(scope="module")
def table(golds) -> dict:
    return compare(None, golds)


class Oracle:
    """A bracketer that knows the trees, and remembers what it was asked."""

    def __init__(self, trees: list[Tree]) -> None:
        self.spans = {tuple(tree.words): tuple((i, j) for i, j, _ in tree.spans()) for tree in trees}
        self.asked: list[tuple[str, ...]] = []

    def bracket(self, words, tags) -> Brackets:
        self.asked.append(tuple(words))
        spans = self.spans[tuple(words)]
        return Brackets(spans, (1.0,) * len(spans))


def test_comparison_gold_sentences_are_words_without_punctuation_and_empty_elements():
    first, second = gold_sentences(parse_trees(TREES))
    assert first.tagged.words == ('"', "The", "dog", ",", "barked", "at", "cats", ".")
    assert first.keep == (False, True, True, False, True, True, True, False)
    assert first.gold == {(0, 5), (0, 2), (2, 5), (3, 5)}
    assert first.tags == ["DT", "NN", "VBD", "IN", "NNS"]
    assert (second.tagged.words, second.n_words, second.gold) == (("Go", "home", "!"), 2, {(0, 2)})


def test_comparison_of_an_oracle_finds_everything():
    trees = list(parse_trees("(S (NP (DT The) (NN dog)) (, ,) (VP (VBD saw) (NP (DT a) (NN cat))) (. .))"))
    oracle = Oracle(trees)
    table = compare(oracle.bracket, list(gold_sentences(trees)))
    assert oracle.asked == [("The", "dog", ",", "saw", "a", "cat", ".")]
    assert table[BRACKETER]["10"].as_dict() == {
        "n_sentences": 1, "f": 100, "f_with_sentence": 100, "sentence_f": 100, "sentence_f_with_sentence": 100,
    }  # fmt: skip
    assert table[UPPER_BOUND]["10"].f == pytest.approx(100)
    assert table[INSIDE_TOP]["10"].f == pytest.approx(100)
    assert table["left-branching"]["10"].inner.matched == 1


def test_comparison_has_all_systems_and_limits(golds, table):
    assert set(table) == {*BASELINES, UPPER_BOUND}
    for row in table.values():
        assert list(row) == ["10", "20", "40", "all"] == list(LIMITS)
        for limit, totals in row.items():
            bound = LIMITS[limit] or math.inf
            assert totals.n_sentences == sum(gold.n_words <= bound for gold in golds)
    for limit in LIMITS:
        best = table[UPPER_BOUND][limit]
        for name in BASELINES:
            assert 0 < table[name][limit].f < best.f < best.f_with_sentence < 100


def test_comparison_scores_only_look_at_brackets(golds, table):
    """Gold brackets change what is found by the upper bound alone."""
    flat = [GoldSentence(gold.tagged, gold.keep, frozenset({(0, gold.n_words)})) for gold in golds]
    other = compare(None, flat)
    for name in BASELINES:
        assert [of.inner.n_test for of in table[name].values()] == [of.inner.n_test for of in other[name].values()]


@pytest.mark.slow
def test_comparison_is_repeatable_but_for_the_seed_of_random_trees(golds, table):
    same, other = (compare(None, golds, seed=seed) for seed in (0, 1))
    assert table == same
    assert {name for name in table if table[name] != other[name]} == {RANDOM}


@pytest.mark.slow
def test_comparison_ccm_learns_from_more_text(golds, table):
    text = [TaggedSentence(("a", ",", "b"), ("NN", ",", "DT"))] * 300
    other = compare(None, golds, text=text)
    assert {name for name in table if table[name] != other[name]} == {"CCM"}


def test_comparison_needs_sentences():
    with pytest.raises(ValueError, match="at least two words"):
        compare(None, [])


def test_comparison_is_that_of_another_program(shared_data):
    """With the whole sentence and without, up to 10, 20 and 40 words, on GUM"""
    golds = list(gold_sentences(read_trees(shared_data / "gum" / "dev.mrg")))
    table = compare(None, golds)
    wanted = {
        "left-branching": [(6.4, 28.3), (6.1, 18.0), (4.9, 12.8)],
        RIGHT_BRANCHING: [(63.5, 72.0), (50.0, 56.4), (40.8, 45.7)],
        INSIDE_TOP: [(67.1, 74.8), (54.9, 60.6), (46.7, 51.1)],
        UPPER_BOUND: [(84.9, 88.4), (85.2, 87.1), (85.3, 86.6)],
    }
    for name, figures in wanted.items():
        found = [table[name][limit] for limit in ("10", "20", "40")]
        assert [totals.n_sentences for totals in found] == [569, 1016, 1404]
        for totals, figure in zip(found, figures, strict=True):
            assert (totals.f, totals.f_with_sentence) == pytest.approx(figure, abs=0.16)
