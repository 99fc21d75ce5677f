"""Dependencies read back from the phrases that were made of them."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.heads import head_rules
from spacy_lpcfg.trees.tree import Tree

RULES = head_rules("dependencies")
_CONJUNCTION = "CCONJ"


def dependency_heads(tree: Tree) -> list[int]:
    """Find the head of each word of a tree by the conventions of Universal Dependencies.

    Content words head function words, and the first conjunct the others. A conjunction depends on the conjunct after
    it, and a mark of punctuation on what it sets off from the head.

    tree (Tree): With the labels and tags that `phrases_of` gives.
    RETURNS (list of int, (n_words,)): The positions of heads; NO_HEAD for the root.
    """
    heads = [NO_HEAD] * len(tree)
    n_words = 0

    def top_of(node: Tree, tops: list[int]) -> int:
        nonlocal n_words
        if node.is_leaf:
            n_words += 1
            return n_words - 1
        labels = [child.label for child in node.children]
        center = RULES.head(node.label, labels)
        for i, top in enumerate(tops):
            if i != center:
                heads[top] = tops[_attached(i, center, labels)]
        return tops[center]

    tree.fold(top_of)
    return heads


def _attached(child: int, center: int, labels: Sequence[str]) -> int:
    """Return the position of the sibling on which a child depends."""
    if labels[child] == _CONJUNCTION:
        outward: Sequence[int] = range(child + 1, len(labels))
    elif _is_mark(labels[child]):
        outward = range(child - 1, -1, -1) if child < center else range(child + 1, len(labels))
    else:
        return center
    return next((i for i in outward if labels[i] != _CONJUNCTION and not _is_mark(labels[i])), center)


def _is_mark(label: str) -> bool:
    return not label[:1].isalpha()
