"""The benchmark of local trees counts sentences once for each pattern, and compares with the model's treebank."""

import pytest

from benchmarks.accuracy.local_trees import PATTERNS, matching_trees, row, strangeness
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.local_trees import LocalTrees

GOOD = """
(S (NP (PRP I)) (VP (VBD had) (VP (VBN known) (NP (PRP him)))) (. .))
(S (NP (PRP I)) (VP (VBD ate) (PP (IN at) (NP (NN home)))) (, ,) (CC and) (NP (PRP I)) (VP (VBD slept)))
(S (NP (NNS dogs)) (VP (VBD came) (CC and) (VBD went) (ADVP (RB away))))
(S (NP (PRP it)) (VP (VBD came) (PP (PP (IN from) (NP (NNP Rome))) (CC or) (PP (IN from) (NP (NNP Ulm))))))"""


@pytest.mark.parametrize(
    ("tree", "name"),
    [
        ("(S (VBD Had) (NP (PRP I)) (VP (VBN known)))", "skeleton"),
        ("(FRAG (NP (PRP I)) (DT the) (ADJP (JJ old)))", "skeleton"),
        ("(S (VP (VB take) (NP (PRP it)) (IN for)))", "skeleton"),
        ("(S (NP (PRP I)) (VP (VP (NP (PRP it)) (VBD took)) (CC and) (VP (VBD went))))", "skeleton"),
        ("(S (VP (VB go) (PP (PP (IN to) (NP (NNP Rome))))))", "PP over PP"),
        ("(S (NP (PRP I)) (VP (NP (NN water))))", "VP without a verb"),
        ("(S (NP (PRP she)) (VP (VBD called) (VP (VBD left) (NP (PRP him)))))", "main verb swallowed"),
        ("(S (VP (VB see) (NP (PRP him)) (CC and) (S (VP (VB go)))))", "mixed coordination"),
        ("(S (NP (PRP I)) (VP (VBD came)) (CC and) (VP (VBD went)))", "mixed coordination"),
        ("(S (NP (PRP I)) (VP (VBD came) (CC and) (VP (VBD went))))", "mixed coordination"),
    ],
)
def test_local_trees_benchmark_finds_what_looks_wrong(tree, name):
    trees = list(parse_trees(f"{GOOD}{tree}{tree}"))
    assert matching_trees(trees) == {pattern: {4, 5} if pattern == name else set() for pattern in PATTERNS}


def test_local_trees_benchmark_counts_local_trees_and_sentences():
    known = LocalTrees.of_trees(parse_trees(GOOD))
    golds = list(parse_trees(GOOD))
    assert set(strangeness(golds, known).values()) == {0.0}
    skeleton, *others = parse_trees("(S (NP (PRP I)) (VBD had) (VP (VBN known) (NP (PRP him))) (. .))"), *golds[1:]
    found = row("m", "mbr", golds, [*skeleton, *others], known)
    n_local_trees = 4 + 7 + 4 + 8
    assert found["right, %"] == 75
    assert found["unseen local trees, %"] == pytest.approx(100 / n_local_trees)
    assert found["sentences with any, %"] == found["skeleton, %"] == found["any pattern, %"] == 25
    assert found["PP over PP, %"] == 0
