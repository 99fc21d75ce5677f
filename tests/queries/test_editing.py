"""Edits are those of Tsurgeon's documentation and of its tests; trees have a word below each tag."""

from collections import Counter

import pytest
from bracketed import tree_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.queries import RuleError, edit, edit_trees, editing, parse_rules
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.source import SentenceSource, SourceText

BANK = "(ROOT (S (NP (NP (NNP Bank)) (PP (IN of) (NP (NNP America)))) (VP (VBD called)) (. .)))"
RAN = "(S (NP (PRP They)) (VP (VBD ran)))"
REPLACED = "(/-([0-9]+)$/#1\\%i=src > /^FILLER$/) : (/^-NONE-/=dest <: /-([0-9]+)$/#1\\%i)"
KOITO = (
    "( (S (FILLER (NP-SBJ-1 (NNP K))) (VP (VBN r) (S (NP-SBJ {0}) (VP (TO to))) (S-ADV (NP-SBJ {0}) (VP (VBG a))))))"
)
PUNCTUATED = "__ !> __ <- (__=top <- (__ <<- (/[.]/=punc < /[.!?]/ ?> (__=single <: =punc))))"
MOVED = "[move punc >-1 top] [if exists single prune single]"
FOLLOWED = "(A (B (X 1) (Y 2)))"

MARIA = "(ROOT (S (NP (NNP Maria)) (VP (VBD was) (VP (VBN seen) (PP (IN in) (NP (NNP May))))) (. .)))"
README = [
    ("VP < PP=prep", "delete prep", "(VP (VBN seen) (PP (IN in) (NP (NNP May))))", "(VP (VBN seen))"),
    ("S < (NP < NNP=noun)", "prune noun", "(NP (NNP Maria)) ", ""),
    ("VP < PP=prep", "excise prep prep", "(PP (IN in) (NP (NNP May)))", "(IN in) (NP (NNP May))"),
    ("VP=verb < PP=prep", "excise verb prep", "(VP (VBN seen) (PP (IN in) (NP (NNP May))))", "(IN in) (NP (NNP May))"),
    ("VP=v < PP=prep", "relabel prep verbPrep", "(PP", "(verbPrep"),
    ("/^VB.+/=v", "relabel v /^VB(.*)$/ #1", "(VBD was) (VP (VBN", "(D was) (VP (N"),
    ("S < (NP < (NNP=name !$- DET))", "insert (DET Ms.) $+ name", "(NNP Maria)", "(DET Ms.) (NNP Maria)"),
    ("VP=verb < PP=prep", "move prep $- verb", " (PP (IN in) (NP (NNP May)))))", ")) (PP (IN in) (NP (NNP May)))"),
    ("S < (NP=name < NNP)", "replace name (NP (DET A) (NN woman))", "(NNP Maria)", "(DET A) (NN woman)"),
    ("S < (NP=name < NNP)", "adjoin (NP (DET A) (NN woman) NP@) name", "(NP (NNP Maria))",
     "(NP (DET A) (NN woman) (NP (NNP Maria)))"),
    ("S < (NP=name < NNP)", "adjoinH ((NP (DET A) (NN woman) NP@)) name", "(NP (NNP Maria))",
     "(NP (NP (DET A) (NN woman) (NP (NNP Maria))))"),
    ("S < (NP=name < NNP)", "adjoinH ((DET A) (NN woman) NP@) name", "(NP (NNP Maria))",
     "(NP (DET A) (NN woman) (NP (NNP Maria)))"),
    ("S < (NP=name < NNP)", "adjoinH (VP (DET A) (NN woman) NP@) name", "(NP (NNP Maria))",
     "(NP (DET A) (NN woman) (NP (NNP Maria)))"),
    ("S < (NP=name < NNP)", "adjoinF (NP(DET A) (NN woman) @) name", "(NP (NNP Maria))",
     "(NP (DET A) (NN woman) (NP (NNP Maria)))"),
    ("NP=node < NNP=name", "coindex node name", MARIA, MARIA.replace("(NP (NNP Mar", "(NP-1 (NNP-1 Mar")
     .replace("(NP (NNP May", "(NP-2 (NNP-2 May")),
]  # fmt: skip
"""The examples of Tsurgeon's README: of one tree, what is changed in it and into what."""
DOCUMENTED = [
    ("NP <1 (NP << Bank) <2 PP=remove", "excise remove remove", BANK,
     "(ROOT (S (NP (NP (NNP Bank)) (IN of) (NP (NNP America))) (VP (VBD called)) (. .)))"),
    ("SQ=sq < (/^WH/ $++ VP)", "relabel sq S", "(SQ (WHNP (WP who)) (VP (VBD ran)))",
     "(S (WHNP (WP who)) (VP (VBD ran)))"),
    ("SBARQ=n1 < SQ=n2", "excise n1 n1\nrelabel n2 S", "(ROOT (SBARQ (SQ (VBZ is) (NP (PRP it)))))",
     "(ROOT (S (VBZ is) (NP (PRP it))))"),
    ("S=node << NP !<< foo", "insert (NP foo) >-1 node", RAN, "(S (NP (PRP They)) (VP (VBD ran)) (NP foo))"),
    ("VP=vp !> VP !<< breathlessly", "adjoin (VP (Adv breathlessly) VP@ ) vp", RAN,
     "(S (NP (PRP They)) (VP (Adv breathlessly) (VP (VBD ran))))"),
    ("NP=antecedent $+ (VP=vp !<< /T/)", "insert (NP (-NONE- *T*=trace)) >-1 vp\ncoindex trace antecedent", RAN,
     "(S (NP-1 (PRP They)) (VP (VBD ran) (NP (-NONE- *T*-1))))"),
    ("/^VB/=v", r"relabel v /^VB(.*)$/verb\/$1/", RAN, "(S (NP (PRP They)) (VP (verb/D ran)))"),
    ("PRP=p", "relabel p /''/", RAN, "(S (NP ('' They)) (VP (VBD ran)))"),
    ("PRP=p", "relabel p |a\\|b|", RAN, "(S (NP (a|b They)) (VP (VBD ran)))"),
    ("/SBJ/=foo", "relabel foo /^(.*)-SBJ$/$1/", "(S (NP-SBJ (PRP It)))", "(S (NP (PRP It)))"),
    ("foo=x", "relabel x /foo/bar/", "(A foo)", "(A bar)"),
    ("/foo/=x", "relabel x /foo/bar/", "(foofoo w)", "(barbar w)"),
    ("/^foo/=x", "relabel x /^foo(.*)$/bar$1/", "(foofoo w)", "(barfoo w)"),
    ("/^foo/=x < duck=bar", "relabel x /foo/={bar}/", "(foofoo duck)", "(duckduck duck)"),
    ("A=baz < /curlew.*/=foo < /avocet.*/=bar", "relabel baz /^.*$/={foo}={bar}/", "(A (curlewfoo 0) (avocetzzz 1))",
     "(curlewfooavocetzzz (curlewfoo 0) (avocetzzz 1))"),
    ("A=baz < /curle.*/=foo < /avo(.*)/#1\\%bar", "relabel baz /^(.*)$/={foo}$1\\%{bar}/", "(A (curlew 0) (avocet 1))",
     "(curlewAcet (curlew 0) (avocet 1))"),
    ("/^((?!_head).)*$/=tag < (__=word !< __)", "relabel tag /^(.*)$/$1_head=={word}/", "($ $)", "($_head=$ $)"),
    ("A=foo << B=bar << C=baz", "relabel foo relabel", "(A (B b) (C c))", "(relabel (B b) (C c))"),
    ("__ <1 B=n <2 ~n", "relabel n X", "(A (B w) (B w))", "(A (X w) (B w))"),
    ("B=foo", "adjoin (FOO (BAR@)) foo", FOLLOWED, "(A (FOO (BAR (X 1) (Y 2))))"),
    ("B=foo", "adjoin (FOO (BAR@)) foo", "(A (B (B 1)))", "(A (FOO (BAR (FOO (BAR 1)))))"),
    ("B=foo !< BAR", "adjoinH (FOO (BAR@)) foo", FOLLOWED, "(A (B (BAR (X 1) (Y 2))))"),
    ("B=foo !> FOO", "adjoinF (FOO (BAR@)) foo", FOLLOWED, "(A (FOO (B (X 1) (Y 2))))"),
    ("B=foo !> FOO", "adjoinF (FOO (BAR@)) foo", "(A (B (B 1)))", "(A (FOO (B (FOO (B 1)))))"),
    ("B=bar !>> D", "[adjoinF (D (E=target foot@)) bar] [insert (G 1) $+ target]", "(A (B C))",
     "(A (D (G 1) (E (B C))))"),
    ("B=bar !>> D", "[adjoinF (D (E=target foot@)) bar] [insert (G 1) >0 target]", "(A (B C))",
     "(A (D (E (G 1) (B C))))"),
    ("B=bar !>> D", "[adjoinF (D (E foot@) F=target) bar] [insert (G 1) >0 target]", "(A (B C))",
     "(A (D (E (B C)) (F (G 1))))"),
    ("A < B=left < C=right", "createSubtree FOO left right", "(A (D 3) (C 2) (E 4) (B 1))",
     "(A (D 3) (FOO (C 2) (E 4) (B 1)))"),
    ("A < B=left < B=right", "createSubtree FOO left right", "(A (B 1) (B 2))", "(A (FOO (B 1)) (FOO (B 2)))"),
    ("A < B=child", "createSubtree FOO child", "(A (B 1) (C 2))", "(A (FOO (B 1)) (C 2))"),
    ("A=top !> __", "createSubtree FOO top", "(A (B 1))", "(FOO (A (B 1)))"),
    ("A < B=left < C=right", "createSubtree (F (G 1) H@ (I 5)) left right", "(A (B 1) (D 3) (C 2))",
     "(A (F (G 1) (H (B 1) (D 3) (C 2)) (I 5)))"),
    ("B=bob", "delete bob", "(A (foo 1) (B (C 1)))", "(A (foo 1))"),
    ("C=bob", "prune bob", "(A (foo 1) (bar (C 1)))", "(A (foo 1))"),
    ("C=bob", "prune bob", "(A (B (C 1)))", None),
    ("B=bar !$ D", "insert (D (E 6)) $+ bar", "(A (B 0) (C 1))", "(A (D (E 6)) (B 0) (C 1))"),
    ("B=bar !$ D", "insert (D (E 6)) $- bar", "(A (B 0) (C 1))", "(A (B 0) (D (E 6)) (C 1))"),
    ("B=bar !< C $ C=foo", "insert foo >1 bar", "(A (B (X 0)) (C 1))", "(A (B (C 1) (X 0)) (C 1))"),
    ("B=bar !< D", r"insert (D (E\=blah 6)) >2 bar", "(A (B (X 0)))", "(A (B (X 0) (D (E=blah 6))))"),
    ("B=bar !$- D", "[insert (D=target (E e)) $+ bar] [insert (F 1) >0 target]", "(A (B C))",
     "(A (D (F 1) (E e)) (B C))"),
    ("A=foo < B=bar < C=baz", "[relabel baz BAZ] [move baz >-1 bar]", "(A (B (X f)) (C g) (C h))",
     "(A (B (X f) (BAZ g) (BAZ h)))"),
    ("B=from < (D=node !$ __) $ C=to", "moveprune node >1 to", "(A (B (D d)) (C (X x)))", "(A (C (D d) (X x)))"),
    ("A < B=a < C=b !< B > __", "move b $+ a", "(S (A (B b)))", "(S (A (B b)))"),
    ("B=foo : C=blah", "replace foo blah", "(A (B 0) (C 1))", "(A (C 1) (C 1))"),
    (REPLACED, "replace dest src", KOITO.format("(-NONE- *-1)"), KOITO.format("(NP-SBJ-1 (NNP K))")),
    ("B=foo", "replace foo (BAR 1) (BAZ 2)", "(A (B 0) (B 1) (C 2))", "(A (BAR 1) (BAZ 2) (BAR 1) (BAZ 2) (C 2))"),
    ("B=foo", "replace foo (BAR 1)", "(B (C 1))", "(BAR 1)"),
    ("PU=punc < 她｛", "replace punc (PN 她) (PU ｛)", "(IP (PU 她｛) (NN x))", "(IP (PN 她) (PU ｛) (NN x))"),
    ("@NP < (/^,/=comma $+ CC)", "replace comma (COMMA c)", "(NP (NP a) (, ,) (NP b) (, ,) (CC and) (NP c))",
     "(NP (NP a) (, ,) (NP b) (COMMA c) (CC and) (NP c))"),
    ("A=foo << B=bar << C=baz", "coindex foo bar baz", "(A (B (C foo)))", "(A-1 (B-1 (C-1 foo)))"),
    ("A=foo << B=bar << C=baz", "coindex foo bar baz", "(A (B foo) (C-1 bar) (C baz))",
     "(A-2 (B-2 foo) (C-1 bar) (C-2 baz))"),
    ("A=foo [ << B=bar | << C=baz ]", "[if exists bar relabel bar BAR] [if exists baz relabel baz BAZ]",
     "(A (B foo) (C foo))", "(A (BAR foo) (BAZ foo))"),
    ("A=foo ?<< B=bar ?<< C=baz", "if exists baz [if exists bar relabel bar BAR] [relabel foo X]", "(A (C c))",
     "(X (C c))"),
    (PUNCTUATED, MOVED, "(ROOT (INTJ (NP (DT the)) (S (VP (. .)))))", "(ROOT (INTJ (NP (DT the)) (. .)))"),
    ("__=repeat <: (~repeat < __)", "excise repeat repeat", "(A (B (B foo)))", "(A (B foo))"),
    ("__=repeat <: (~repeat < __)", "excise repeat repeat", "(B (B foo))", "(B foo)"),
]  # fmt: skip


def edited(pattern: str, operations: str, text: str) -> str | None:
    tree = edit(tree_of(text), parse_rules(f"{pattern}\n\n{operations}\n"))
    return None if tree is None else str(tree)


@pytest.mark.parametrize(("pattern", "operations", "before", "after"), DOCUMENTED)
def test_editing_is_that_of_the_documentation(pattern, operations, before, after):
    assert edited(pattern, operations, before) == (None if after is None else str(tree_of(after)))


@pytest.mark.parametrize(("pattern", "operations", "before", "after"), README)
def test_editing_is_that_of_the_readme(pattern, operations, before, after):
    assert before in MARIA
    assert edited(pattern, operations, MARIA) == MARIA.replace(before, after)


IMPOSSIBLE = [
    ("B=x", "delete x", "(A (B b))", "'A' is left without words"),
    ("B=x", "insert (w) >1 x", "(A (B b))", "'w' is left with sisters"),
    ("A=x", "excise x x", "(A a)", "without a tag"),
    ("A=x", "excise x x", "(A (B b) (C c))", "several children"),
    ("A=x", "replace x (B b) (C c)", "(A a)", "2 nodes cannot take the place of the root 'A'"),
    ("A=x < B=y", "excise y x", "(A (B b))", "y is neither x nor above it"),
    ("A=x < B=y", "insert y >4 x", "(A (B b))", "x has 1 children, so that there is no >4"),
    ("A=x < B=y", "insert y $+ x", "(A (B b))", "x is the root"),
    ("A=x < B=y", "move x >1 y", "(A (B b))", "y is in the tree no longer"),
    ("A=x < B=y", "delete x\nrelabel y C", "(S (A (B b)) (C c))", "y is in the tree no longer"),
    ("A=x ?< C=y", "relabel y C", "(A (B b))", "write if exists y"),
    ("A=x < B=y < (C < D=z)", "createSubtree E y z", "(A (B b) (C (D d)))", "y and z are no sisters"),
    ("A=x", "relabel x /^(A)$/\\%{v}/", "(A a)", "has set the variable v"),
    ("A=x", "relabel x /a b/", "(A a)", "got 'a b'"),
    ("A=x", "relabel x /^A$/)/", "(A a)", "got ')'"),
    ("A=x", "relabel x A", "(A a)", "changes nothing"),
    ("B=x", "adjoin ((B b) C@) x", "(A (B (C c)))", "without a label"),
    ("S=x << NP", "insert (NP foo) >-1 x", "(S (NP a))", "after it fired"),
]


@pytest.mark.parametrize(("pattern", "operations", "text", "message"), IMPOSSIBLE)
def test_editing_names_the_rule_that_is_impossible(pattern, operations, text, message, monkeypatch):
    monkeypatch.setattr(editing, "MOST_FIRINGS", 20)
    rules = parse_rules(f"% one\n\n{pattern}\n\n{operations}\n", "some.tsurgeon")
    with pytest.raises(RuleError) as error:
        edit(tree_of(text), rules)
    assert str(error.value).startswith("some.tsurgeon:3: ")
    assert message in str(error.value)
    assert str(tree_of(text)).removesuffix(")") in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "operations", "text", "message"),
    [
        ("A=x", "insert x >1 x", "(A (B b))", "more than 220 nodes"),
        ("A=x", "[insert x >1 x] " * 60, "(A (B b))", "more than 220 nodes"),
        ("/^A/=x", "relabel x /^(.*)$/$1$1/", "(A (B b))", "more than 1,000 characters"),
        ("A=x < __=y", "relabel x /./={y}={y}/", f"(A ({'B' * 600} b))", "more than 1,000 characters"),
    ],
)
def test_editing_names_the_rule_that_lets_a_tree_grow_without_end(pattern, operations, text, message, monkeypatch):
    """Trees and labels that double at each firing or operation."""
    monkeypatch.setattr(editing, "MOST_FIRINGS", 20)
    with pytest.raises(RuleError, match=f"some.tsurgeon:1: .* grows to {message}"):
        edit(tree_of(text), parse_rules(f"{pattern}\n\n{operations}\n", "some.tsurgeon"))


def test_editing_counts_firings_and_keeps_the_order(monkeypatch):
    monkeypatch.setattr(editing, "_N_TREES", 2)
    rules = parse_rules("A=x\n\nrelabel x B\n\nB=x\n\nrelabel x C\n\nD=x\n\ndelete x\n")
    before = [*parse_trees("(S (A a) (A a)) (S (X x)) (D d) (S (B b) (A a)) (S (D d) (C c))")]
    counts = Counter()
    after = [*edit_trees(before, rules, counts=counts)]
    assert [str(tree) for tree in after] == ["(S (C a) (C a))", "(S (X x))", "None", "(S (C b) (C a))", "(S (C c))"]
    assert [counts[rule] for rule in rules] == [3, 4, 2]
    assert [edit(tree, rules) for tree in before] == after
    assert [*edit_trees(before, [])] == before


def test_editing_keeps_ids_and_the_text_of_unchanged_words():
    text = SourceText(("Go", "."), (False, False))
    (tree,) = (tree.with_source(SentenceSource("a.1", text)) for tree in parse_trees("( (S (VB Go) (. .)))"))
    relabelled, respelled = (
        edit(tree, parse_rules(rule)) for rule in ("S=x > ROOT\n\nrelabel x X\n", "Go=x\n\nrelabel x Run\n")
    )
    assert (relabelled.source, respelled.source) == (tree.source, SentenceSource("a.1"))


labels = st.sampled_from(["A", "B", "C"])


@settings(max_examples=100)
@given(st.lists(trees(labels, labels, max_leaves=6), min_size=1, max_size=4))
def test_editing_relabels_and_excises_as_a_fold_does(some):
    rules = parse_rules("A=x\n\nrelabel x D\n\nB=x > __ < (__ < __)\n\nexcise x x\n")

    def expected(node: Tree, children: list[list[Tree]]) -> list[Tree]:
        below = [tree for child in children for tree in child]
        label, word = ("D" if text == "A" else text for text in (node.label, node.word))
        return below if label == "B" and below else [Tree(label, below, word)]

    rooted = [Tree("ROOT", [tree]) for tree in some]
    assert [*edit_trees(rooted, rules)] == [tree.fold(expected)[0] for tree in rooted]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(S (VP (VB Go)) (. .))", "(X (VP (VB Go)) (. .))"),
        ("(ROOT (S (VP (VB Go)) (S (VP (VB Go)))))", "(ROOT (X (VP (VB Go)) (S (VP (VB Go)))))"),
        ("( (S (VP (VB Go))))", "( (X (VP (VB Go))))"),
        ("(TOP (S (VP (VB Go))))", "(TOP (X (VP (VB Go))))"),
    ],
)
def test_editing_finds_the_top_below_a_root_that_trees_need_not_have(before, after):
    (rule,) = parse_rules("S=x > ROOT\n\nrelabel x X\n")
    assert str(edit(next(parse_trees(before)), [rule])) == after
