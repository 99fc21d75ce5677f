"""Differences between treebanks in labels, local trees, and the spelling of words."""

from __future__ import annotations

from spacy_lpcfg.evaluation.conventions import Difference, local_differences, unknown_labels
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.learning.adaptation.spelling import spelling_differences
from spacy_lpcfg.trees import parse_trees

GOLD = "(S (NP (DT the) (NML (NN bus) (NN stop)) (NN sign)) (VP (VBZ is) (ADJP (JJ red))))"
PARSE = "(S (NP (DT the) (NN bus) (NN stop) (NN sign)) (VP (VBZ is) (NP (JJ red))))"


def test_differences_are_those_between_the_children_that_both_sides_share():
    golds, parses = (list(parse_trees(2 * text)) for text in (GOLD, PARSE))
    assert local_differences(golds, parses) == [
        Difference("ADJP, the model NP", 2, "red"),
        Difference("in NP: NML, the model NN NN", 2, "the bus stop sign"),
        Difference("in VP: ADJP, the model NP", 2, "is red"),
    ]
    assert local_differences(golds[:1], parses[:1]) == []
    assert local_differences(golds, golds) == []


def test_differences_of_unary_chains_are_to_the_outermost_label():
    """Whatever the order of a set would be."""
    golds = list(parse_trees(2 * "(S (NP (NN rain)) (VP (VBZ falls)))"))
    labels = [f"L{i}" for i in range(8)]
    chain = "".join(f"({label} " for label in labels)
    parses = list(parse_trees(2 * f"(S {chain}(NN rain){')' * len(labels)} (VP (VBZ falls)))"))
    assert local_differences(golds, parses)[1] == Difference("in S: NP, the model L0", 2, "rain falls")
    assert local_differences(golds, parses)[0] == Difference("NP, the model L0", 2, "rain")


def test_differences_are_labels_that_a_model_lacks():
    golds = list(parse_trees(GOLD))
    assert unknown_labels(golds, {"S", "NP", "VP", "ADJP"}, {"DT", "NN", "VBZ"}) == [
        Difference("label NML, which the model lacks", 1, "bus stop"),
        Difference("tag JJ, which the model lacks", 1, "red"),
    ]


def test_differences_are_hyphens_and_quotation_marks():
    split = list(parse_trees(12 * "(S (NP (JJ well) (HYPH -) (VBN known) (NNS ones)) (VP (VBD left)))"))
    whole = list(parse_trees(12 * '(S (NP (" ") (JJ well-known) (NNS ones) (" ")) (VP (VBD left)))'))
    told = spelling_differences(TreebankPCFG().fit(split), whole)
    assert {(each.what.partition(":")[0], each.n, each.example) for each in told} == {
        ("hyphens that are words", 0, "none"),
        ("words with hyphens", 12, "well-known"),
        ('quotation marks " that do not open or close', 24, '"'),
    }
    assert spelling_differences(TreebankPCFG().fit(whole), whole) == []
