"""Each habit of GUM's converter on the smallest tree that has it, and all of them on GUM where it is at hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from spacy_lpcfg.queries import edit, edit_trees, read_rules
from spacy_lpcfg.trees import Tree, parse_trees, read_trees

RULES = read_rules(ROOT / "scripts" / "gum.tsurgeon")

MENDED = [
    ("(ROOT (VB See))", "(ROOT (S (VP (VB See))))"),
    ("(ROOT (VP (VB Go) (. !)))", "(ROOT (S (VP (VB Go) (. !))))"),
    ("(NNP Rome)", "(NP (NNP Rome))"),
    ("(S (NP-SBJ (NP (PRP it))) (VP (VBZ is)))", "(S (NP-SBJ (PRP it)) (VP (VBZ is)))"),
    ("(SBAR (NP-SBJ (WP who)) (S x))", "(SBAR (WHNP-SBJ (WP who)) (S x))"),
    ("(SBAR (NP (WP$ whose) (NN son)) (S x))", "(SBAR (WHNP (WP$ whose) (NN son)) (S x))"),
    ("(SBARQ (ADVP (WRB Why)) (SQ x))", "(SBARQ (WHADVP (WRB Why)) (SQ x))"),
    ("(SBARQ (WRB Why) (SQ x))", "(SBARQ (WHADVP (WRB Why)) (SQ x))"),
    ("(SBAR (PP (IN in) (NP (WDT which))) (S x))", "(SBAR (WHPP (IN in) (WHNP (WDT which))) (S x))"),
    ("(SBAR (NP (NP (DT all)) (PP (IN of) (NP (WDT which)))) (S x))",
     "(SBAR (WHNP (NP (DT all)) (WHPP (IN of) (WHNP (WDT which)))) (S x))"),
    ("(SBARQ (NP (ADJP (WRB How) (JJ many)) (NNS men)) (SQ x))",
     "(SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS men)) (SQ x))"),
    ("(NP (NP (WP who)) (PP (IN of) (NP us)))", "(WHNP (WHNP (WP who)) (PP (IN of) (NP us)))"),
    ("(S (ADVP (UH well)) (VP x))", "(S (INTJ (UH well)) (VP x))"),
    ("(S (UH oh) (UH no) (, ,) (VP x))", "(S (INTJ (UH oh) (UH no)) (, ,) (VP x))"),
    ("(S (VP (VBD was) (PP (INTJ (UH like)) (NP (NN ice)))))", "(S (VP (VBD was) (INTJ (UH like)) (NP (NN ice))))"),
    ("(PRN (-LRB- [) (CD 1) (-RRB- ]))", "(PRN (-LRB- [) (NP (CD 1)) (-RRB- ]))"),
    ("(PRN (-LRB- [) (CD 1) (, ,) (CD 2) (-RRB- ]))", "(PRN (-LRB- [) (NP (CD 1) (, ,) (CD 2)) (-RRB- ]))"),
    ("(NP (NP x) (ADJP (-LRB- [) (CD 1) (-RRB- ])))", "(NP (NP x) (PRN (-LRB- [) (NP (CD 1)) (-RRB- ])))"),
    ("(S (NP x) (S (-LRB- -LRB-) (NP y) (VP z) (-RRB- -RRB-)))",
     "(S (NP x) (PRN (-LRB- -LRB-) (S (NP y) (VP z)) (-RRB- -RRB-)))"),
    ("(S (VP (VB come) (ADVP-DIR (RP in))))", "(S (VP (VB come) (PRT (RP in))))"),
    ("(PP (RP like) (NP x))", "(PP (IN like) (NP x))"),
    ("(S (LS 2.) (VP x))", "(S (LST (LS 2.)) (VP x))"),
    ("(NP (X (LS 2)) (NP x))", "(NP (LST (LS 2)) (NP x))"),
    ("(ADJP (JJ high) (HYPH -) (NN speed))", "(ADJP (JJ high) (: -) (NN speed))"),
    ("(NP (CD 3) (SYM –) (CD 5))", "(NP (CD 3) (: –) (CD 5))"),
]  # fmt: skip

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


def mended(tree: Tree) -> Tree:
    result = edit(tree, RULES)
    assert result is not None
    return result


@pytest.mark.parametrize(("before", "after"), MENDED)
def test_gum_rules_mend_each_habit(before, after):
    (tree,) = edit_trees(parse_trees(before), RULES)
    assert str(tree) == after


@pytest.mark.parametrize("text", KEPT + [after for _, after in MENDED])
def test_gum_rules_leave_what_follows_the_guidelines(text):
    (tree,) = parse_trees(text)
    assert str(mended(tree)) == text


LABELS = ["NP", "VP", "PP", "ADVP", "SBAR", "INTJ", "PRN", "LST", "WHNP", "S", "ROOT", "NP-SBJ"]
TAGS = ["UH", "WP", "RP", "LS", "HYPH", "CD", "IN", "VB", ",", "-LRB-", "-RRB-"]
_leaves = st.builds(lambda tag: Tree(tag, word="-"), st.sampled_from(TAGS))
gum_like = st.recursive(
    _leaves,
    lambda below: st.builds(Tree, st.sampled_from(LABELS), st.lists(below, min_size=1, max_size=4)),
    max_leaves=8,
)


@given(gum_like)
def test_gum_rules_keep_the_words_of_any_tree(tree):
    assert mended(tree).words == tree.words


@pytest.mark.slow
@pytest.mark.parametrize("part", ["train", "dev"])
def test_gum_rules_are_done_once(shared_data, part):
    """Nothing of the first habit is left in GUM, and mending it again changes nothing."""
    trees = list(read_trees(shared_data / f"gum/{part}.mrg"))
    once = list(edit_trees(trees, RULES))
    assert [*edit_trees(filter(None, once), RULES)] == once
    for before, after in zip(trees, once, strict=True):
        assert after is not None
        assert after.words == before.words
        for node in after.nodes():
            if node.label.partition("-")[0] == "NP":
                assert not {child.label for child in node.children} & {"WP", "WDT", "WP$"}
