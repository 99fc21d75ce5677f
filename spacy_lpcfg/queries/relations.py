"""Relations between tree nodes, applied to whole sets of nodes; a set is a sorted int64 array of node numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spacy_lpcfg.arrays import ranges
from spacy_lpcfg.queries.arrays import NONE, TreeArrays
from spacy_lpcfg.queries.pattern import Relation

Ids = np.ndarray
_MANY = 32  # sets of more than 1/32 of all nodes are built with a mask instead of by sorting


def image(index: TreeArrays, relation: Relation, ids: Ids) -> Ids:
    """Return the image of a set under a relation: all nodes B such that A relation B for some A in `ids`."""
    if not len(ids):
        return ids
    if relation.symbol in _CHAINS:
        return _chain(index, relation, ids)
    if relation.number:
        return unique(index, _NUMBERED[relation.symbol](index, ids, relation.number))
    return unique(index, _RELATED[relation.symbol](index, ids))


def unique(index: TreeArrays, ids: Ids) -> Ids:
    """Convert node numbers to a set, a sorted int64 array: repetitions and NONE (-1) are removed."""
    if len(ids) * _MANY < len(index.label):
        nodes = np.unique(ids)
        return nodes[np.searchsorted(nodes, 0) :].astype(np.int64)
    is_in = np.zeros(len(index.label) + 1, bool)
    is_in[ids] = True  # NONE is the one after the last
    return np.flatnonzero(is_in[:-1])


def is_among(ids: Ids, others: Ids) -> np.ndarray:
    """Return whether each node in `ids` is in the set `others`, bool (n,)."""
    positions = np.minimum(np.searchsorted(others, ids), max(len(others) - 1, 0))
    return others[positions] == ids if len(others) else np.zeros(len(ids), bool)


def intersection(ids: Ids, others: Ids) -> Ids:
    """Return the intersection of two sets."""
    small, large = sorted((ids, others), key=len)
    return small[is_among(small, large)]


def _chain(index: TreeArrays, relation: Relation, ids: Ids) -> Ids:
    """Return the nodes reached in one or more steps; with `through`, all nodes on the way must pass that test."""
    step, reached, new = _CHAINS[relation.symbol], [], ids
    while len(new):
        new = image(index, step, new)
        reached.append(new)
        new = new[~is_among(new, ids)]  # chains from the start nodes are being followed already
        new = index.where(relation.through, new) if relation.through else new
    return unique(index, np.concatenate(reached))


_STEPS = {"<+": "<", ">+": ">", ".+": ".", ",+": ",", ">>": ">", "<<:": "<:", ">>:": ">:", "<<#": "<#", ">>#": ">#"}
_CHAINS = {symbol: Relation(step) for symbol, step in {**_STEPS, "$++": "$+", "$--": "$-"}.items()}
_CHAINS |= {f"{up}{up}{mark}": Relation(f"{up}i", n) for up in "<>" for mark, n in ((",", 1), ("-", -1))}
"""The step that each transitive relation repeats."""


# Relations one by one ----------------------------------------------------------------------------


def _first(index: TreeArrays, ids: Ids) -> Ids:
    return np.where(index.end[ids] > ids + 1, ids + 1, NONE)


def _children(index: TreeArrays, ids: Ids) -> Ids:
    first = unique(index, _first(index, ids))
    return np.append(first, image(index, Relation("$++"), first))


def _below(index: TreeArrays, ids: Ids) -> Ids:
    ends = index.end[ids]
    is_highest = ids >= np.maximum.accumulate(np.append(0, ends[:-1]))
    return ranges(ids[is_highest] + 1, (ends - ids - 1)[is_highest])


def _words(index: TreeArrays, ids: Ids) -> Ids:
    return ids[index.end[ids] == ids + 1]


def _parents_of_heads(index: TreeArrays, ids: Ids) -> Ids:
    ids = ids[index.parent[ids] != NONE]
    parents = index.parent[ids]
    return np.where(index.heads(parents) == ids, parents, NONE)


def _sisters(index: TreeArrays, ids: Ids) -> Ids:
    return np.append(image(index, Relation("$++"), ids), image(index, Relation("$--"), ids))


def _right_after(index: TreeArrays, ids: Ids) -> Ids:
    stops = np.unique(index.stop[ids])
    return ranges(index.first_at[stops], index.first_at[stops + 1] - index.first_at[stops])


def _right_before(index: TreeArrays, ids: Ids) -> Ids:
    starts = np.unique(index.start[ids])
    words = index.first_at[starts] - 1
    words = words[(words != NONE) & (index.stop[words] == starts)]  # otherwise it is in the tree before
    return np.append(words, image(index, Relation(">>-"), words))


def _after(index: TreeArrays, ids: Ids) -> Ids:
    trees, first_of_tree = np.unique(index.tree_of(ids), return_index=True)
    stops = np.minimum.reduceat(index.stop[ids], first_of_tree)
    return ranges(index.first_at[stops], index.roots[trees + 1] - index.first_at[stops])


def _before(index: TreeArrays, ids: Ids) -> Ids:
    trees, first_of_tree = np.unique(index.tree_of(ids), return_index=True)
    starts = index.start[ids[np.append(first_of_tree[1:], len(ids)) - 1]]  # of the last node in each tree
    begin, end = index.roots[trees], index.first_at[starts]
    candidates = ranges(begin, end - begin)
    return candidates[index.stop[candidates] <= np.repeat(starts, end - begin)]


def _same_tree(index: TreeArrays, ids: Ids) -> Ids:
    trees = np.unique(index.tree_of(ids))
    return ranges(index.roots[trees], index.roots[trees + 1] - index.roots[trees])


def _along(to: np.ndarray, ids: Ids, n_steps: int) -> Ids:
    """Follow `n_steps` links from each node, where `to` holds the next node for each node; NONE for a shorter chain."""
    while n_steps and (ids != NONE).any():
        ids = np.where(ids == NONE, NONE, to[ids])
        n_steps -= 1
    return ids


def _child(index: TreeArrays, ids: Ids, number: int) -> Ids:
    """Return child number `number` of each node (from 1, or from -1 at the end), or NONE."""
    first = _first(index, ids) if number > 0 else index.last[ids]
    return _along(index.right if number > 0 else index.left, first, abs(number) - 1)


def _parent_of_child(index: TreeArrays, ids: Ids, number: int) -> Ids:
    """Return the parent of each node that is child number `number` of its parent; NONE for any other node."""
    back = index.left if number > 0 else index.right
    first = _along(back, ids, abs(number) - 1)
    return np.where((first != NONE) & (back[first] == NONE), index.parent[ids], NONE)


def _word(index: TreeArrays, ids: Ids, number: int) -> Ids:
    """Return word number `number` below each node (from 1, or from -1 at the end), or NONE."""
    start, stop = index.start[ids].astype(np.int64), index.stop[ids].astype(np.int64)
    positions = start + number - 1 if number > 0 else stop + number
    is_below = (start <= positions) & (positions < stop) & (index.end[ids] > ids + 1)
    return np.where(is_below, index.first_at[np.where(is_below, positions, 0) + 1] - 1, NONE)


def _above_word(index: TreeArrays, ids: Ids, number: int) -> Ids:
    """Return the nodes whose word number `number` is among the words `ids`."""
    ancestors = image(index, Relation(">>"), _words(index, ids))
    return ancestors[is_among(_word(index, ancestors, number), ids)]


_RELATED: dict[str, Callable[[TreeArrays, Ids], Ids]] = {
    "<": _children,
    ">": lambda index, ids: index.parent[ids],
    "<=": lambda index, ids: np.append(ids, _children(index, ids)),
    ">=": lambda index, ids: np.append(ids, index.parent[ids]),
    "<<": _below,
    "<:": lambda index, ids: np.where(index.last[ids] == ids + 1, ids + 1, NONE),
    ">:": lambda index, ids: np.where((index.left[ids] == NONE) & (index.right[ids] == NONE), index.parent[ids], NONE),
    "<<<": lambda index, ids: _words(index, _below(index, ids)),
    ">>>": lambda index, ids: image(index, Relation(">>"), _words(index, ids)),
    "<#": lambda index, ids: index.heads(ids),
    ">#": _parents_of_heads,
    "$": _sisters,
    "$+": lambda index, ids: index.right[ids],
    "$-": lambda index, ids: index.left[ids],
    ".": _right_after,
    ",": _right_before,
    "..": _after,
    ",,": _before,
    "==": lambda index, ids: ids,
    ":": _same_tree,
}
_NUMBERED = {"<i": _child, ">i": _parent_of_child, "<<<i": _word, ">>>i": _above_word}
