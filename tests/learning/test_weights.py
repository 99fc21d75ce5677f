"""Weights of trees."""

import numpy as np
import pytest

from spacy_lpcfg.learning import EM, Clusters, Pivot, Spectral, SplitMerge, StepwiseEM, TreebankPCFG
from spacy_lpcfg.learning.induction import Induction
from spacy_lpcfg.learning.weights import copies, is_annotated, weighted_trees
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.transforms import normalize

TREES = list(
    parse_trees(
        [
            "(S (NP (DT the) (NN dog)) (VP (VB barked)))",
            "(S (NP (DT a) (NN cat)) (VP (VB slept) (ADVP (RB well))))",
            "(S (NP (PRP it)) (VP (VB saw) (NP (DT the) (NN cat))))",
        ]
    )
)
LEARNERS = (
    TreebankPCFG(),
    Spectral(n_states=2, tokens_per_state=0.0),
    Pivot(n_states=2, tokens_per_state=0.0),
    Clusters(n_states=2, tokens_per_state=0.0),
    EM(n_states=2, n_iterations=2),
    SplitMerge(n_states=2, tokens_per_state=0.0),
    StepwiseEM(EM(n_states=2, n_iterations=1)),
    Induction(TreebankPCFG(), n_rounds=1),
)


def test_trees_of_which_nothing_remains_go_with_their_weights():
    (empty,) = parse_trees(["(S (-NONE- *))"])
    kept, values = weighted_trees([TREES[0], empty, TREES[1]], [3, 2, 1], normalize)
    assert kept == TREES[:2]
    assert values.tolist() == [3, 1]
    assert weighted_trees([TREES[0], empty], None, normalize) == (TREES[:1], None)


def test_lightest_trees_count_once():
    assert copies(np.array([0.5, 1.0, 0.4999999])).tolist() == [1, 2, 1]
    assert copies(np.array([])).tolist() == []
    assert is_annotated(np.array([2.0, 1.0, 2.0])).tolist() == [True, False, True]


@pytest.mark.parametrize("weights", [[1, 2], [1, 2, 0], [1, 2, np.nan], [1, 2, -1]], ids=str)
def test_weights_that_cannot_be_are_refused(weights):
    with pytest.raises(ValueError, match=r"Expected (a weight for each of 3 trees|weights of trees that are finite)"):
        weighted_trees(TREES, weights, normalize)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learner_counts_trees_as_often_as_they_weigh(learner):
    """A tree of twice the weight as if it came twice, but for words, which are no more frequent."""
    weighted, alone = (learner.fit(TREES, weights=weights) for weights in ([1, 1, 2], None))
    by_hand = learner.fit([TREES[2], *TREES])
    np.testing.assert_allclose(weighted.rule_weights, by_hand.rule_weights)
    np.testing.assert_allclose(weighted.root_weights, by_hand.root_weights)
    assert weighted.lexicon.terminals == alone.lexicon.terminals
    assert not np.allclose(weighted.symbol_weights, alone.symbol_weights)


def test_equal_weights_are_as_good_as_none():
    assert Pivot(n_states=2).fit(TREES, weights=[3.0] * 3).to_bytes() == Pivot(n_states=2).fit(TREES).to_bytes()
