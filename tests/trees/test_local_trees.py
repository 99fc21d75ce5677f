from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.local_trees import LocalTrees, local_trees, punctuation_tags


def test_local_trees_leave_out_punctuation_and_functions():
    (tree,) = parse_trees("(S (NP-SBJ (DT the) (NN dog)) (, ,) (VP (VBD ran)) (PRN (: -)) (. .))")
    assert list(local_trees(tree, (",", ".", ":"))) == [("S", "NP", "VP", "PRN"), ("NP", "DT", "NN"), ("VP", "VBD")]


def test_local_trees_tell_what_a_treebank_lacks():
    gold, other = parse_trees("(S (NP (NN dogs)) (VP (VBP bark)) (. .)) (S (NP (NN dogs)) (VBP bark) (. .))")
    known = LocalTrees.of_trees([gold])
    assert known.known == {("S", "NP", "VP"), ("NP", "NN"), ("VP", "VBP")}
    assert known.unseen(gold) == []
    assert known.unseen(other) == [("S", "NP", "VBP")]


def test_punctuation_tags_are_those_of_marks():
    counts = {(".", "."): 9, (".", "!"): 2, ("-LRB-", "-LRB-"): 3, ("``", "``"): 1, ("NN", "%"): 4, ("NN", "dog"): 5}
    assert punctuation_tags(counts) == {".", "-LRB-", "``"}
