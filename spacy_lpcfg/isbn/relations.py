"""Relations from a position of a derivation to earlier positions, which are the edges of the network.

A position is one transition of a derivation. The latent vector of a position depends on the latent vectors of the
positions when certain nodes were last on top of the stack, and on the decisions at other positions (Henderson and Titov
2010, section 7.2). Relations are given by name:

- `previous`: the position before;
- `last_shift`: the position where the last word was shifted;
- `ELEMENT.FIELD`: a position in the history of an element of the stack.

ELEMENT is one of

- `top`: the top of the stack;
- `below`: the node below the top;
- `below2`: the node below `below`.

FIELD is one of

- `context`: the last position when the node was on top;
- `left_child`, `right_child`: the position where its first or last child was attached;
- `introduced`: the position that put the node on the stack;
- `left_terminal`: the position that shifted its first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import make_tuples, shown
from spacy_lpcfg.isbn.transitions import ATTACH, MODIFY, PROJECT, SHIFT

NONE = -1
ELEMENTS = ("top", "below", "below2")
FIELDS = ("context", "left_child", "right_child", "introduced", "left_terminal")
HISTORY = ("previous", "last_shift")
NO_ELEMENT = -1
ROOT, LEAF = -2, -1
"""Labels of cells for the artificial root and for leaves."""


class Cell(NamedTuple):
    """An element of the stack; immutable, so that hypotheses can share it.

    label (int): ROOT, LEAF, or the id of a label.
    context, left_child, right_child, introduced, left_terminal (int): The positions that the module's list of FIELDs
        describes; NONE if there is none.
    """

    label: int
    context: int = NONE
    left_child: int = NONE
    right_child: int = NONE
    introduced: int = NONE
    left_terminal: int = NONE


@dataclass(frozen=True)
class Relations:
    """The relations of a network, by the names that this module lists.

    latent (tuple[str, ...]): Relations to the latent vectors of earlier positions.
    decisions (tuple[str, ...]): Relations to the decisions at earlier positions.
    RAISES (ValueError): If a name is unknown or repeated.
    """

    latent: tuple[str, ...] = ("top.context", "below.context", "top.left_child", "top.right_child")
    decisions: tuple[str, ...] = ("previous", "top.introduced", "last_shift", "top.left_terminal")

    def __post_init__(self) -> None:
        make_tuples(self, "latent", "decisions")
        for names in (self.latent, self.decisions):
            codes(names)
            if len(set(names)) < len(names):
                raise ValueError(f"Expected each relation once, got {', '.join(names)}.")


def codes(names: Sequence[str]) -> np.ndarray:
    """Encode relations as the depth of the stack element and the index of the field, int32 (n, 2).

    For names in `HISTORY` the depth is NO_ELEMENT and the field is the index in `HISTORY`.

    names (sequence of str): The names of the relations.
    RAISES (ValueError): If a name is unknown.
    """
    return np.array([_code(name) for name in names], dtype=np.int32).reshape(-1, 2)


def _code(name: str) -> tuple[int, int]:
    if name in HISTORY:
        return NO_ELEMENT, HISTORY.index(name)
    element, _, field = name.partition(".")
    if element not in ELEMENTS or field not in FIELDS:
        raise ValueError(
            f"Expected a relation to be one of {', '.join(HISTORY)} or ELEMENT.FIELD, with one of "
            f"{', '.join(ELEMENTS)} and one of {', '.join(FIELDS)}; got {shown(name)}."
        )
    return ELEMENTS.index(element), FIELDS.index(field)


def walk(actions: Sequence[int]) -> Iterator[tuple[list[Cell], int, int]]:
    """Yield the state before each action of a derivation.

    actions (sequence of int): SHIFT, ATTACH, MODIFY, or PROJECT + the id of a label.
    YIELDS (list of Cell, int, int): The stack, top first, with the cell of the root last; and the positions `previous`
        and `last_shift`, or NONE.
    """
    stack, last_shift = [Cell(ROOT)], NONE
    for t, action in enumerate(actions):
        yield stack[::-1], t - 1, last_shift
        stack[-1] = stack[-1]._replace(context=t)
        if action == SHIFT:
            stack.append(Cell(LEAF, introduced=t, left_terminal=t))
            last_shift = t
        elif action >= PROJECT:
            child = stack.pop()
            stack.append(Cell(action - PROJECT, NONE, t, t, t, child.left_terminal))
        else:
            assert action in (ATTACH, MODIFY)
            stack.pop()
            below = stack[-1]
            left_child = t if below.left_child == NONE else below.left_child
            stack[-1] = below._replace(left_child=left_child, right_child=t)


def related(stack: Sequence[Cell], previous: int, last_shift: int, codes: Iterable[Sequence[int]]) -> list[int]:
    """Return the position that each relation leads to; NONE if there is none.

    stack, previous, last_shift: A state that `walk` yields.
    codes (iterable of (depth, field)): The encoded relations, from `codes`.
    """
    positions = []
    for depth, field in codes:
        if depth == NO_ELEMENT:
            positions.append((previous, last_shift)[field])
        else:
            positions.append(stack[depth][1 + field] if depth < len(stack) else NONE)
    return positions
