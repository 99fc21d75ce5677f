"""The node table of a treebank against the trees themselves."""

from dataclasses import fields
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lexical_heads import lexical_heads
from oracles.strategies import trees
from paths import SAMPLE

from spacy_lpcfg.learning.treebank.counts import boundary_tags, count, smoothed_roots
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import NONE, Reading, Skeletons, join, skeletons
from spacy_lpcfg.trees import Tree, normalize, parse_trees, read_trees
from spacy_lpcfg.trees.heads import ENGLISH
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries


def table(*brackets: str) -> Skeletons:
    return skeletons(parse_trees(brackets))


def names(nodes: Skeletons, ids) -> list[str]:
    return [nodes.symbols[i] for i in nodes.symbol[ids]]


def reference(tree: Tree) -> list[tuple]:
    """Rows of one tree, by walking it: symbol, word, parent, left, right, head, start, end; nodes in post-order."""
    normal = normalize(tree)
    if normal is None:
        return []
    skeleton = binarize(collapse_unaries(normal))
    heads = dict(zip(map(id, skeleton.nodes()), lexical_heads(skeleton, ENGLISH), strict=True))
    order: list[Tree] = []
    place: dict[int, int] = {}

    def visit(node: Tree, start: int, parents: dict[int, int]) -> int:
        position = start
        for child in node.children:
            position = visit(child, position, parents)
        place[id(node)] = len(order)
        order.append(node)
        starts[id(node)] = start
        for child in node.children:
            parents[id(child)] = len(order) - 1
        return position if node.children else start + 1

    starts: dict[int, int] = {}
    parents: dict[int, int] = {}
    visit(skeleton, 0, parents)
    leaf_at = [place[id(leaf)] for leaf in skeleton.leaves()]
    return [
        (
            (node.is_leaf, node.label),
            node.word,
            parents.get(id(node), NONE),
            *(place[id(child)] for child in node.children or ()),
            *((NONE, NONE) if node.is_leaf else ()),
            leaf_at[heads[id(node)]],
            starts[id(node)],
            starts[id(node)] + len(node),
        )
        for node in order
    ]


@given(st.lists(trees(), min_size=1, max_size=4))
def test_table_is_that_of_the_trees(treebank):
    nodes = skeletons(treebank)
    expected, roots, first = [], [], 0
    for tree in treebank:
        rows = reference(tree)
        for symbol, word, parent, left, right, head, start, end in rows:
            moved = (id_ if id_ == NONE else id_ + first for id_ in (parent, left, right, head))
            expected.append((symbol, word, *moved, start, end, rows[-1][-1]))
        first += len(rows)
        roots += [first - 1] * bool(rows)
    found = zip(
        nodes.symbol,
        nodes.word,
        nodes.parent,
        nodes.left,
        nodes.right,
        nodes.head,
        nodes.start,
        nodes.end,
        nodes.length,
        strict=True,
    )
    n = len(nodes.preterminals)
    assert [
        ((symbol < n, nodes.symbols[symbol]), None if word == NONE else nodes.words[word], *rest)
        for symbol, word, *rest in found
    ] == expected
    leaves = [i for i, (_, word, *_) in enumerate(expected) if word is not None]
    assert (nodes.roots.tolist(), nodes.leaves.tolist()) == (roots, leaves)
    assert sorted([*nodes.leaves, *nodes.inner]) == [*range(len(expected))]


@given(st.lists(trees(), min_size=1, max_size=6), st.integers(0, 6))
def test_join_does_not_depend_on_the_cut(treebank, cut):
    whole, parts = join([skeletons(treebank)]), join([skeletons(treebank[:cut]), skeletons(treebank[cut:])])
    for name in ("preterminals", "interminals", "words"):
        assert getattr(whole, name) == getattr(parts, name) == tuple(sorted(getattr(whole, name)))
    for field in fields(Skeletons):
        one, two = getattr(whole, field.name), getattr(parts, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)


@given(st.lists(trees(), min_size=1, max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_trees_between_others_are_a_table_of_their_own(treebank, first, end):
    normal = [tree for tree in treebank if normalize(tree) is not None]
    found, expected = skeletons(treebank).between(first, max(first, end)), skeletons(normal[first : max(first, end)])
    assert names(found, slice(None)) == names(expected, slice(None))
    assert [found.words[word] for word in found.word[found.leaves]] == [
        expected.words[word] for word in expected.word[expected.leaves]
    ]
    for column in ("left", "right", "parent", "head", "start", "end", "length", "roots", "leaves"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


def test_read_skeletons_joins_shards_of_a_stream(monkeypatch):
    treebank = list(islice(read_trees([SAMPLE / "train.mrg"]), 50))
    whole = read_skeletons(iter(treebank))
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.shards.SHARD_SIZE", 7)
    parts = read_skeletons(iter(treebank))
    assert (whole.symbols, whole.words, whole.root_label) == (parts.symbols, parts.words, parts.root_label)
    np.testing.assert_array_equal(whole.head, parts.head)


@pytest.mark.parametrize("cut", [0, 10, 19])
def test_root_label_does_not_depend_on_the_cut(cut):
    treebank = [Tree(root, [Tree("S", word="a")]) for root in ["TOP"] * 6 + ["ROOT"] * 13]
    assert join([skeletons(treebank[:cut]), skeletons(treebank[cut:])]).root_label == "ROOT"


def test_skeletons_leave_out_trees_of_empty_elements():
    nodes = table("(S (NP (-NONE- *)))", "(ROOT (S (NP-SBJ (-NONE- *)) (VP (VB Go) (PRT (RP on)))))")
    assert nodes.symbols == ("VB", "PRT|RP", "S|VP")
    assert len(nodes.roots) == 1


@pytest.mark.parametrize(
    ("brackets", "label"),
    [
        (["(ROOT (N a))", "(ROOT (N b))", "(TOP (N c))"], "ROOT"),
        (["((N a))", "(S (N b) (N c))", "(TOP (N c))"], ""),
        ([], ""),
    ],
)
def test_root_label_is_the_commonest(brackets, label):
    assert table(*brackets).root_label == label
    assert read_skeletons(parse_trees(brackets)).root_label == label


def test_markov_order_and_language_reach_the_table():
    brackets = ["(VP (V a) (NP b) (PP c) (X d))"]
    assert set(skeletons(parse_trees(brackets)).interminals) == {"@VP", "VP"}
    assert set(skeletons(parse_trees(brackets), Reading(markov=1)).interminals) == {"@VP->_PP", "@VP->_X", "VP"}
    noun = ["(NP (RB not) (RB dog))"]
    assert [skeletons(parse_trees(noun), Reading(lang)).head[2] for lang in ("en", "head-final", "xx")] == [1, 1, 0]


def test_deep_trees_do_not_recurse():
    tree = Tree("NN", word="a")
    for _ in range(3000):
        tree = Tree("NP", (Tree("DT", word="b"), tree))
    nodes = skeletons([tree])
    assert (nodes.n_nodes, nodes.end[-1], nodes.head[-1]) == (6001, 3001, 3000)


# ----------------------------------------------------------------------------------------------- counts


@pytest.fixture(scope="module")
def sample() -> Skeletons:
    return join([skeletons(islice(read_trees([SAMPLE / "train.mrg"]), 60))])


def rule_of(nodes: Skeletons, node: int) -> tuple[int, ...]:
    return tuple(nodes.symbol[[node, nodes.left[node], nodes.right[node]]].tolist())


def test_counts_are_those_of_the_table(sample):
    counts = count(sample)
    rules: dict[tuple[int, ...], int] = {}
    for node in sample.inner.tolist():
        rules[rule_of(sample, node)] = rules.get(rule_of(sample, node), 0) + 1
        assert counts.rules[counts.rule_of[node]].tolist() == list(rule_of(sample, node))
    assert dict(zip(map(tuple, counts.rules.tolist()), counts.rule_counts, strict=True)) == rules
    assert counts.symbols.tolist() == [np.count_nonzero(sample.symbol == a) for a in range(len(sample.symbols))]
    assert counts.roots.sum() == len(sample.roots) == 60
    assert (counts.rule_of[sample.leaves] == NONE).all()
    totals = np.bincount(counts.rules[:, 0], weights=counts.rule_weights)
    assert totals[totals > 0] == pytest.approx(1.0)


def test_smoothed_roots_are_a_distribution(sample):
    counts = count(sample)
    roots = smoothed_roots(counts, sample.symbols, 0.1)
    assert roots.sum() == pytest.approx(1.0)
    assert all((weight == 0) == name.startswith("@") for weight, name in zip(roots, sample.symbols, strict=True))
    assert (roots >= 0.9 * counts.roots / 60 - 1e-12).all()


def test_tables_of_neighbouring_tags_are_distributions(sample):
    tag_of = np.arange(len(sample.preterminals)) // 2
    n_tags = int(tag_of.max()) + 1
    for table in boundary_tags(sample, tag_of, n_tags):
        assert table.shape == (len(sample.symbols), n_tags + 1)
        assert table.min() > 0
        assert table.sum(axis=1) == pytest.approx(1.0)
