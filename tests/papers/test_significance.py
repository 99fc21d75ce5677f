from itertools import product

import numpy as np
import pytest

from benchmarks.significance import (
    difference_interval,
    evalb_counts,
    f1_interval,
    paired_permutation_test,
    sign_permutation_test,
    unlabelled_counts,
)
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evaluation.unlabelled import score_brackets
from spacy_lpcfg.trees import Tree, parse_trees

WAYS = list(product((1, -1), repeat=9))
GOLDS = ["(S (NP (N a) (N b)) (VP (V c)))", "(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (VP (V a) (NP (N b))))"] * 3


def scores(*wrong_by_seed):
    """Return the counts of trees that are flat where they are wrong, for each seed."""
    golds = list(parse_trees(GOLDS))
    return evalb_counts(
        [
            evaluate(golds, [Tree("S", tree.leaves()) if i in wrong else tree for i, tree in enumerate(golds)])
            for wrong in wrong_by_seed
        ]
    )


def f1(counts):
    return 2 * counts[..., 0].sum() / counts[..., 1:].sum()


def test_significance_is_that_of_all_assignments():
    one, other = scores({1}), scores({0, 2, 3, 5})
    gap = abs(f1(one) - f1(other))
    both = np.stack([one[0], other[0]])
    assignments = [np.stack([both[:, i][::way] for i, way in enumerate(ways)], axis=1) for ways in WAYS]
    expected = sum(abs(f1(a) - f1(b)) >= gap - 1e-12 for a, b in assignments) / len(assignments)
    assert paired_permutation_test(one, other, n_shuffles=20_000) == pytest.approx(expected, abs=0.01)


def test_significance_of_the_same_and_of_the_opposite():
    assert paired_permutation_test(scores(set()), scores(set())) == 1.0
    assert paired_permutation_test(scores(set()), scores(set(range(9)))) < 0.01


def test_significance_takes_the_seeds_of_a_sentence_for_one():
    """The same trees three times tell no more than once."""
    one, other = scores({1}), scores({0, 2, 3, 5})
    once = paired_permutation_test(one, other)
    assert paired_permutation_test(np.repeat(one, 3, axis=0), np.repeat(other, 3, axis=0)) == once


def test_significance_interval_is_that_of_sentences_and_of_seeds():
    """Beside the deviation of a mean, of sentences that have as many brackets each."""
    n = 400
    is_right = np.random.default_rng(0).random(n) < 0.8
    counts = np.stack([10 * is_right, np.full(n, 10), np.full(n, 10)], axis=1)[None]
    interval = f1_interval(counts)
    assert interval.value == pytest.approx(100 * is_right.mean())
    assert (interval.high - interval.low) / 2 == pytest.approx(196 * is_right.std() / n**0.5, rel=0.1)
    worse = counts * [[[0.5, 1, 1]]]
    seeds = f1_interval(np.concatenate([counts, worse]))
    assert seeds.value == pytest.approx(0.75 * interval.value)
    assert seeds.low < worse[..., 0].sum() / n * 10 + 3
    assert seeds.high > interval.value - 3


def test_significance_interval_of_a_difference_is_paired():
    """Sentences that are hard for both do not widen it."""
    hard = scores({0, 2, 3, 5})
    assert str(difference_interval(hard, hard)) == "0.00 (0.00 to 0.00)"
    assert difference_interval(hard, scores({0, 2, 3})).low >= 0
    alone = f1_interval(hard)
    assert alone.low < alone.value < alone.high


def test_significance_counts_unlabelled_brackets_with_those_of_whole_sentences():
    (score,) = [score_brackets({(0, 3), (0, 2)}, {(1, 3)}, [True] * 3)]
    assert unlabelled_counts([score, score]).tolist() == [[[1, 2, 2], [1, 2, 2]]]


def test_significance_of_signs_is_that_of_all_assignments():
    """Of eight ways to sign three differences, two are as far from 0 as all of one sign."""
    assert sign_permutation_test(np.array([1, 0, 2, 3]), n_shuffles=20_000) == pytest.approx(2 / 8, abs=0.01)


def test_significance_needs_pairs():
    with pytest.raises(ValueError, match="9 and 8"):
        paired_permutation_test(scores(set()), scores(set())[:, :8])
    with pytest.raises(ValueError, match="1 and 2"):
        paired_permutation_test(scores(set()), scores(set(), set()))
