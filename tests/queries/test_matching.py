"""Matches are those of Tregex's definitions, and of other implementations where these have them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import tregex
from oracles.patterns import CHAINS, SIMPLE, RandomPatterns
from oracles.strategies import trees

from spacy_lpcfg.queries import TreeIndex
from spacy_lpcfg.trees import Tree

few_labels = st.sampled_from(["A", "B", "A-1", "c"])
small_trees = trees(few_labels, few_labels, max_leaves=6)


def found(trees: list[Tree], pattern: str) -> list[set[tuple]]:
    """Return the matches of `tregex.search` in each tree."""
    index = TreeIndex.from_trees(trees)
    matches: list[set[tuple]] = [set() for _ in trees]
    n_matches = 0
    for match in index.search(pattern):
        root = match.node.root.number
        names = ((name, node.number - root) for name, node in match.names.items())
        matches[match.node.tree_number].add((match.node.number - root, *names))
        n_matches += 1
    nodes = {(tree, number) for tree, of_tree in enumerate(matches) for number, *_ in of_tree}
    assert [(node, i - index.roots[node]) for i in index.nodes(pattern) for node in [index.tree_of(i)]] == sorted(nodes)
    assert n_matches == sum(map(len, matches))
    return matches


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(small_trees, min_size=1, max_size=3), st.integers(0, 2**32))
def test_matching_is_that_of_the_definitions(trees, seed):
    pattern = RandomPatterns(seed).pattern()
    assert found(trees, pattern) == [tregex.search(tree, pattern) for tree in trees], pattern


@pytest.mark.parametrize("relation", [*SIMPLE, *(f"{chain}(A)" for chain in CHAINS)])
@settings(max_examples=10)
@given(trees=st.lists(small_trees, min_size=2, max_size=3))
def test_matching_has_every_relation(relation, trees):
    for pattern in (f"__=a {relation} __=b", f"A {relation} (B|c !> A)", f"__ !{relation} A"):
        assert found(trees, pattern) == [tregex.search(tree, pattern) for tree in trees]
