from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.learning.treebank.local_trees import count_local_trees
from spacy_lpcfg.learning.treebank.skeletons import skeletons
from spacy_lpcfg.trees import normalize, parse_trees
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees, local_trees, punctuation_tags
from tests.oracles.strategies import trees


def test_local_trees_leave_out_punctuation_and_functions():
    (tree,) = parse_trees("(S (NP-SBJ (DT the) (NN dog)) (, ,) (VP (VBD ran)) (PRN (: -)) (. .))")
    assert list(local_trees(tree, (",", ".", ":"))) == [("S", "NP", "VP", "PRN"), ("NP", "DT", "NN"), ("VP", "VBD")]


def test_local_trees_tell_what_a_treebank_lacks():
    gold, other = parse_trees("(S (NP (NN dogs)) (VP (VBP bark)) (. .)) (S (NP (NN dogs)) (VBP bark) (. .))")
    known = LocalTrees.of_trees([gold])
    assert known.as_dict == {("S", "NP", "VP"): 1, ("NP", "NN"): 1, ("VP", "VBP"): 1}
    assert known.unseen(gold) == []
    assert known.unseen(other) == [("S", "NP", "VBP")]
    assert not NO_LOCAL_TREES
    assert known


def test_punctuation_tags_are_those_of_marks():
    counts = {(".", "."): 9, (".", "!"): 2, ("-LRB-", "-LRB-"): 3, ("``", "``"): 1, ("NN", "%"): 4, ("NN", "dog"): 5}
    assert punctuation_tags(counts) == {".", "-LRB-", "``"}


@given(st.lists(trees(), min_size=1, max_size=4), st.integers(0, 2), st.booleans())
def test_local_trees_of_skeletal_trees_are_those_of_the_trees(some, markov, functions):
    normalized = [tree for tree in (normalize(each, functions=functions) for each in some) if tree is not None]
    of_trees = LocalTrees.of_trees(normalized)
    of_skeletons = count_local_trees(skeletons(some, markov=markov, functions=functions))
    assert of_skeletons.as_dict == of_trees.as_dict
    assert of_skeletons.punctuation == of_trees.punctuation
