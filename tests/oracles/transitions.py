"""The trees of derivations, transition by transition."""

from collections.abc import Sequence

from spacy_lpcfg.isbn.transitions import MODIFY, PROJECT, SHIFT, Transition
from spacy_lpcfg.trees import Tree


def tree_of(transitions: Sequence[Transition]) -> Tree:
    """Build the tree of a derivation: the inverse of `derive`."""
    *before_end, _ = transitions
    stack: list[Tree] = []
    for kind, label, word in before_end:
        if kind == SHIFT:
            stack.append(Tree(label, word=word))
        elif kind == PROJECT:
            stack.append(Tree(label, [stack.pop()]))
        else:
            child, below = stack.pop(), stack.pop()
            stack.append(Tree(below.label, [*([below] if kind == MODIFY else below.children), child]))
    (whole,) = stack
    return whole
