"""Constraints by dependencies: the brackets that they tell, and trees that have these."""

import pytest

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.parsing.constraints import ANY
from spacy_lpcfg.parsing.dependency_constraints import DependencyAnnotator, dependency_constraints
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.dependency_sentences import DependencySentence

PARTS = {
    "N": "NOUN",
    "V": "VERB",
    "P": "PRON",
    "I": "ADP",
    "D": "DET",
    "W": "DET",
    "M": "AUX",
    "R": "ADV",
    "C": "CCONJ",
}


def sentence(text):
    """Read words as word/tag/head/relation, the number of the head from 1; 0 for the root."""
    words, tags, heads, relations = zip(*(item.rsplit("/", 3) for item in text.split()), strict=True)
    parts = tuple(PARTS.get(tag[0], "PUNCT") for tag in tags)
    return DependencySentence(
        words, tags, parts, ("_",) * len(words), tuple(int(head) - 1 for head in heads), relations
    )


CASES = [
    ("The/DT/2/det ferry/NN/5/nsubj to/IN/4/case Oban/NNP/2/nmod left/VBD/0/root the/DT/7/det town/NN/5/obj "
     "././5/punct",
     "(S (NP (NP (DT The) (NN ferry)) (PP (IN to) (NP (NNP Oban)))) (VP (VBD left) (NP (DT the) (NN town))) (. .))",
     {(0, 4, "NP"), (2, 4, "PP"), (5, 7, "NP"), (4, 7, "VP")}),
    ("She/PRP/3/nsubj will/MD/3/aux say/VB/0/root that/IN/6/mark it/PRP/6/nsubj rained/VBD/3/ccomp here/RB/6/advmod",
     "(S (NP (PRP She)) (VP (MD will) (VP (VB say) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained) "
     "(ADVP (RB here))))))))", {(1, 7, "VP"), (3, 7, ANY), (5, 7, "VP")}),
    ("Did/VBD/3/aux he/PRP/3/nsubj see/VB/0/root which/WDT/5/det boats/NNS/3/obj",
     "(SQ (VBD Did) (NP (PRP he)) (VP (VB see) (WHNP (WDT which) (NNS boats))))", {(2, 5, "VP"), (3, 5, ANY)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "required"), CASES)
def test_dependencies_require_the_brackets_of_gold_trees(text, tree, required):
    constraints = dependency_constraints(sentence(text))
    (gold,) = parse_trees(tree)
    assert set(constraints.required) == required
    assert constraints.allow(gold.spans())


def test_dependencies_require_nothing_where_conjuncts_may_be_attached_higher():
    text = "We/PRP/2/nsubj sat/VBD/0/root and/CC/4/cc ate/VBD/2/conj fish/NN/4/obj"
    constraints = dependency_constraints(sentence(text))
    assert not any(label == "VP" and (start, end) == (1, 5) for start, end, label in constraints.required)
    (gold,) = parse_trees("(S (NP (PRP We)) (VP (VP (VBD sat)) (CC and) (VP (VBD ate) (NP (NN fish)))))")
    assert constraints.allow(gold.spans())


def test_trees_respect_dependencies(sample_grammar):
    known = sentence("The/DT/2/det ferry/NN/3/nsubj left/VBD/0/root the/DT/5/det harbour/NN/3/obj ././3/punct")
    impossible = sentence("././2/punct left/VBD/0/root")
    first, second = DependencyAnnotator(sample_grammar, Parser(sample_grammar)).trees([known, impossible])
    assert first is not None
    assert dependency_constraints(known).allow(first.spans())
    assert first.tags == list(known.tags)
    assert sample_grammar.root_label == "ROOT"
    assert first.label == "S"
    assert second is None or second.words == [".", "left"]


def test_trees_have_no_tags_that_are_foreign_to_the_treebank(sample_grammar):
    annotator = DependencyAnnotator(sample_grammar, Parser(sample_grammar))
    text = "The/XYZ/2/det ferry/NN/3/nsubj left/VBD/0/root the/DT/5/det harbour/NN/3/obj ././3/punct"
    (tree,) = annotator.trees([sentence(text)])
    assert tree is not None
    assert tree.tags == ["DT", "NN", "VBD", "DT", "NN", "."]
