"""Predictive LR derivations: conversion of trees to transitions from left to right.

See section 7.2 of Henderson and Titov (2010). A stack holds the nodes that have begun. The transitions are:

- Shift pushes the next word with its tag;
- Project replaces the top of the stack by a new node that has it as its first child;
- Attach makes the top the last child of the node below;
- Modify first puts a new node of the same label over the node below (Chomsky adjunction), and attaches the top to it.

A node is projected as soon as its first child is complete, so that its other children are predicted. Differs from the
paper: a node whose first child has the same label is always built by Modify, so that every tree has exactly one
derivation.
"""

from __future__ import annotations

from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.tree import Tree

SHIFT, ATTACH, MODIFY, PROJECT = range(4)
"""Kinds of transitions. Actions of a network have the same numbers, with PROJECT + the id of a label for Project."""


class Transition(NamedTuple):
    """One transition of a derivation.

    kind (int): SHIFT, ATTACH, MODIFY or PROJECT.
    label (str): The tag of the shifted word, or the label of the projected node; otherwise "".
    word (str): The shifted word; otherwise "".
    """

    kind: int
    label: str = ""
    word: str = ""


ATTACHED = Transition(ATTACH)
MODIFIED = Transition(MODIFY)


def derive(tree: Tree) -> list[Transition]:
    """Convert a tree to its derivation.

    tree (Tree): A normalized tree.
    RETURNS (list[Transition]): The transitions; the last one attaches the tree to the root.
    RAISES (ValueError): If a node has a single child of the same label.
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
            stack.extend(_steps(item)[::-1])
    return transitions


def _steps(node: Tree) -> list[Tree | Transition]:
    """Return the children of a node, each followed by the transition, if any, that adds it to the node."""
    first, *others = node.children
    adjoins = not first.is_leaf and first.label == node.label
    if adjoins and not others:
        raise ValueError(
            f"Expected no node over a single child of the same label, got two {shown(node.label)}, for which there is "
            "no derivation; normalize the tree."
        )
    steps: list[Tree | Transition] = [first] if adjoins else [first, Transition(PROJECT, node.label)]
    for child in others:
        steps += [child, MODIFIED if adjoins else ATTACHED]
        adjoins = False
    return steps
