"""Grammars from trees that nobody annotated."""

import random

import pytest

from spacy_lpcfg.bracketing import Brackets
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.learning.induction import Induction, bracketed_tree
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, parse_trees


def test_induction_makes_trees_of_brackets():
    brackets = Brackets(((0, 5), (0, 2), (3, 5)), (1.0, 0.9, 0.8))
    tree = bracketed_tree(["the", "dog", ",", "it", "barks", "."], ["DT", "NN", ",", "PRP", "VBZ", "."], brackets)
    expected = "(S (X (X (DT the) (NN dog)) (, ,) (X (PRP it) (VBZ barks))) (. .))"
    assert tree == next(iter(parse_trees(expected)))
    assert str(bracketed_tree(["go"], ["VB"], Brackets((), ()))) == "(S (VB go))"


def treebank(n_right: int, n_wrong: int) -> list[Tree]:
    rng = random.Random(0)
    shapes = ["(S (X (D the) (N {n})) (V {v}))"] * n_right + ["(S (D the) (X (N {n}) (V {v})))"] * n_wrong
    lines = (shape.format(n=rng.choice("abcd"), v=rng.choice("efgh")) for shape in shapes)
    return list(parse_trees("\n".join(lines)))


def test_induction_learns_from_its_own_trees():
    """The rarer of two trees of equal tags is gone after a round."""
    trees = treebank(40, 20)
    once, twice = (Induction(TreebankPCFG(), n_rounds=n).fit(trees) for n in (1, 2))
    wrong = next(iter(parse_trees("(S (D the) (X (N a) (V e)))")))
    assert make_parser(once).tree_log_probability(wrong) > make_parser(twice).tree_log_probability(wrong)
    parse = make_parser(twice).parse(["the", "a", "e"]).tree
    assert {(start, end) for start, end, _ in parse.spans()} == {(0, 3), (0, 2)}


def test_induction_of_one_round_is_its_learner():
    trees = treebank(10, 2)
    assert Induction(TreebankPCFG(), n_rounds=1).fit(trees).to_bytes() == TreebankPCFG().fit(trees).to_bytes()


def test_induction_refuses_no_rounds():
    with pytest.raises(ValueError, match="n_rounds"):
        Induction(n_rounds=0)
