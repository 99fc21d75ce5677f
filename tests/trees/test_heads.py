from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.trees import (
    DEFAULT,
    ENGLISH,
    HeadRules,
    Tree,
    binarize,
    collapse_unaries,
    head_rules,
    lexical_heads,
    normalize,
    parse_trees,
    read_trees,
)

ENGLISH_CATEGORIES = st.sampled_from(["S", "NP", "VP", "PP", "SBAR", "ADJP", "QP", "X", "UNKNOWN"])
ENGLISH_TAGS = st.sampled_from(["NN", "VBD", "IN", "DT", "CD", "JJ", "POS", ",", "-LRB-"])


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "S , CC S .", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "ADVP VBD NP", 1),
        ("NP", "DT NNP NN", 2),
        ("NP", "DT NN CC NN", 1),
        ("NP", "NN , NN , CC NN", 2),
        ("NP", "NN CC NN CC NN", 0),
        ("NP", "NP POS", 1),
        ("NP", "NP , SBAR", 0),
        ("NP", "DT JJ", 1),
        ("NP", "-LRB- FW -RRB-", 1),
        ("PP", "ADVP IN NP", 1),
        ("SBAR", "WHNP S", 0),
        ("SINV", "`` S '' VBD NP", 3),
        ("QP", "RB $ CD CD", 1),
        ("UCP", "ADJP CC NP", 0),
        ("UCP", "ADJP .", 0),
        ("FRAG", "NP PP .", 1),
        ("ROOT", "NP S", 1),
        ("UNKNOWN", "A UNKNOWN UNKNOWN", 1),
        ("UNKNOWN", ", A B", 1),
        ("UNKNOWN", ", .", 0),
        ("NP", ", .", 1),
        ("NP", "CC", 0),
    ],
)
def test_heads_of_english_nodes(label, children, head):
    assert ENGLISH.head(label, children.split()) == head


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP-SBJ-1", ["DT", "NN"], 1),
        ("S=2", ["NP-SBJ=3", "VP-TPC", "."], 1),
        ("S|VP", ["VBD", "NP"], 0),  # the children are those of the VP
        ("S", ["NP|PRP", "VP|VBD"], 1),  # as categories, not as tags
        (r"ADVP\|PRT", ["RB", "RP"], 0),
        ("S", ["NP", "@S"], 1),
        ("@S->_NP", ["VP", "."], 0),
        ("PP", ["@PP->_NP", "NP"], 0),
        ("NP", ["DT", "@NP"], 1),
    ],
)
def test_heads_of_labels_with_functions_chains_and_new_nodes(label, children, head):
    assert ENGLISH.head(label, children) == head


def test_heads_of_other_languages():
    assert head_rules("en") is ENGLISH
    assert head_rules("ca") is DEFAULT
    assert DEFAULT.head("sn", ["espec.ms", "grup.nom"]) == 0
    assert DEFAULT.head("S", ["sn-SUJ", "S", "Fp"]) == 1
    assert DEFAULT.head("S", ["$,", "$(", "VVFIN"]) == 2
    assert HeadRules(side="right").head("NP", ["N", "P", "."]) == 1


def test_heads_need_children():
    with pytest.raises(ValueError, match="'NP' has none"):
        ENGLISH.head("NP", [])


def test_lexical_heads_of_a_sentence():
    text = "(ROOT (S (NP (NP (DT The) (NN cat)) (PP (IN of) (NP (PRP me)))) (VP (VBD slept)) (. .)))"
    (tree,) = parse_trees(text)
    heads = [(node.label, tree.words[head]) for node, head in zip(tree.nodes(), lexical_heads(tree), strict=True)]
    assert heads == [
        ("ROOT", "slept"),
        ("S", "slept"),
        ("NP", "cat"),
        ("NP", "cat"),
        ("DT", "The"),
        ("NN", "cat"),
        ("PP", "of"),
        ("IN", "of"),
        ("NP", "me"),
        ("PRP", "me"),
        ("VP", "slept"),
        ("VBD", "slept"),
        (".", "."),
    ]


@given(trees(), st.sampled_from([ENGLISH, DEFAULT, HeadRules(side="right")]))
def test_lexical_heads_lie_inside_and_come_from_a_child(tree, rules):
    heads = lexical_heads(tree, rules)
    spans = iter(tree.spans())
    positions = iter(range(len(tree)))
    for node, head in zip(tree.nodes(), heads, strict=True):
        start, end, _ = (next(positions), 0, "") if node.is_leaf else next(spans)
        assert head == start if node.is_leaf else start <= head < end


@given(
    trees(ENGLISH_CATEGORIES, ENGLISH_TAGS),
    st.sampled_from(["left", "right"]),
    st.sampled_from([ENGLISH, DEFAULT]),
)
def test_lexical_heads_do_not_depend_on_transforms(tree, direction, rules):
    """True because no coordinator is among the tags."""
    expected = dict(zip(tree.spans(), inner_heads(tree, rules), strict=True))
    binary = binarize(collapse_unaries(tree), direction=direction)
    for (start, end, label), head in zip(binary.spans(), inner_heads(binary, rules), strict=True):
        if not label.startswith("@"):
            assert expected[start, end, label.rpartition("|")[2]] == head


def inner_heads(tree: Tree, rules: HeadRules) -> list[int]:
    heads = zip(tree.nodes(), lexical_heads(tree, rules), strict=True)
    return [head for node, head in heads if not node.is_leaf]


def test_lexical_heads_depth_is_bounded_by_memory_only():
    tree = Tree("NN", word="x")
    for _ in range(5_000):
        tree = Tree("VP", [Tree("VB", word="y"), tree])
    assert lexical_heads(tree)[0] == 0
    assert lexical_heads(tree, DEFAULT)[0] == 4_999


def test_lexical_heads_of_a_treebank_are_verbs_of_sentences(shared_data):
    n_sentences = n_verbs = 0
    for tree in map(normalize, read_trees(shared_data / "wsj_sample" / "dev.mrg")):
        if tree is not None and tree.label == "S":
            n_sentences += 1
            n_verbs += tree.tags[lexical_heads(tree)[0]][:1] in "VMT"
    assert n_verbs > 0.97 * n_sentences
