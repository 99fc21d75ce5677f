"""Feature templates against the same features as plain tuples, and their scaling."""

from itertools import islice

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.learning.lexicon.lexical import TreebankVocabulary, count_words
from spacy_lpcfg.learning.moments.projections import scaled
from spacy_lpcfg.learning.treebank.features import (
    INSIDE,
    OUTSIDE,
    PAPER_INSIDE,
    PAPER_LEAF,
    PAPER_OUTSIDE,
    FeatureTable,
    NodeContext,
    feature_table,
    mix,
)
from spacy_lpcfg.learning.treebank.skeletons import NONE, Skeletons, join, skeletons
from spacy_lpcfg.trees import read_trees
from spacy_lpcfg.words.signatures import signature_backoff


class Slow:
    """Every feature of a node as section 3.1 of Cohen et al. (2013) words it; None stands for what is not there."""

    def __init__(self, nodes: Skeletons, vocabulary: TreebankVocabulary) -> None:
        self.nodes, self.vocabulary = nodes, vocabulary

    def label(self, node):
        return None if node == NONE else (self.nodes.symbol[node] < len(self.nodes.preterminals), self.name(node))

    def name(self, node):
        return self.nodes.symbols[self.nodes.symbol[node]]

    def terminal(self, node):
        word = self.nodes.words[self.nodes.word[node]]
        return next(
            name for name in signature_backoff(word, self.nodes.start[node] == 0) if name in self.vocabulary.terminals
        )

    def is_leaf(self, node):
        return self.nodes.left[node] == NONE

    def rule(self, node):
        if node == NONE:
            return None
        if self.is_leaf(node):
            return self.label(node), self.terminal(node)
        return tuple(self.label(n) for n in (node, self.nodes.left[node], self.nodes.right[node]))

    def rule_above(self, node):
        above = NONE if node == NONE else self.nodes.parent[node]
        return None if above == NONE else (self.rule(above), "right" if self.nodes.right[above] == node else "left")

    def above(self, node, n):
        return NONE if node == NONE else node if n == 0 else self.above(self.nodes.parent[node], n - 1)

    def tag_at(self, node, position):
        """Symbol of the leaf at a position of the node's sentence."""
        root = node
        while self.nodes.parent[root] != NONE:
            root = self.nodes.parent[root]
        first = root - 2 * (self.nodes.length[node] - 1)
        leaves = [n for n in range(first, root + 1) if self.is_leaf(n)]
        return self.label(leaves[position]) if 0 <= position < len(leaves) else None

    def head_above(self, node):
        ancestor = self.nodes.parent[node]
        while ancestor != NONE and self.nodes.head[ancestor] == self.nodes.head[node]:
            ancestor = self.nodes.parent[ancestor]
        return None if ancestor == NONE else self.label(self.nodes.head[ancestor])

    def inside(self, node):
        left, right = self.nodes.left[node], self.nodes.right[node]
        return {
            "label": None,
            "left": self.label(left),
            "right": self.label(right),
            "rule": self.rule(node),
            "rule+left_rule": (self.rule(node), self.rule(left)),
            "rule+right_rule": (self.rule(node), self.rule(right)),
            "head_tag": self.label(self.nodes.head[node]),
            "n_words": self.nodes.end[node] - self.nodes.start[node],
            "first_tag": self.tag_at(node, self.nodes.start[node]),
            "last_tag": self.tag_at(node, self.nodes.end[node] - 1),
            "head_word": self.terminal(self.nodes.head[node]),
        }

    def outside(self, node):
        above = [self.rule_above(self.above(node, n)) for n in range(3)]
        return {
            "label": None,
            "rule_above": above[0],
            "two_above": above[:2],
            "three_above": above,
            "parent": self.label(self.above(node, 1)),
            "parent+grandparent": [self.label(self.above(node, n)) for n in (1, 2)],
            "head_above": self.head_above(node),
            "n_left": self.nodes.start[node],
            "n_right": self.nodes.length[node] - self.nodes.end[node],
            "tag_before": self.tag_at(node, self.nodes.start[node] - 1),
            "tag_after": self.tag_at(node, self.nodes.end[node]),
        }


def read(trees) -> tuple[NodeContext, Slow]:
    nodes = join([skeletons(trees)])
    vocabulary = TreebankVocabulary(count_words(nodes), rare=1)
    return NodeContext(nodes, vocabulary.of_leaves(nodes)), Slow(nodes, vocabulary)


@pytest.fixture(scope="module")
def sample() -> tuple[NodeContext, Slow]:
    return read(islice(read_trees([SAMPLE / "train.mrg"]), 40))


@pytest.mark.parametrize(
    ("side", "name"), [("inside", name) for name in INSIDE] + [("outside", name) for name in OUTSIDE]
)
def test_keys_are_equal_where_features_are(sample, side, name):
    """On all nodes of 40 trees, a one to one relation of keys and tuples; numbers are the numbers."""
    context, slow = sample
    column = (INSIDE if side == "inside" else OUTSIDE)[name](context)
    expected = [getattr(slow, side)(node)[name] for node in range(context.nodes.n_nodes)]
    if column.dtype != np.uint64:
        assert column.tolist() == expected
        return
    pairs = {(key, repr(feature)) for key, feature in zip(column.tolist(), expected, strict=True)}
    assert len(pairs) == len({key for key, _ in pairs}) == len({feature for _, feature in pairs})


def test_features_of_the_paper_are_all_there():
    assert PAPER_INSIDE == ("left", "right", "rule", "rule+left_rule", "rule+right_rule", "head_tag", "n_words")
    assert {"rule_above", "two_above", "three_above", "parent", "parent+grandparent", "head_above"} <= set(
        PAPER_OUTSIDE
    )
    assert {"n_left", "n_right"} <= set(PAPER_OUTSIDE)
    assert PAPER_LEAF == ("rule",)
    assert {*PAPER_INSIDE, *PAPER_LEAF} <= set(INSIDE)
    assert set(PAPER_OUTSIDE) <= set(OUTSIDE)


def test_feature_table_keeps_templates_apart(sample):
    context, _ = sample
    table = feature_table(context, INSIDE, ("left", "right", "n_words"))
    assert (table.keys.shape, table.values.shape) == ((context.nodes.n_nodes, 2), (context.nodes.n_nodes, 1))
    assert not set(table.keys[:, 0]) & set(table.keys[:, 1])
    none = feature_table(context, OUTSIDE, ("n_left",))
    assert none.keys.shape == (context.nodes.n_nodes, 0)


def test_feature_table_names_unknown_features(sample):
    with pytest.raises(ValueError, match=r"Expected features among .*'rule_above'.*, got \['colour'\]"):
        feature_table(sample[0], OUTSIDE, ("rule_above", "colour"))


def test_mix_tells_columns_and_their_order_apart():
    ids = np.arange(200)
    one, two = (grid.ravel() for grid in np.meshgrid(ids, ids))
    assert len(set(mix(one, two).tolist())) == 200 * 200
    assert mix(3, 5) != mix(5, 3)


@pytest.mark.parametrize("kappa", [None, 0.0, 5.0])
def test_scaling_is_that_of_section_3_1(kappa):
    """phi_i * sqrt(M / (count(i) + kappa)); a number's count is its sum of squares."""
    rng = np.random.default_rng(0)
    keys = np.stack([rng.integers(0, 3, 20), rng.integers(10, 15, 20)], axis=1).astype(np.uint64)
    values = rng.integers(0, 4, (20, 2)).astype(np.float32)
    found = scaled(FeatureTable(keys, values), kappa).toarray()
    names = sorted({*keys.ravel().tolist()})
    for node in range(20):
        raw = [float(name in keys[node]) for name in names] + values[node].tolist()
        counts = [np.count_nonzero(keys == name) for name in names] + (values**2).sum(axis=0).tolist()
        for found_value, value, n in zip(found[node], raw, counts, strict=True):
            scale = 1.0 if kappa is None else np.sqrt(20 / (n + kappa))
            assert found_value == pytest.approx(value * scale, rel=1e-6)
