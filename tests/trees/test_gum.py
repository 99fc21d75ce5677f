"""Each habit of GUM's converter on the smallest tree that has it, and all of them on GUM where it is at hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lpcfg.trees import Tree, mended_gum, parse_trees, read_trees
from spacy_lpcfg.trees.gum import (
    CORRECTIONS,
    fillers,
    hyphens,
    interjections,
    list_items,
    parentheses,
    particles,
    phrases_at_root,
    repeated_categories,
    wh_phrases,
)

MENDED = [
    (phrases_at_root, "(ROOT (VB See))", "(ROOT (S (VP (VB See))))"),
    (phrases_at_root, "(ROOT (VP (VB Go) (. !)))", "(ROOT (S (VP (VB Go) (. !))))"),
    (phrases_at_root, "(NNP Rome)", "(NP (NNP Rome))"),
    (repeated_categories, "(S (NP-SBJ (NP (PRP it))) (VP (VBZ is)))", "(S (NP-SBJ (PRP it)) (VP (VBZ is)))"),
    (wh_phrases, "(SBAR (NP-SBJ (WP who)) (S x))", "(SBAR (WHNP-SBJ (WP who)) (S x))"),
    (wh_phrases, "(SBAR (NP (WP$ whose) (NN son)) (S x))", "(SBAR (WHNP (WP$ whose) (NN son)) (S x))"),
    (wh_phrases, "(SBARQ (ADVP (WRB Why)) (SQ x))", "(SBARQ (WHADVP (WRB Why)) (SQ x))"),
    (wh_phrases, "(SBARQ (WRB Why) (SQ x))", "(SBARQ (WHADVP (WRB Why)) (SQ x))"),
    (wh_phrases, "(SBAR (PP (IN in) (NP (WDT which))) (S x))", "(SBAR (WHPP (IN in) (WHNP (WDT which))) (S x))"),
    (
        wh_phrases,
        "(SBAR (NP (NP (DT all)) (PP (IN of) (NP (WDT which)))) (S x))",
        "(SBAR (WHNP (NP (DT all)) (WHPP (IN of) (WHNP (WDT which)))) (S x))",
    ),
    (
        wh_phrases,
        "(SBARQ (NP (ADJP (WRB How) (JJ many)) (NNS men)) (SQ x))",
        "(SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS men)) (SQ x))",
    ),
    (wh_phrases, "(NP (NP (WP who)) (PP (IN of) (NP us)))", "(WHNP (WHNP (WP who)) (PP (IN of) (NP us)))"),
    (interjections, "(S (ADVP (UH well)) (VP x))", "(S (INTJ (UH well)) (VP x))"),
    (interjections, "(S (UH oh) (UH no) (, ,) (VP x))", "(S (INTJ (UH oh) (UH no)) (, ,) (VP x))"),
    (fillers, "(VP (VBD was) (PP (INTJ (UH like)) (NP (NN rain))))", "(VP (VBD was) (INTJ (UH like)) (NP (NN rain)))"),
    (parentheses, "(PRN (-LRB- [) (CD 1) (-RRB- ]))", "(PRN (-LRB- [) (NP (CD 1)) (-RRB- ]))"),
    (
        parentheses,
        "(PRN (-LRB- [) (CD 1) (, ,) (CD 2) (-RRB- ]))",
        "(PRN (-LRB- [) (NP (CD 1) (, ,) (CD 2)) (-RRB- ]))",
    ),
    (parentheses, "(NP (NP x) (ADJP (-LRB- [) (CD 1) (-RRB- ])))", "(NP (NP x) (PRN (-LRB- [) (NP (CD 1)) (-RRB- ])))"),
    (
        parentheses,
        "(S (NP x) (S (-LRB- -LRB-) (NP y) (VP z) (-RRB- -RRB-)))",
        "(S (NP x) (PRN (-LRB- -LRB-) (S (NP y) (VP z)) (-RRB- -RRB-)))",
    ),
    (particles, "(VP (VB come) (ADVP-DIR (RP in)))", "(VP (VB come) (PRT (RP in)))"),
    (particles, "(PP (RP like) (NP x))", "(PP (IN like) (NP x))"),
    (list_items, "(S (LS 2.) (VP x))", "(S (LST (LS 2.)) (VP x))"),
    (list_items, "(NP (X (LS 2)) (NP x))", "(NP (LST (LS 2)) (NP x))"),
    (hyphens, "(ADJP (JJ high) (HYPH -) (NN speed))", "(ADJP (JJ high) (: -) (NN speed))"),
    (hyphens, "(NP (CD 3) (SYM –) (CD 5))", "(NP (CD 3) (: –) (CD 5))"),
]

KEPT = [
    "(ROOT (S (NP-SBJ (PRP It)) (VP (VBZ rains)) (. .)))",
    "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD left))))) (VP (VBD rang)))",
    "(S (VP (VBD knew) (NP (NP (DT the) (NN way)) (SBAR (WHPP (IN in) (WHNP (WDT which))) (S (VP (VBN done)))))))",
    "(NP (NP (DT the) (NN thing)) (SBAR (IN that) (S (VP (VBZ counts)))))",
    "(S (VP (VBZ looks) (PP (IN like) (NP (NN rain)))))",
    "(PP (INTJ (UH um)) (IN in) (NP (NN rain)))",
    "(ROOT (S (-LRB- -LRB-) (NP (PRP It)) (VP (VBZ rains)) (. .) (-RRB- -RRB-)))",
    "(S (VP (VBD went) (ADVP (RB out))))",
    "(NP (CD 3) (SYM +) (CD 5))",
    "(S (VP (VB Go)))",
]


def parse(text: str) -> Tree:
    (tree,) = parse_trees(text)
    return tree


@pytest.mark.parametrize(("habit", "before", "after"), MENDED)
def test_gum_habit_is_mended(habit, before, after):
    assert str(habit(parse(before))) == after


@pytest.mark.parametrize("before", [before for _, before, _ in MENDED])
def test_gum_mended_twice_is_mended_once(before):
    mended = mended_gum(parse(before))
    assert mended != parse(before)
    assert mended_gum(mended) == mended


def test_gum_habits_all_have_an_example():
    assert {habit for habit, _, _ in MENDED} == set(CORRECTIONS)


@pytest.mark.parametrize("text", KEPT)
def test_gum_mending_leaves_what_follows_the_guidelines(text):
    assert str(mended_gum(parse(text))) == text


LABELS = ["NP", "VP", "PP", "ADVP", "SBAR", "INTJ", "PRN", "LST", "WHNP", "S", "ROOT", "NP-SBJ"]
TAGS = ["UH", "WP", "RP", "LS", "HYPH", "CD", "IN", "VB", ",", "-LRB-", "-RRB-"]
_leaves = st.builds(lambda tag: Tree(tag, word="-"), st.sampled_from(TAGS))
gum_like = st.recursive(
    _leaves,
    lambda below: st.builds(Tree, st.sampled_from(LABELS), st.lists(below, min_size=1, max_size=4)),
    max_leaves=8,
)


@given(gum_like)
@settings(max_examples=200)
def test_gum_mending_keeps_words_of_any_tree_and_is_done_once(tree):
    mended = mended_gum(tree)
    assert mended.words == tree.words
    assert mended_gum(mended) == mended


@pytest.mark.parametrize("part", ["train", "dev"])
def test_gum_mended(shared_data, part):
    """Nothing of the first habit is left in GUM, and mending it again changes nothing."""
    for tree in read_trees(shared_data / f"gum/{part}.mrg"):
        mended = mended_gum(tree)
        assert mended.words == tree.words
        assert mended_gum(mended) == mended
        for node in mended.nodes():
            if node.label.partition("-")[0] == "NP":
                assert not {child.label for child in node.children} & {"WP", "WDT", "WP$"}
