"""The tensor form of Cohen et al. (2012), which many tests compare with, against sums over latent states."""

import numpy as np
import pytest
from grammars import WORDS, random_grammar
from oracles.enumeration import all_trees, model_of, weight, weight_by_states
from oracles.tensor_form import tree_weight

from spacy_lpcfg.trees import Tree
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
