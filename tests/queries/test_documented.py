r"""The examples of Tregex's documentation, and of its tests, with their answers; trees have a word below each tag."""

import pytest
from oracles import tregex

from spacy_lpcfg.queries import TreeIndex
from spacy_lpcfg.trees import parse_trees

TRACE = "(SBAR (WHNP-1 (WP who)) (S (NP-SBJ (-NONE- *T*-{})) (VP (VBD left))))"
INDEXED = r"@SBAR < /^WH.*-([0-9]+)$/#1%index << (__=empty < (/^-NONE-/ < /^\*T\*-([0-9]+)$/#1%index))"
APPOSITION = "(NP (NP (NNP Oslo)) (, ,) (NP (NN home)) (, ,){})"
COMMAS = "(@NP <, (@NP $+ (/,/ $+ (@NP $+ /,/=comma))) <- =comma)"
DATE = "(NP (NP (NNP Feb.) (CD 25)) (, ,) (NP (CD 1942)))"
DATED = (
    "NP=root <1 (NP=day <1 (NNP <: /Jan|Feb/) <2 (CD=number <: __)) <2 (/^,$/ <: /^,$/) <3 (NP=year <: (CD <: __)) "
    ": (=root <- =year) : (=day <- =number)"
)
BIG_TREE = "(root (a (foo (x 1) (y 2)) (bar (x 3) (y 4))) (b (baz 5)))"
HOUSE = "(NP (PDT both) (DT the) (JJ-SIZE large) (JJ-COLOUR green) (NNS houses))"
NOT_YET = "(ROOT (S (NP (PRP She)) (VP (VBZ is) (VP (WHADVP (WRB {})) (VBG working){})) (. .)))"
COPULA = "S < (NP=m1 $.. (VP < ((/VB/ < /^(is|was)$/) $.. NP=m2)))"

EXAMPLES = [
    ("/^MW/ < IN", "(ROOT (MWE (IN 1) (N 2)) (MWV (A B)))", ["(MWE (IN 1) (N 2))"]),
    ("/^MW/", "(ROOT (MWE (N 1) (N 2)) (MWV (A B)))", ["(MWE (N 1) (N 2))", "(MWV (A B))"]),
    ("S < VP < NP", "(a (S (VP v) (NP n)) (S (NP n) (VP v)))", ["(S (VP v) (NP n))", "(S (NP n) (VP v))"]),
    ("S < VP & < NP", "(S (VP v) (NP n))", ["(S (VP v) (NP n))"]),
    ("S < VP < NP", "(S (VP (NP n)))", []),
    ("S < VP << NP", "(S (VP (NP n)))", ["(S (VP (NP n)))"]),
    ("S < (VP < NP)", "(S (VP (NP n)))", ["(S (VP (NP n)))"]),
    ("S < (NP $++ VP)", "(S (NP n) (VP v))", ["(S (NP n) (VP v))"]),
    ("S < (NP $++ VP)", "(S (NP VP))", []),
    ("(NP < NN | < NNS)", "(X (NP NN) (NP foo) (NP NNS))", ["(NP NN)", "(NP NNS)"]),
    ("(NP > S & $++ VP)", "(X (S (NP a) (VP b)) (NP c) (VP d))", ["(NP a)"]),
    ("NP [< NN | < NNS] & > S", "(f (S (NP NN) (NP foo) (NP NNS)) (NP NNS))", ["(NP NN)", "(NP NNS)"]),
    ("(NP (< NN | < NNS) & > S)", "(f (S (NP NN) (NP foo) (NP NNS)) (NP NNS))", ["(NP NN)", "(NP NNS)"]),
    ("(VP [< VV | [< NP & $ NP] ])", "(X (NP n) (VP VV) (VP (NP n)) (VP v))", ["(VP VV)", "(VP (NP n))"]),
    ("NP !< NNP", "(X (NP (NN a)) (NP (NNP b)))", ["(NP (NN a))"]),
    ("(NP < !NNP|NNS)", "(X (NP (NN a) (NNP b)) (NP (NNP b) (NNS c)))", ["(NP (NN a) (NNP b))"]),
    ("@NP|VP", "(S (NP-SBJ a) (VP=2 b) (NPX c))", ["(NP-SBJ a)", "(VP=2 b)"]),
    ("(@NP < @/NN.?/)", "(S (NP-SBJ (NNS-1 a)) (NP (DT b)))", ["(NP-SBJ (NNS-1 a))"]),
    ("S : NP", "(S (X (NP a)) (S b))", ["(S (X (NP a)) (S b))", "(S b)"]),
    ("S : NP", "(S (X a))", []),
    ("NP=a | NNP=b", "(S (NP a) (NNP b))", ["(NP a)", "(NNP b)"]),
    (COMMAS, APPOSITION.format(""), [APPOSITION.format("")]),
    (COMMAS, APPOSITION.format(" (NN x)"), []),
    (INDEXED, TRACE.format(1), [TRACE.format(1)]),
    (INDEXED, TRACE.format(2), []),
    (DATED, f"(ROOT (PP (IN on) {DATE}))", [DATE]),
    ("foo << bar == foo << baz", "(a (foo (bar 1) (baz 2)) (foo (bar 1)))", ["(foo (bar 1) (baz 2))"]),
    ("(foo << bar) == (foo << baz)", "(a (foo (bar 1)) (foo (baz 2)))", []),
    ("(foo << bar) : (foo << baz)", "(a (foo (bar 1)) (foo (baz 2)))", ["(foo (bar 1))"]),
    ("(foo << __=a << __=b) : (=a !== =b)", "(foo (bar 1))", ["(foo (bar 1))"] * 2),
    ("(foo < __=a < __=b) : (=a !== =b)", "(foo (bar 1))", []),
    ("(foo << __=a << __=b) : (=a !== =b)", "(foo (bar 1) (baz 2))", ["(foo (bar 1) (baz 2))"] * 12),
    ("A <<: B", "(A (B b))", ["(A (B b))"]),
    ("foo <<: bar", "(a (foo (b (c (bar x)))))", ["(foo (b (c (bar x))))"]),
    ("foo <<: bar", "(a (foo (b (c (bar x)) (d y))))", []),
    ("bar >>: foo", "(a (foo (b (bar x))) (c y))", ["(bar x)"]),
    ("__ <<, /1/", BIG_TREE, [BIG_TREE, "(a (foo (x 1) (y 2)) (bar (x 3) (y 4)))", "(foo (x 1) (y 2))", "(x 1)"]),
    ("foo|bar >>- a", BIG_TREE, ["(bar (x 3) (y 4))"]),
    ("/^[a-z]/ >-2 a", BIG_TREE, ["(foo (x 1) (y 2))"]),
    ("__ <<<2 /2/", BIG_TREE, [BIG_TREE, "(a (foo (x 1) (y 2)) (bar (x 3) (y 4)))", "(foo (x 1) (y 2))"]),
    ("__ <<<-1 /4/", BIG_TREE, ["(a (foo (x 1) (y 2)) (bar (x 3) (y 4)))", "(bar (x 3) (y 4))", "(y 4)"]),
    ("a <... { foo ; bar }", BIG_TREE, ["(a (foo (x 1) (y 2)) (bar (x 3) (y 4)))"]),
    ("a <... { foo }", BIG_TREE, []),
    ("foo <= foo", "(a (foo (bar 1)))", ["(foo (bar 1))"]),
    ("a <= foo", "(a (foo 1))", ["(a (foo 1))"]),
    ("/[a-z]/ . foo", "(a (b (c 1) (d 2)) (bar (foo 3)))", ["(b (c 1) (d 2))", "(d 2)"]),
    ("/[a-z]/ ,, foo", "(a (bar (foo 1)) (baz 2) (bif 3))", ["(baz 2)", "(bif 3)"]),
    ("DT .+(JJ) NN", "(NP (DT the) (JJ large) (JJ green) (NN house))", ["(DT the)"]),
    ("DT .+(JJ) JJ", "(NP (DT the) (JJ large) (JJ green) (NN house))", ["(DT the)"]),
    ("NNS ,+(@JJ) /^DT/", HOUSE, ["(NNS houses)"]),
    ("NNS ,+(/^(JJ|DT).*$/) PDT", HOUSE, ["(NNS houses)"]),
    ("foo <+(bar) baz", "(a (foo (bar (bar (baz 1)))))", ["(foo (bar (bar (baz 1))))"]),
    ("foo <+(!bif) baz", "(a (foo (bif (baz 1))))", []),
    ("baz >+(/b/) foo", "(a (foo (bar (bif (baz 1)))))", ["(baz 1)"]),
    ("WHADVP=w > VP $+ /[A-Z]*/=last ![$++ (PP < NP)]", NOT_YET.format("Where", ""), ["(WHADVP (WRB Where))"]),
    ("WHADVP=w > VP $+ /[A-Z]*/=last ![$++ (PP < NP)]", NOT_YET.format("Where", " (PP (NP x))"), []),
    (COPULA, "(S (NP (NN it)) (VP (VBZ is) (NP (NN x))))", ["(S (NP (NN it)) (VP (VBZ is) (NP (NN x))))"]),
    ("NP < (NN=n $.. ~n)", "(X (NP (NN a) (NN b)) (NP (NN a) (JJ b)))", ["(NP (NN a) (NN b))"]),
    ("NP ?< NN=n", "(X (NP (NN a) (NN b)) (NP c))", ["(NP (NN a) (NN b))", "(NP (NN a) (NN b))", "(NP c)"]),
    ("PP <# IN", "(PP (IN of) (NP (NN tea)))", ["(PP (IN of) (NP (NN tea)))"]),
    ("PP <# of", "(PP (IN of) (NP (NN tea)))", []),
    ("PP <<# of", "(PP (IN of) (NP (NN tea)))", ["(PP (IN of) (NP (NN tea)))"]),
    ("_ROOT_ < NP", "(NP (NP a))", ["(NP (NP a))"]),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "tree", "expected"), EXAMPLES)
def test_documented_examples_have_their_answers(pattern, tree, expected):
    trees = list(parse_trees(tree))
    found = [match.node for match in TreeIndex.from_trees(trees).search(pattern)]
    assert [str(node.tree) for node in found if not node.is_word] == expected
    assert len(tregex.search(trees[0], pattern)) == len(found)
