"""Dependencies of trees that were converted from dependencies: the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.heads import head_rules
from spacy_lpcfg.trees.tree import Tree

RULES = head_rules("dependencies")
_CONJUNCTIONS = frozenset(("CCONJ", "CONJP"))


def dependency_heads(tree: Tree) -> list[int]:
    """Find the head of each word of a tree by the conventions of Universal Dependencies.

    Content words head function words, the first conjunct heads the others, and the first word of a name the others. A
    conjunction depends on the conjunct after it, and a mark of punctuation on what it sets off from the head. The
    subject of a clause below a verb phrase is an object of the verb, as in "let (S him go)".

    tree (Tree): With the labels and tags that `phrases_of` gives.
    RETURNS (list of int, (n_words,)): The positions of heads; NO_HEAD for the root.
    """
    heads = [NO_HEAD] * len(tree)
    n_words = 0

    def top_of(node: Tree, below: list[_Top]) -> _Top:
        nonlocal n_words
        if node.is_leaf:
            n_words += 1
            return _Top(n_words - 1, None)
        labels = [child.label for child in node.children]
        first = _first_conjuncts(labels)
        center = first[RULES.head(node.label, labels)]
        for i, top in enumerate(below):
            if i != center:
                heads[top.word] = below[first[i] if first[i] != i else _attached(i, center, labels)].word
            if i > center and node.label == "VP" and top.subject is not None:
                heads[top.subject] = below[center].word
        is_clause = node.label == "S" and labels[0] == "NP" and center > 0
        return _Top(below[center].word, below[0].word if is_clause else None)

    tree.fold(top_of)
    return heads


class _Top(NamedTuple):
    """The head word of a phrase, and the head word of the subject with which it begins, if it is a clause."""

    word: int
    subject: int | None


def _first_conjuncts(labels: Sequence[str]) -> list[int]:
    """Return, for each sibling, the position of the first conjunct of its coordination, else its own.

    Conjuncts have the same label, with marks and at least one conjunction between them.
    """
    first = list(range(len(labels)))
    if _CONJUNCTIONS.isdisjoint(labels):
        return first
    last = 0
    for i, label in enumerate(labels):
        if label not in _CONJUNCTIONS and not _is_mark(label):
            if i - last > 1 and label == labels[last]:
                first[i] = first[last]
            last = i
    with_conjunction = {first[i + 1] for i in range(len(labels) - 1) if labels[i] in _CONJUNCTIONS}
    return [top if top in with_conjunction else i for i, top in enumerate(first)]


def _attached(child: int, center: int, labels: Sequence[str]) -> int:
    """Return the position of the sibling on which a child depends."""
    if labels[child] in _CONJUNCTIONS:
        outward: Sequence[int] = range(child + 1, len(labels))
    elif _is_mark(labels[child]):
        outward = range(child - 1, -1, -1) if child < center else range(child + 1, len(labels))
    elif child > center and labels[child - 1] == labels[child] == "PROPN":
        while child > center and labels[child - 1] == "PROPN":
            child -= 1
        return child
    else:
        return center
    return next((i for i in outward if labels[i] not in _CONJUNCTIONS and not _is_mark(labels[i])), center)


def _is_mark(label: str) -> bool:
    return not label[:1].isalpha()
