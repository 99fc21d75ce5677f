"""Trees of NLTK: there and back, and what cannot come."""

import sys

import pytest
from hypothesis import given
from oracles.strategies import trees as random_trees

from spacy_lpcfg.trees import Tree, from_nltk, parse_trees, to_nltk

nltk_tree = pytest.importorskip("nltk.tree", reason="NLTK is not here: pip install 'spacy-lpcfg[nltk]'")


@given(random_trees())
def test_exchange_gives_back_what_it_took(tree):
    assert from_nltk(to_nltk(tree)) == tree


def test_exchange_agrees_with_the_brackets_of_both():
    text = "(S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))) (. .))"
    (tree,) = parse_trees(text)
    theirs = nltk_tree.Tree.fromstring(text)
    assert to_nltk(tree) == theirs
    assert from_nltk(theirs) == tree
    assert (theirs.leaves(), [tag for _, tag in theirs.pos()]) == (tree.words, tree.tags)
    for kind in (nltk_tree.ParentedTree, nltk_tree.ImmutableTree):
        assert from_nltk(kind.fromstring(text)) == tree
    probable = nltk_tree.ProbabilisticTree("NP", [nltk_tree.ProbabilisticTree("NN", ["time"], prob=0.5)], prob=0.1)
    assert from_nltk(probable) == Tree("NP", [Tree("NN", word="time")])


def test_exchange_of_words_with_brackets_and_backslashes():
    """NLTK 3.10 reads and writes `\\(`; a backslash at the end of a word is no escape."""
    for word, escaped in ((":)", ":-RRB-"), (r":\)", ":-RRB-"), ("f(x)", "f-LRB-x-RRB-"), ("C:" + "\\", "C:" + "\\")):
        tree = from_nltk(nltk_tree.Tree("NP", [nltk_tree.Tree("NN", [word]), nltk_tree.Tree("NN", ["a"])]))
        assert tree.words == [escaped, "a"]
        assert [*parse_trees(str(tree))] == [tree]
        assert from_nltk(nltk_tree.Tree.fromstring(str(tree))) == tree


def test_exchange_of_a_deep_tree():
    tree = Tree("NN", word="w")
    for _ in range(5000):
        tree = Tree("VP", [tree])
    assert from_nltk(to_nltk(tree)) == tree


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: nltk_tree.Tree("NP", ["the", "cat"]),
            r"a tag above each word.*'NP' has the children \['the', 'cat'\]",
        ),
        (
            lambda: nltk_tree.Tree("NP", [nltk_tree.Tree("DT", ["the"]), "cat"]),
            r"a tag above each word.*\['DT', 'cat'\]",
        ),
        (lambda: nltk_tree.Tree("NP", []), "a tag above each word"),
        (lambda: nltk_tree.Tree("NP", [nltk_tree.Tree(3, ["x"])]), "whose labels are strings"),
        (lambda: nltk_tree.Tree("NN", ["ice cream"]), "got 'ice cream' in .*join words with spaces"),
        (lambda: "(NP (NN time))", r"read brackets with nltk.Tree.fromstring"),
        (lambda: ["NP", ["NN", "time"]], "Expected an nltk.Tree"),
        (lambda: nltk_tree.Tree("NN", [7]), "Expected an nltk.Tree"),
    ],
)
def test_exchange_refuses_what_is_no_tree_of_words_and_tags(make, message):
    with pytest.raises(ValueError, match=message):
        from_nltk(make())


def test_exchange_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tree", None)
    with pytest.raises(ImportError, match=r"to_nltk\(\) needs nltk, which is not installed: pip install nltk"):
        to_nltk(Tree("NN", word="time"))
