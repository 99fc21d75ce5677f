"""Which earlier positions of a derivation a position is joined to, as data: names, and the cells that resolve them.

Section 7.2 of Henderson and Titov (2010): a position's latent vector is joined to the latent vectors of the positions
when certain nodes were last on top of the stack, and to the decisions at certain others. Each relation is one name:

- `previous`: the position before;
- `last_shift`: that where the last word was shifted;
- `ELEMENT.FIELD`: of the top of the stack, the node `below` it, or `below2` that one:
  `context`: the last position when the node was on top; `left_child`, `right_child`: that at the end of which its
  first, its last child was put under it; `introduced`: that which put the node on the stack; `left_terminal`: that
  which shifted its first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.isbn.transitions import ATTACH, MODIFY, PROJECT, SHIFT

NONE = -1
ELEMENTS = ("top", "below", "below2")
FIELDS = ("context", "left_child", "right_child", "introduced", "left_terminal")
HISTORY = ("previous", "last_shift")
NO_ELEMENT = -1
ROOT, LEAF = -2, -1
"""Labels of cells that are no node of the tree with a label of its own."""


class Cell(NamedTuple):
    """An element of the stack: never changed, so that hypotheses may share it.

    label (int): ROOT, LEAF, or the number of a label.
    context, left_child, right_child, introduced, left_terminal (int): positions as in `FIELDS`; NONE for none.
    """

    label: int
    context: int = NONE
    left_child: int = NONE
    right_child: int = NONE
    introduced: int = NONE
    left_terminal: int = NONE


@dataclass(frozen=True)
class Relations:
    """The relations of a network.

    latent (tuple[str, ...]): to the latent vectors of earlier positions.
    decisions (tuple[str, ...]): to the decisions at earlier positions.
    RAISES (ValueError): If a name is unknown, or given twice.
    """

    latent: tuple[str, ...] = ("top.context", "below.context", "top.left_child", "top.right_child")
    decisions: tuple[str, ...] = ("previous", "top.introduced", "last_shift", "top.left_terminal")

    def __post_init__(self) -> None:
        for names in (self.latent, self.decisions):
            codes(names)
            if len(set(names)) < len(names):
                raise ValueError(f"Expected each relation once, got {', '.join(names)}.")


def codes(names: Sequence[str]) -> np.ndarray:
    """Depth of the stack's element and number of the field of each relation, int32 (n, 2).

    Of `HISTORY` the depth is NO_ELEMENT, and the field its number there.
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
    """The stack before each action of a derivation, top first, with the positions `previous` and `last_shift`.

    actions (sequence of int): SHIFT, ATTACH, MODIFY, or PROJECT + the number of a label. The root is not counted as an
        element that relations reach, but its cell is there.
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
    """The positions that relations lead to from a state of `walk`; NONE where there is none.

    codes (iterable of (depth, field)): of the relations.
    """
    found = []
    for depth, field in codes:
        if depth == NO_ELEMENT:
            found.append((previous, last_shift)[field])
        else:
            found.append(stack[depth][1 + field] if depth < len(stack) else NONE)
    return found
