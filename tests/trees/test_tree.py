import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.trees import Tree

CAT = Tree("S", [Tree("NP", [Tree("DT", word="the"), Tree("NN", word="cat")]), Tree("VP", [Tree("VBD", word="slept")])])


def chain(depth: int) -> Tree:
    """A tree that is deep on the left, with a unary node on every level."""
    tree = Tree("NN", word="word")
    for _ in range(depth // 2):
        tree = Tree("S", [Tree("X", [tree]), Tree("NN", word="word")])
    return tree


def recursive_spans(tree: Tree, start: int = 0) -> list[tuple[int, int, str]]:
    """Return the spans of a tree by their recursive definition."""
    if tree.is_leaf:
        return []
    spans, end = [], start
    for child in tree.children:
        spans += recursive_spans(child, end)
        end += 1 if child.is_leaf else len(child.words)
    return [(start, end, tree.label), *spans]


def test_tree_properties():
    assert CAT.words == ["the", "cat", "slept"]
    assert CAT.tags == ["DT", "NN", "VBD"]
    assert [leaf.word for leaf in CAT.leaves()] == CAT.words
    assert [node.label for node in CAT.nodes()] == ["S", "NP", "DT", "NN", "VP", "VBD"]
    assert CAT.spans() == [(0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")]
    assert str(CAT) == "(S (NP (DT the) (NN cat)) (VP (VBD slept)))"
    assert repr(CAT) == f"<Tree {CAT}>"
    assert len(CAT) == 3
    assert not CAT.is_leaf
    assert CAT.leaves()[0].is_leaf


@pytest.mark.parametrize(("children", "word"), [((), None), ((CAT,), "word")])
def test_tree_refuses_both_or_neither_of_children_and_word(children, word):
    with pytest.raises(ValueError, match="either children or a word, but 'NP' got"):
        Tree("NP", children, word)


def test_tree_is_immutable():
    for name in ("label", "children", "word"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(CAT, name, "x")
        with pytest.raises(AttributeError, match="immutable"):
            delattr(CAT, name)
    with pytest.raises(AttributeError):
        CAT.parent = None


def test_tree_equality_is_of_structure():
    leaf, other = Tree("NN", word="a"), Tree("NN", word="b")
    assert leaf == Tree("NN", word="a")
    assert leaf != other
    assert leaf != "(NN a)"
    assert Tree("X", [Tree("X", [leaf]), other]) != Tree("X", [Tree("X", [leaf, other])])
    assert len({leaf, Tree("NN", word="a"), other}) == 2


@given(trees())
def test_tree_from_spans_inverts_spans(tree):
    assert Tree.from_spans(tree.words, tree.tags, tree.spans()) == tree


@given(trees())
def test_tree_fold_visits_in_post_order(tree):
    visited = []

    def visit(node, results):
        visited.append(node)
        assert results == [str(child) for child in node.children]
        return str(node)

    assert tree.fold(visit) == str(tree)
    assert [node for node in visited if node.is_leaf] == tree.leaves()
    assert len(visited) == len(list(tree.nodes()))


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 3, "S"), (0, 2, "A"), (1, 3, "B")], "nested"),
        ([(0, 3, "S"), (1, 2, "A"), (0, 1, "B")], "pre-order"),
        ([(0, 3, "S"), (1, 1, "A")], "non-empty"),
        ([(0, 3, "S"), (3, 3, "A")], "non-empty"),
        ([(0, 4, "S")], r"\(0, 4, 'S'\) came at word 0 inside \(0, 3, ''\)"),
        ([(-1, 3, "S")], "nested"),
        ([(0, 3, "S"), (3, 4, "A")], "nested"),
        ([(0, 2, "S")], "must cover all 3 words"),
        ([(0, 2, "S"), (2, 3, "S")], "must cover all 3 words"),
        ([], "must cover all 3 words"),
    ],
)
def test_tree_from_spans_refuses_what_is_not_a_tree(spans, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_spans(["a", "b", "c"], ["A", "B", "C"], spans)


@pytest.mark.parametrize(("words", "tags"), [([], []), (["a"], []), (["a"], ["A", "B"])])
def test_tree_from_spans_refuses_words_without_tags(words, tags):
    with pytest.raises(ValueError, match="one tag for each"):
        Tree.from_spans(words, tags, [(0, 1, "S")])


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4), st.sampled_from("AB"))))
def test_tree_from_spans_gives_these_spans_or_refuses(spans):
    try:
        tree = Tree.from_spans(["a", "b", "c"], ["A", "B", "C"], spans)
    except ValueError:
        return
    assert tree.spans() == spans


def test_tree_depth_is_bounded_by_memory_only():
    tree = chain(5_000)
    assert tree == chain(5_000)
    assert hash(tree) == hash(chain(5_000))
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == copy.copy(tree) == tree
    assert hash(copy.deepcopy(tree)) == hash(tree)
    assert Tree.from_spans(tree.words, tree.tags, tree.spans()) == tree
    assert str(tree).count("(") == len(list(tree.nodes())) == 7_501
    assert tree.fold(lambda node, heights: 1 + max(heights, default=0)) == 5_001
