"""The nodes that some nodes are related to, all at once: each relation on sets of nodes, which are sorted arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spacy_lpcfg.queries.arrays import NONE, TreeArrays
from spacy_lpcfg.queries.pattern import Relation

Ids = np.ndarray
_MANY = 32  # one node in so many is enough to mark them in an array of all


def image(index: TreeArrays, relation: Relation, ids: Ids) -> Ids:
    """The nodes B for which A relation B holds, for any A of some nodes."""
    if not len(ids):
        return ids
    if relation.symbol in _CHAINS:
        return _chain(index, relation, ids)
    if relation.number:
        return unique(index, _NUMBERED[relation.symbol](index, ids, relation.number))
    return unique(index, _RELATED[relation.symbol](index, ids))


def unique(index: TreeArrays, ids: Ids) -> Ids:
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
    lengths = stops - starts
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(starts - ends + lengths, lengths)


def _chain(index: TreeArrays, relation: Relation, ids: Ids) -> Ids:
    """What one comes to by one step or more; from node to node of those that the relation goes through, if it says."""
    step, found, new = _CHAINS[relation.symbol], [], ids
    while len(new):
        new = image(index, step, new)
        found.append(new)
        new = new[~is_among(new, ids)]  # the others have gone their way from the beginning
        new = index.where(relation.through, new) if relation.through else new
    return unique(index, np.concatenate(found))


_STEPS = {"<+": "<", ">+": ">", ".+": ".", ",+": ",", ">>": ">", "<<:": "<:", ">>:": ">:", "<<#": "<#", ">>#": ">#"}
_CHAINS = {symbol: Relation(step) for symbol, step in {**_STEPS, "$++": "$+", "$--": "$-"}.items()}
_CHAINS |= {f"{up}{up}{mark}": Relation(f"{up}i", n) for up in "<>" for mark, n in ((",", 1), ("-", -1))}
"""The steps of relations that are chains."""


# Relations one by one ----------------------------------------------------------------------------


def _first(index: TreeArrays, ids: Ids) -> Ids:
    return np.where(index.end[ids] > ids + 1, ids + 1, NONE)


def _children(index: TreeArrays, ids: Ids) -> Ids:
    first = unique(index, _first(index, ids))
    return np.append(first, image(index, Relation("$++"), first))


def _below(index: TreeArrays, ids: Ids) -> Ids:
    ends = index.end[ids]
    is_highest = ids >= np.maximum.accumulate(np.append(0, ends[:-1]))
    return _ranges(ids[is_highest] + 1, ends[is_highest])


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
    return _ranges(index.first_at[stops], index.first_at[stops + 1])


def _right_before(index: TreeArrays, ids: Ids) -> Ids:
    starts = np.unique(index.start[ids])
    words = index.first_at[starts] - 1
    words = words[(words != NONE) & (index.stop[words] == starts)]  # others are of the tree before
    return np.append(words, image(index, Relation(">>-"), words))


def _after(index: TreeArrays, ids: Ids) -> Ids:
    trees, places = np.unique(index.tree_of(ids), return_index=True)
    stops = np.minimum.reduceat(index.stop[ids], places)
    return _ranges(index.first_at[stops], index.roots[trees + 1])


def _before(index: TreeArrays, ids: Ids) -> Ids:
    trees, places = np.unique(index.tree_of(ids), return_index=True)
    starts = index.start[ids[np.append(places[1:], len(ids)) - 1]]  # of the last in each tree
    begin, end = index.roots[trees], index.first_at[starts]
    found = _ranges(begin, end)
    return found[index.stop[found] <= np.repeat(starts, end - begin)]


def _same_tree(index: TreeArrays, ids: Ids) -> Ids:
    trees = np.unique(index.tree_of(ids))
    return _ranges(index.roots[trees], index.roots[trees + 1])


def _along(to: np.ndarray, ids: Ids, n_steps: int) -> Ids:
    """Where so many steps lead; NONE where there are not so many."""
    while n_steps and (ids != NONE).any():
        ids = np.where(ids == NONE, NONE, to[ids])
        n_steps -= 1
    return ids


def _child(index: TreeArrays, ids: Ids, number: int) -> Ids:
    found = _first(index, ids) if number > 0 else index.last[ids]
    return _along(index.right if number > 0 else index.left, found, abs(number) - 1)


def _parent_of_child(index: TreeArrays, ids: Ids, number: int) -> Ids:
    back = index.left if number > 0 else index.right
    first = _along(back, ids, abs(number) - 1)
    return np.where((first != NONE) & (back[first] == NONE), index.parent[ids], NONE)


def _word(index: TreeArrays, ids: Ids, number: int) -> Ids:
    """The word of that number below each node, or NONE."""
    start, stop = index.start[ids].astype(np.int64), index.stop[ids].astype(np.int64)
    places = start + number - 1 if number > 0 else stop + number
    is_below = (start <= places) & (places < stop) & (index.end[ids] > ids + 1)
    return np.where(is_below, index.first_at[np.where(is_below, places, 0) + 1] - 1, NONE)


def _above_word(index: TreeArrays, ids: Ids, number: int) -> Ids:
    found = image(index, Relation(">>"), _words(index, ids))
    return found[is_among(_word(index, found, number), ids)]


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
