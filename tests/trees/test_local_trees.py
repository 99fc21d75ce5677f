from itertools import pairwise

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


def test_local_trees_tell_auxiliaries_from_other_verbs():
    had = "(S (NP (PRP I)) (VP (VBD Had) (VP (VBN been))))"
    saw = "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP it))))"
    trees = [*parse_trees(20 * had + 20 * saw), *parse_trees("(S (NP (PRP I)) (VP (VBD did) (VP (VB go))))")]
    local = LocalTrees.of_trees(trees)
    assert local.auxiliaries == ("VBD had",)
    assert local.id_of_word("VBD", "had") == local.id_of_word("VBD", "HAD") == local.symbols.index("VBD^")
    assert local.id_of_word("VBD", "did") == local.id_of_word("VBD", "unknown") == local.symbols.index("VBD")
    assert local.id_of_word("VBZ", "has") is None
    counts = {tuple(local.symbols[i] for i in rule): n for rule, n in zip(_rules(local), local.counts, strict=True)}
    assert counts["VP", "VBD^", "VP"] == counts["VP", "VBD", "NP"] == 20
    assert counts["VP", "VBD", "VP"] == 1
    assert local.as_dict["VP", "VBD", "VP"] == 21
    assert local.unseen(trees[0]) == []


def _rules(local):
    return [local.rules[start:end] for start, end in pairwise(local.offsets)]


def test_punctuation_tags_are_those_of_marks():
    counts = {(".", "."): 9, (".", "!"): 2, ("-LRB-", "-LRB-"): 3, ("``", "``"): 1, ("NN", "%"): 4, ("NN", "dog"): 5}
    assert punctuation_tags(counts) == {".", "-LRB-", "``"}


@given(st.lists(trees(), min_size=1, max_size=4), st.integers(0, 2), st.booleans(), st.sampled_from([1, 30]))
def test_local_trees_of_skeletal_trees_are_those_of_the_trees(some, markov, functions, times):
    some = times * some
    normalized = [tree for tree in (normalize(each, functions=functions) for each in some) if tree is not None]
    of_trees = LocalTrees.of_trees(normalized)
    of_skeletons = count_local_trees(skeletons(some, markov=markov, functions=functions))
    assert of_skeletons.symbols == of_trees.symbols
    assert of_skeletons.as_dict == of_trees.as_dict
    assert of_skeletons.rules.tolist() == of_trees.rules.tolist()
    assert of_skeletons.punctuation == of_trees.punctuation
    assert of_skeletons.auxiliaries == of_trees.auxiliaries
