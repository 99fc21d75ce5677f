"""The nodes that some nodes are related to, for all relations: each by arrays of nodes, sorted and without repetition.

Only one direction of each relation is defined by what it leads to; the other is that of its converse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from spacy_lpcfg.queries.index import NONE, TreeIndex
from spacy_lpcfg.queries.pattern import CONVERSES, Relation

Ids = np.ndarray
Step = Callable[[TreeIndex, Ids], Ids]
"""From each of some nodes to one other, or NONE."""
_MANY = 32  # one node in so many is enough to mark them in an array of all


def image(index: TreeIndex, relation: Relation, ids: Ids) -> Ids:
    """The nodes B for which A relation B holds, for any A of some nodes."""
    if not len(ids):
        return ids
    if relation.through is not None:
        return _through(index, relation, ids)
    if relation.number:
        return unique(index, _NUMBERED[relation.symbol](index, ids, relation.number))
    return unique(index, _IMAGES[relation.symbol](index, ids))


def preimage(index: TreeIndex, relation: Relation, ids: Ids) -> Ids:
    """The nodes A for which A relation B holds, for any B of some nodes."""
    return image(index, Relation(CONVERSES[relation.symbol], relation.number, relation.through), ids)


# Sets of nodes -----------------------------------------------------------------------------------


def unique(index: TreeIndex, ids: Ids) -> Ids:
    """The set of some nodes, NONE left out."""
    if len(ids) * _MANY < len(index.label):
        found = np.unique(ids)
        return found[np.searchsorted(found, 0) :].astype(np.int64)
    is_in = np.zeros(len(index.label) + 1, bool)
    is_in[ids] = True  # NONE is the one after the last
    return np.flatnonzero(is_in[:-1])


def is_among(ids: Ids, others: Ids) -> np.ndarray:
    """Whether each node is in a set."""
    place = np.minimum(np.searchsorted(others, ids), max(len(others) - 1, 0))
    return others[place] == ids if len(others) else np.zeros(len(ids), bool)


def both(ids: Ids, others: Ids) -> Ids:
    """The nodes in two sets."""
    small, large = sorted((ids, others), key=len)
    return small[is_among(small, large)]


def _ranges(starts: Ids, stops: Ids) -> Ids:
    """All numbers of some half-open ranges, one after the other."""
    lengths = np.maximum(stops - starts, 0)
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(starts - ends + lengths, lengths)


# Steps to one node, or NONE ----------------------------------------------------------------------


def _go(to: np.ndarray, ids: Ids) -> Ids:
    return np.where(ids == NONE, NONE, to[ids])


def _parent(index: TreeIndex, ids: Ids) -> Ids:
    return index.parent[ids]


def _right(index: TreeIndex, ids: Ids) -> Ids:
    return index.right[ids]


def _left(index: TreeIndex, ids: Ids) -> Ids:
    return index.left[ids]


def _first(index: TreeIndex, ids: Ids) -> Ids:
    return np.where(index.end[ids] > ids + 1, ids + 1, NONE)


def _last(index: TreeIndex, ids: Ids) -> Ids:
    return index.last[ids]


def _head(index: TreeIndex, ids: Ids) -> Ids:
    return index.heads(ids)


def _only(index: TreeIndex, ids: Ids) -> Ids:
    last = index.last[ids]
    return np.where(last == ids + 1, last, NONE)


def _parent_of_only(index: TreeIndex, ids: Ids) -> Ids:
    return np.where(index.left[ids] == NONE, _parent_of_last(index, ids), NONE)


def _parent_of_last(index: TreeIndex, ids: Ids) -> Ids:
    return np.where(index.right[ids] == NONE, index.parent[ids], NONE)


def _parent_of_head(index: TreeIndex, ids: Ids) -> Ids:
    ids = ids[index.parent[ids] != NONE]
    parents = index.parent[ids]
    return np.where(index.heads(parents) == ids, parents, NONE)


def _closure(step: Step, index: TreeIndex, ids: Ids) -> Ids:
    """All that one comes to by one step or more."""
    found = [ids[:0]]
    while len(ids):
        ids = unique(index, step(index, ids))
        found.append(ids)
    return np.concatenate(found)


# Relations to any number -------------------------------------------------------------------------


def _children(index: TreeIndex, ids: Ids) -> Ids:
    if len(ids) * _MANY > len(index.label):
        is_in = np.zeros(len(index.label) + 1, bool)
        is_in[ids] = True
        return np.flatnonzero(is_in[index.parent])
    first = unique(index, _first(index, ids))
    return np.append(first, _closure(_right, index, first))


def _highest(index: TreeIndex, ids: Ids) -> Ids:
    """Those nodes that are below none of the others."""
    ends = index.end[ids]
    return ids[ids >= np.maximum.accumulate(np.append(0, ends[:-1]))]


def _below(index: TreeIndex, ids: Ids) -> Ids:
    ids = _highest(index, ids)
    return _ranges(ids + 1, index.end[ids])


def _leftmost_below(index: TreeIndex, ids: Ids) -> Ids:
    return _ranges(ids + 1, index.first_at[index.start[ids] + 1])


def _above_leftmost(index: TreeIndex, ids: Ids) -> Ids:
    return _ranges(index.first_at[index.start[ids]], ids)


def _sisters(index: TreeIndex, ids: Ids) -> Ids:
    ids = ids[index.parent[ids] != NONE]
    parents, own, n_ids = np.unique(index.parent[ids], return_inverse=True, return_counts=True)
    children = unique(index, _children(index, parents.astype(np.int64)))
    return children[~is_among(children, ids[n_ids[own] == 1])]


def _right_sisters(index: TreeIndex, ids: Ids) -> Ids:
    _, leftmost = np.unique(index.parent[ids], return_index=True)
    return _closure(_right, index, ids[leftmost])


def _left_sisters(index: TreeIndex, ids: Ids) -> Ids:
    _, rightmost = np.unique(index.parent[ids[::-1]], return_index=True)
    return _closure(_left, index, ids[::-1][rightmost])


def _right_after(index: TreeIndex, ids: Ids) -> Ids:
    stops = np.unique(index.stop[ids])
    return _ranges(index.first_at[stops], index.first_at[stops + 1])


def _right_before(index: TreeIndex, ids: Ids) -> Ids:
    return _ending(index, np.unique(index.start[ids]))


def _ending(index: TreeIndex, stops: np.ndarray) -> Ids:
    """The nodes that end before some words, in their trees."""
    words = index.first_at[stops] - 1
    words = words[(words != NONE) & (index.stop[words] == stops)]
    return np.append(words, _closure(_parent_of_last, index, words))


def _after(index: TreeIndex, ids: Ids) -> Ids:
    trees, places = np.unique(index.tree_of(ids), return_index=True)
    stops = np.minimum.reduceat(index.stop[ids], places)
    return _ranges(index.first_at[stops], index.roots[trees + 1])


def _before(index: TreeIndex, ids: Ids) -> Ids:
    trees, places = np.unique(index.tree_of(ids), return_index=True)
    starts = index.start[ids[np.append(places[1:], len(ids)) - 1]]  # of the last in each tree
    begin, end = index.roots[trees], index.first_at[starts]
    found = _ranges(begin, end)
    return found[index.stop[found] <= np.repeat(starts, end - begin)]


def _same_tree(index: TreeIndex, ids: Ids) -> Ids:
    trees = np.unique(index.tree_of(ids))
    return _ranges(index.roots[trees], index.roots[trees + 1])


def _words_at(index: TreeIndex, positions: np.ndarray) -> Ids:
    return index.first_at[positions + 1] - 1


def _words_below(index: TreeIndex, ids: Ids) -> Ids:
    ids = _highest(index, ids)
    ids = ids[index.end[ids] > ids + 1]
    return _words_at(index, _ranges(index.start[ids], index.stop[ids]))


def _above_words(index: TreeIndex, ids: Ids) -> Ids:
    return _closure(_parent, index, ids[index.end[ids] == ids + 1])


# Relations with a number, or with nodes between --------------------------------------------------


def _child(index: TreeIndex, ids: Ids, number: int) -> Ids:
    found = _first(index, ids) if number > 0 else index.last[ids]
    return _along(index.right if number > 0 else index.left, found, abs(number) - 1)


def _parent_of_child(index: TreeIndex, ids: Ids, number: int) -> Ids:
    back = index.left if number > 0 else index.right
    first = _along(back, ids, abs(number) - 1)
    return np.where((first != NONE) & (back[first] == NONE), index.parent[ids], NONE)


def _along(to: np.ndarray, ids: Ids, n_steps: int) -> Ids:
    """Where so many steps lead; NONE where there are not so many."""
    while n_steps and (ids != NONE).any():
        ids = _go(to, ids)
        n_steps -= 1
    return ids


def _word_below(index: TreeIndex, ids: Ids, number: int) -> Ids:
    ids = ids[index.end[ids] > ids + 1]
    start, stop = index.start[ids].astype(np.int64), index.stop[ids].astype(np.int64)
    positions = start + number - 1 if number > 0 else stop + number
    return _words_at(index, positions[(start <= positions) & (positions < stop)])


def _above_word(index: TreeIndex, ids: Ids, number: int) -> Ids:
    positions = index.start[ids[index.end[ids] == ids + 1]].astype(np.int64)
    if number > 0:
        starts = positions - number + 1
        starts = starts[starts >= 0]
        found = _ranges(index.first_at[starts], index.first_at[starts + 1])
    else:
        stops = positions - number
        found = _ending(index, stops[stops < len(index.first_at) - 1])
    found = found[index.end[found] > found + 1]
    return found[index.stop[found] - index.start[found] >= abs(number)]


def _through(index: TreeIndex, relation: Relation, ids: Ids) -> Ids:
    assert relation.through is not None
    step = Relation(relation.symbol[:-1])
    found = new = image(index, step, ids)
    while len(new):
        reached = image(index, step, index.where(relation.through, new))
        new = reached[~is_among(reached, found)]
        found = unique(index, np.append(found, new))
    return found


_IMAGES: dict[str, Callable[[TreeIndex, Ids], Ids]] = {
    "<": _children,
    ">": _parent,
    "<<": _below,
    ">>": partial(_closure, _parent),
    "<:": _only,
    ">:": _parent_of_only,
    "<<:": partial(_closure, _only),
    ">>:": partial(_closure, _parent_of_only),
    "<<,": _leftmost_below,
    ">>,": _above_leftmost,
    "<<-": partial(_closure, _last),
    ">>-": partial(_closure, _parent_of_last),
    "<#": _head,
    ">#": _parent_of_head,
    "<<#": partial(_closure, _head),
    ">>#": partial(_closure, _parent_of_head),
    "$": _sisters,
    "$+": _right,
    "$-": _left,
    "$++": _right_sisters,
    "$--": _left_sisters,
    ".": _right_after,
    ",": _right_before,
    "..": _after,
    ",,": _before,
    "<<<": _words_below,
    ">>>": _above_words,
    "==": lambda index, ids: ids,
    "<=": lambda index, ids: np.append(ids, _children(index, ids)),
    ">=": lambda index, ids: np.append(ids, index.parent[ids]),
    ":": _same_tree,
}
_NUMBERED: dict[str, Callable[[TreeIndex, Ids, int], Ids]] = {
    "<i": _child,
    ">i": _parent_of_child,
    "<<<i": _word_below,
    ">>>i": _above_word,
}
