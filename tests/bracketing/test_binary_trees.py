"""Sums and maxima over binary trees, the baselines and the upper bound, against the list of all binary trees."""

import itertools
from collections import Counter

import numpy as np
import pytest
from oracles.binary_trees import Spans, all_trees

from benchmarks.papers.baselines import (
    left_branching,
    random_branching,
    right_branching,
    right_branching_inside_top,
    upper_bound,
)
from benchmarks.papers.ccm_model import span_marginals
from spacy_lpcfg.bracketing.binary_trees import best_tree
from spacy_lpcfg.trees import Tree


def weights_of(n_words: int, seed: int, n_sentences: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=2, size=(n_sentences, n_words + 1, n_words + 1))


def weight(log_weights: np.ndarray, spans: Spans) -> float:
    return sum(log_weights[span] for span in spans) + sum(np.diag(log_weights, k=1))


def is_binary_tree(n_words: int, spans: list[tuple[int, int]]) -> bool:
    tree = Tree.from_spans(["w"] * n_words, ["T"] * n_words, [(i, j, "X") for i, j in spans])
    return [(i, j) for i, j, _ in tree.spans()] == spans and all(len(n.children) in (0, 2) for n in tree.nodes())


@pytest.mark.parametrize("n_words", range(1, 8))
def test_binary_trees_marginals_are_those_of_all_trees(n_words):
    log_weights = weights_of(n_words, seed=n_words, n_sentences=3)
    for found, square in zip(span_marginals(log_weights), log_weights, strict=True):
        wanted, total = np.zeros_like(square), 0.0
        for spans in all_trees(0, n_words):
            probability = np.exp(weight(square, spans))
            total += probability
            for span in [*spans, *((i, i + 1) for i in range(n_words))]:
                wanted[span] += probability
        np.testing.assert_allclose(found, wanted / total, atol=1e-12)


@pytest.mark.parametrize("n_words", range(1, 8))
def test_binary_trees_best_is_the_best_of_all(n_words):
    for seed in range(5):
        (log_weights,) = weights_of(n_words, seed)
        wanted = max(all_trees(0, n_words), key=lambda spans: weight(log_weights, spans))
        assert best_tree(log_weights) == list(wanted)


def test_binary_trees_of_equal_ones_takes_that_of_first_splits():
    assert best_tree(np.zeros((7, 7))) == list(next(all_trees(0, 6))) == right_branching(6)


def test_binary_trees_refuses_other_weights():
    assert best_tree(np.zeros((1, 1))) == best_tree(np.zeros((2, 2))) == []
    for wrong in (np.zeros((3, 4)), np.zeros(3), np.full((3, 3), np.nan), np.full((3, 3), -np.inf)):
        with pytest.raises(ValueError, match="Expected"):
            best_tree(wrong)


# Baselines


@pytest.mark.parametrize("n_words", range(9))
def test_baselines_are_binary_trees(n_words):
    random = np.random.default_rng(0)
    trees = [left_branching(n_words), right_branching(n_words), random_branching(n_words, random)]
    trees += [right_branching_inside_top(n_words, split) for split in range(n_words + 1)]
    trees.append(upper_bound(n_words, []))
    for spans in trees:
        assert spans == [] if n_words < 2 else is_binary_tree(n_words, spans)


def test_baselines_by_hand():
    assert left_branching(4) == [(0, 4), (0, 3), (0, 2)]
    assert right_branching(4) == [(0, 4), (1, 4), (2, 4)]
    assert right_branching_inside_top(6, 3) == [(0, 6), (0, 3), (1, 3), (3, 6), (4, 6)]
    assert right_branching_inside_top(4, 1) == right_branching_inside_top(4, 0) == right_branching(4)


def test_baselines_random_draws_all_splits_alike():
    """Of the five trees of four words the balanced one has a third, as the split in the middle has."""
    random = np.random.default_rng(0)
    counts = Counter(tuple(random_branching(4, random)) for _ in range(3_000))
    assert set(counts) == set(all_trees(0, 4))
    assert counts[(0, 4), (0, 2), (2, 4)] / 3_000 == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize("n_words", range(2, 7))
def test_baselines_upper_bound_has_most_gold_brackets_of_all(n_words):
    """Also of brackets that cross, as no treebank has them."""
    random = np.random.default_rng(n_words)
    everything = list(itertools.combinations(range(n_words + 1), 2))
    for _ in range(10):
        gold = [everything[i] for i in random.choice(len(everything), size=n_words)]
        most = max(len(set(gold) & set(spans)) for spans in all_trees(0, n_words))
        assert len(set(gold) & set(upper_bound(n_words, gold))) == most
