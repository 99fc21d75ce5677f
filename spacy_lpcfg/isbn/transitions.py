"""Predictive LR derivations: a tree as the transitions that build it from left to right, and back.

Section 7.2 of Henderson and Titov (2010). A stack holds the nodes whose left part is there. Shift puts the next word on
it, with its tag; Project puts a new node over the top; Attach makes the top the last child of the node below; Modify is
Attach to a copy of the node below that stands over it (Chomsky adjunction), and so makes the copy. A node is projected
as soon as its first child is complete, so that most of it is predicted. Differs: a node over one of its own label with
further children is always built by Modify, so that every tree has exactly one derivation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.tree import Tree

SHIFT, ATTACH, MODIFY, PROJECT = range(4)
"""Kinds of transitions. The network numbers its actions likewise, with an action from PROJECT on for each label."""


class Transition(NamedTuple):
    """One transition of a derivation.

    kind (int): SHIFT, ATTACH, MODIFY or PROJECT.
    label (str): the tag of the word that is shifted, or the label of the node that is projected; "" else.
    word (str): that is shifted; "" else.
    """

    kind: int
    label: str = ""
    word: str = ""


ATTACHED = Transition(ATTACH)
MODIFIED = Transition(MODIFY)


def derive(tree: Tree) -> list[Transition]:
    """The derivation of a tree, which `tree_of` undoes.

    tree (Tree): with no node right over one of the same label, as `normalize` leaves it.
    RETURNS (list[Transition]): it ends with the Attach of the whole tree to the root, of which it is the only child.
    RAISES (ValueError): On a node with one child, of its own label.
    """
    transitions: list[Transition] = []
    stack: list[Tree | Transition] = [ATTACHED, tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Transition):
            transitions.append(item)
        elif item.word is not None:
            transitions.append(Transition(SHIFT, item.label, item.word))
        else:
            stack.extend(_parts(item)[::-1])
    return transitions


def _parts(node: Tree) -> list[Tree | Transition]:
    """The children of a node in order, with the transitions after each."""
    first, *others = node.children
    adjoins = not first.is_leaf and first.label == node.label
    if adjoins and not others:
        raise ValueError(
            f"Expected no {shown(node.label)} right over another, of which derivations know one only; "
            "normalize the tree."
        )
    parts: list[Tree | Transition] = [first] if adjoins else [first, Transition(PROJECT, node.label)]
    for child in others:
        parts += [child, MODIFIED if adjoins else ATTACHED]
        adjoins = False
    return parts


def tree_of(transitions: Iterable[Transition]) -> Tree:
    """The tree that a derivation builds, the inverse of `derive`.

    RAISES (ValueError): If the transitions are no derivation of one tree.
    """
    stack: list[tuple[str, list[Tree], str | None]] = []  # label, children, word
    whole: Tree | None = None
    for transition in transitions:
        if whole is not None or (not stack and transition.kind != SHIFT):
            raise ValueError(f"Expected the transitions of one tree, got {transition} where none is possible.")
        if transition.kind == SHIFT:
            stack.append((transition.label, [], transition.word))
        elif transition.kind == PROJECT:
            stack.append((transition.label, [Tree(*stack.pop())], None))
        elif len(stack) == 1 and transition.kind == ATTACH:
            whole = Tree(*stack.pop())
        elif len(stack) > 1 and stack[-2][2] is None:
            child = Tree(*stack.pop())
            if transition.kind == MODIFY:
                below = Tree(*stack.pop())
                stack.append((below.label, [below], None))
            stack[-1][1].append(child)
        else:
            raise ValueError(f"Expected a node below the top for {transition} to attach it to.")
    if whole is None:
        raise ValueError(f"Expected the transitions of a whole tree, but they leave {len(stack)} nodes on the stack.")
    return whole
