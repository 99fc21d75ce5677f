"""The field's protocol of unsupervised parsing, against examples computed by hand."""

import pytest

from benchmarks.papers.baselines import gold_sentences
from benchmarks.papers.unsupervised import sentence_f1, without_punctuation
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.evaluation.unlabelled import unlabelled_totals
from spacy_lpcfg.trees import parse_trees

FIVE = "(S (NP (DT The) (NN dog)) (, ,) (VP (VBD saw) (NP (DT a) (NN cat))) (. .))"  # (0 2), (2 5), (3 5)
FLAT = "(S (NP (NN Dogs) (NNS bark) (RB loudly)) (. .))"  # only the whole, twice
TWO = "(S (VP (VB Go) (RB home)) (. .))"
ONE = "(S (UH No) (. .))"


def scores(trees: str, *found: list[tuple[int, int]]):
    return [gold.score(spans) for gold, spans in zip(gold_sentences(parse_trees(trees)), found, strict=True)]


@pytest.mark.parametrize(
    ("tree", "found", "f1"),
    [
        (FIVE, [(0, 5), (0, 2), (2, 5), (3, 5)], 100),
        (FIVE, [(0, 5), (1, 5), (2, 5), (3, 5)], 100 * 2 / 3),  # two of three, twice
        (FIVE, [(0, 5), (0, 2), (0, 2), (0, 1)], 100 * 2 * 1 / 3 / (1 + 1 / 3)),  # once each, words do not count
        (FIVE, [(0, 5)], 0),
        (FLAT, [(0, 3)], 100),
        (FLAT, [(0, 3), (1, 3)], 0),
        (TWO, [(0, 2)], 100),
    ],
)
def test_unsupervised_sentence_f1_is_that_of_hand(tree, found, f1):
    assert sentence_f1(scores(tree, found)) == pytest.approx(f1)


def test_unsupervised_sentence_f1_is_a_mean_and_that_of_a_corpus_is_not():
    found = scores(FIVE + FLAT + TWO + ONE, [(1, 5), (2, 5), (3, 5)], [(1, 3)], [])
    assert sentence_f1(found) == pytest.approx((200 / 3 + 0 + 100) / 3)
    assert unlabelled_totals(found).f == pytest.approx(100 * 2 * 2 / (3 + 4))


def test_unsupervised_punctuation_is_taken_out():
    sentence = TaggedSentence(("Go", ",", "now", "!"), ("VB", ",", "RB", "."))
    assert without_punctuation(sentence) == (("Go", "now"), ("VB", "RB"))
