"""Predictive LR derivations: a tree as the steps that build it from left to right, and back.

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
"""Kinds of steps; the network numbers its actions in the same way, with an action from PROJECT on for each label."""


class Step(NamedTuple):
    """One step of a derivation.

    kind (int): SHIFT, ATTACH, MODIFY or PROJECT.
    label (str): the tag of the word that is shifted, or the label of the node that is projected; "" else.
    word (str): that is shifted; "" else.
    """

    kind: int
    label: str = ""
    word: str = ""


ATTACHED = Step(ATTACH)
MODIFIED = Step(MODIFY)


def derive(tree: Tree) -> list[Step]:
    """The derivation of a tree, which `tree_of` undoes.

    tree (Tree): with no node right over one of the same label, as `normalize` leaves it.
    RETURNS (list[Step]): it ends with the Attach of the whole tree to the root, of which it is the only child.
    RAISES (ValueError): On a node with one child, of its own label.
    """
    steps: list[Step] = []
    stack: list[Tree | Step] = [ATTACHED, tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Step):
            steps.append(item)
        elif item.word is not None:
            steps.append(Step(SHIFT, item.label, item.word))
        else:
            stack.extend(_parts(item)[::-1])
    return steps


def _parts(node: Tree) -> list[Tree | Step]:
    """The children of a node in order, with the steps after each."""
    first, *others = node.children
    adjoins = not first.is_leaf and first.label == node.label
    if adjoins and not others:
        raise ValueError(
            f"Expected no {shown(node.label)} right over another, of which derivations know one only; "
            "normalize the tree."
        )
    parts: list[Tree | Step] = [first] if adjoins else [first, Step(PROJECT, node.label)]
    for child in others:
        parts += [child, MODIFIED if adjoins else ATTACHED]
        adjoins = False
    return parts


def tree_of(steps: Iterable[Step]) -> Tree:
    """The tree that a derivation builds, the inverse of `derive`.

    RAISES (ValueError): If the steps are no derivation of one tree.
    """
    stack: list[tuple[str, list[Tree], str | None]] = []  # label, children, word
    whole: Tree | None = None
    for step in steps:
        if whole is not None or (not stack and step.kind != SHIFT):
            raise ValueError(f"Expected the steps of one tree, got {step} where nothing is left to be done by it.")
        if step.kind == SHIFT:
            stack.append((step.label, [], step.word))
        elif step.kind == PROJECT:
            stack.append((step.label, [Tree(*stack.pop())], None))
        elif len(stack) == 1 and step.kind == ATTACH:
            whole = Tree(*stack.pop())
        elif len(stack) > 1 and stack[-2][2] is None:
            child = Tree(*stack.pop())
            if step.kind == MODIFY:
                below = Tree(*stack.pop())
                stack.append((below.label, [below], None))
            stack[-1][1].append(child)
        else:
            raise ValueError(f"Expected a node below the top for {step} to attach it to.")
    if whole is None:
        raise ValueError(f"Expected the steps of a whole tree, but they end with {len(stack)} nodes left on the stack.")
    return whole
