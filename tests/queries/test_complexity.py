"""Counts, indices and depths: what the definitions say, node by node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import trees as random_trees
from paths import SAMPLE

from spacy_lpcfg.queries import Complexity, complexity
from spacy_lpcfg.queries.complexity import COLUMNS, COUNTS, INDICES
from spacy_lpcfg.trees import Tree, clean, parse_trees, read_trees
from spacy_lpcfg.trees.heads import ENGLISH

FINITE = {"MD", "VBZ", "VBP", "VBD"}


# The definitions by plain recursion ---------------------------------------------------------------


@dataclass(eq=False)
class Node:
    """A node that knows what is around it; a word is a node below its tag."""

    label: str
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def head(self) -> Node | None:
        """The head child."""
        if not self.children:
            return None
        return self.children[ENGLISH.head(self.label, [child.label for child in self.children])]

    def has_head(self, *labels: str) -> bool:
        return self.head is not None and self.head.label in labels

    def is_under(self, *labels: str) -> bool:
        return self.parent is not None and self.parent.label in labels

    def has(self, *labels: str) -> bool:
        return any(child.label in labels for child in self.children)

    def sisters(self, side: int) -> list[Node]:
        """All to the left (-1) or to the right (1)."""
        if self.parent is None:
            return []
        at = next(i for i, each in enumerate(self.parent.children) if each is self)
        return self.parent.children[at + 1 :] if side > 0 else self.parent.children[:at]

    def above(self) -> list[Node]:
        return [self.parent, *self.parent.above()] if self.parent else []

    def below(self) -> list[Node]:
        return [each for child in self.children for each in (child, *child.below())]


def node_of(tree: Tree, parent: Node | None = None) -> Node:
    node = Node(tree.label, parent)
    node.children = [node_of(child, node) for child in tree.children]
    if tree.is_leaf:
        node.children = [Node(tree.word, node)]
    return node


def is_clause(node: Node) -> bool:
    if node.label not in ("S", "SINV", "SQ"):
        return False
    first = node.children[0]
    if node.is_under("ROOT") and first.label == "VP" and first.has_head("VB"):
        return True
    phrases = [child for child in node.children if child.label == "VP"]
    together = [vp for vp in phrases if vp.has("CC")]
    return (
        node.has_head(*FINITE)
        or any(vp.has_head(*FINITE) for vp in phrases)
        or any(below.label == "VP" and below.has_head(*FINITE) for vp in together for below in vp.children)
    )


def is_t_unit(node: Node) -> bool:
    kinds = ("S", "SBARQ", "SINV", "SQ")
    if node.label not in kinds:
        return False
    is_after = any(left.label in kinds for left in node.sisters(-1))
    return node.is_under("ROOT") or (is_after and not any(each.label in ("SBAR", "VP") for each in node.above()))


def is_dependent(node: Node) -> bool:
    return node.label == "SBAR" and any(is_clause(child) for child in node.children)


def is_complex_nominal(node: Node) -> bool:
    right = node.sisters(1)[:1]
    is_subject = bool(right) and right[0].label == "VP"
    if node.label == "NP" and not node.is_under("NP"):
        if any(each.label in ("JJ", "POS", "PP", "S", "VBG") for each in node.below()):
            return True
        for each in node.below():
            after = each.sisters(1)
            if each.label == "NP" and any(sister.label == "NP" for sister in after) and after[0].label != "CC":
                return True
    if node.label == "SBAR" and (is_subject or node.is_under("VP")):
        is_that = node.has_head("IN") and node.head.has("That", "that", "For", "for")
        return node.has_head("WHNP") or is_that or node.children[0].label == "S"
    return node.label == "S" and is_subject and any(c.label == "VP" and c.has_head("VBG", "TO") for c in node.children)


def is_fragment(node: Node, without) -> bool:
    return node.label == "FRAG" and node.is_under("ROOT") and not any(without(each) for each in node.below())


def slow_counts(tree: Tree) -> dict[str, int]:
    root = node_of(tree)
    nodes = [root, *root.below()]
    return {
        "W": len(re.findall(r"\([A-Z]+\$? [^)(]+\)", str(tree))),
        "S": sum(node.label == "ROOT" for node in nodes),
        "VP": sum(
            (node.label == "VP" and node.is_under("S", "SINV", "SQ"))
            or (node.label in FINITE and node.is_under("SQ") and not node.parent.has("VP"))
            for node in nodes
        ),
        "C": sum(is_clause(node) or is_fragment(node, is_clause) for node in nodes),
        "T": sum(is_t_unit(node) or is_fragment(node, is_t_unit) for node in nodes),
        "DC": sum(map(is_dependent, nodes)),
        "CT": sum(is_t_unit(node) and any(map(is_dependent, node.below())) for node in nodes),
        "CP": sum(node.label in ("ADJP", "ADVP", "NP", "VP") and node.has("CC") for node in nodes),
        "CN": sum(map(is_complex_nominal, nodes)),
    }


def is_word(leaf: Tree) -> bool:
    return re.fullmatch(r"[A-Z]+\$?", leaf.label) is not None


def n_words(tree: Tree) -> int:
    return sum(map(is_word, tree.leaves()))


def yngve_depths(tree: Tree, depth: int = 0) -> list[int]:
    """For each word how many branches are to the right of those that lead to it."""
    if tree.is_leaf:
        return [depth] if is_word(tree) else []
    children = [child for child in tree.children if n_words(child)]
    ranks = range(len(children) - 1, -1, -1)
    return [each for child, rank in zip(children, ranks, strict=True) for each in yngve_depths(child, depth + rank)]


def frazier_scores(tree: Tree, before: float = 0.0) -> list[float]:
    """For each word what the brackets that begin with it count, of which some are around the tree."""
    if tree.is_leaf:
        return [before]
    own = 0 if tree.label == "ROOT" else 1.5 if tree.label in ("S", "SBAR", "SBARQ", "SINV", "SQ") else 1
    first, *others = [child for child in tree.children if n_words(child)]
    scores = frazier_scores(first, before + own)
    return scores + [each for child in others for each in frazier_scores(child)]


def height(tree: Tree) -> int:
    return 1 if tree.is_leaf else 1 + max(height(child) for child in tree.children if n_words(child))


def rooted(tree: Tree) -> Tree:
    bare = clean(tree)
    return Tree("ROOT", bare.children if bare.label == "TOP" else [bare])


def check(trees: list[Tree]) -> None:
    found = complexity(trees)
    counts = [slow_counts(rooted(tree)) for tree in trees]
    assert [{name: record[name] for name in COUNTS} for record in found.sentences] == counts
    for tree, record in zip(map(rooted, trees), found.sentences, strict=True):
        if n_words(tree):
            assert record["yngve"] == pytest.approx(np.mean(yngve_depths(tree)))
            assert record["frazier"] == pytest.approx(np.mean(frazier_scores(tree)))
            assert record["height"] == height(tree) - 1
    total = {name: sum(each[name] for each in counts) for name in COUNTS}
    for name, (one, other) in INDICES.items():
        assert found.document[name] == pytest.approx(total[one] / total[other] if total[other] else 0, rel=1e-9)


# Trees --------------------------------------------------------------------------------------------


def test_complexity_of_the_sample_is_that_of_the_definitions():
    check([*islice(read_trees(SAMPLE / "train.mrg"), 200)])


LABELS = st.sampled_from(["S", "SBAR", "SBARQ", "SINV", "SQ", "FRAG", "NP", "VP", "WHNP", "ADJP", "PP"])
TAGS = st.sampled_from(["MD", "VBZ", "VBD", "VB", "VBG", "TO", "CC", "IN", "JJ", "NN", "POS", ",", "-LRB-"])


@settings(max_examples=100)
@given(st.lists(random_trees(LABELS, TAGS), min_size=1, max_size=4))
def test_complexity_of_any_trees_is_that_of_the_definitions(trees):
    check([tree.fold(lambda node, below: Tree(node.label, below, "that" if below == [] else None)) for tree in trees])


# Documents ----------------------------------------------------------------------------------------

RAIN = "(S (NP (NN Rain)) (VP (VBD fell)) (. .))"
SAID = "(TOP (S (NP-SBJ (PRP He)) (VP (VBD said) (SBAR (-NONE- 0) (S (NP (NN rain)) (VP (VBD fell)))))))"


def test_complexity_of_a_document():
    """Empty elements and functions are taken off, and trees without words left out."""
    found = complexity(parse_trees(f"{RAIN}\n{SAID}\n(NP (-NONE- *))"))
    assert [record["MLS"] for record in found.sentences] == [2, 4]
    assert found.sentences[1]["DC/T"] == 1
    expected = {"W": 6, "S": 2, "VP": 3, "C": 3, "T": 2, "DC": 1, "CT": 1, "MLC": 2, "CT/T": 0.5, "height": 4.5}
    assert {name: found.document[name] for name in expected} == expected
    assert tuple(found.document) == COLUMNS == tuple(found.sentences[0])
    assert found.document["surprisal"] is None


def test_complexity_has_the_mean_surprisal_of_words():
    trees = parse_trees(f"{RAIN} (NP (-NONE- *)) {SAID}")
    found = complexity(trees, surprisals=[[1.0, 2.0, 6.0], [9.0], [4.0, 4.0, 4.0, 7.0]])
    assert [record["surprisal"] for record in found.sentences] == [3, 4.75]
    assert found.document["surprisal"] == 4
    with pytest.raises(ValueError, match="of each of 2 trees, got those of 1"):
        complexity(parse_trees(f"{RAIN} {SAID}"), surprisals=[[1.0, 2.0, 6.0]])


def test_complexity_of_documents_adds_up_and_of_nothing_is_nought():
    one, other = complexity(parse_trees(RAIN)), complexity(parse_trees(SAID))
    both = Complexity.joined([one, other])
    assert both.document == complexity(parse_trees(RAIN + SAID)).document
    assert complexity([]).sentences == []
    assert {complexity([]).document[name] for name in (*COUNTS, *INDICES, "yngve")} == {0}
