"""Which nodes of an index a pattern matches.

First sets of nodes: from the rarest label of the pattern on, each relation leads from all nodes that are left to all
that they are related to, at once. What a node stands for depends on no other node unless a pattern refers back to one,
so that these sets are the answer; Gottlob, Koch and Pichler (2005) have this of XPath. Where a pattern refers back,
they are what may match, and where it names nodes, each match is found from there by a walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spacy_lpcfg.queries.arrays import TreeArrays
from spacy_lpcfg.queries.pattern import Part, TreePattern
from spacy_lpcfg.queries.relations import Ids, both, image, is_among, unique
from spacy_lpcfg.trees.transforms import basic_category

Bound = dict[str, int | str]
"""Nodes by their names, and strings by their variables, whose names begin with %."""
_FEW = 8  # times as few nodes are worth following down before what is below them is known


def matching_nodes(index: TreeArrays, pattern: TreePattern) -> Ids:
    """The nodes that a pattern matches, in pre-order."""
    found = []
    for root in pattern.roots:
        search = _Search(index)
        ids = search.candidates(root)
        is_match = root.is_closed or [any(True for _ in search.ways(root, i, {})) for i in ids.tolist()]
        found.append(ids[np.full(len(ids), is_match, bool)])
    return unique(index, np.concatenate(found))


def matches(index: TreeArrays, pattern: TreePattern) -> Iterator[tuple[int, dict[str, int]]]:
    """Each node that a pattern matches, with each choice of the nodes that it names."""
    searches = [(root, _Search(index)) for root in pattern.roots]
    found = [search.candidates(root) for root, search in searches]
    for i in unique(index, np.concatenate(found)).tolist():
        seen: set[tuple[tuple[str, int], ...]] = set()
        for (root, search), ids in zip(searches, found, strict=True):
            for names in search.names(root, i) if is_among(np.array([i]), ids)[0] else ():
                if names not in seen:
                    seen.add(names)
                    yield i, dict(names)


class _Search:
    """A pattern, or one of its alternatives, and the nodes of an index that its parts may match."""

    def __init__(self, index: TreeArrays) -> None:
        self.index = index
        self.sets: dict[Part, Ids] = {}

    # Sets of nodes

    def candidates(self, node: Part, within: Ids | None = None) -> Ids:
        """The nodes that may match, among some or all; those that do, if the node is closed."""
        rest = _conjuncts(node.parts)
        rarest = min((part for part in rest if part.kind == "step"), key=self._rarity, default=None)
        if within is None and rarest is not None and self._rarity(rarest) < self._count(node):
            rest.remove(rarest)
            within = image(self.index, rarest.relation.converse, self.candidates(rarest.parts[0]))
        if node.same or node.like:  # and the test is not of its own label
            ids = np.arange(len(self.index.label)) if within is None else within
        else:
            ids = self.index.where(node.test, within)
        for part in sorted(rest, key=self._rarity):
            ids = self._restricted(part, ids)
        self.sets[node] = ids
        return ids

    def _count(self, node: Part) -> int:
        return len(self.index.label) if node.same or node.like else self.index.count(node.test)

    def _rarity(self, part: Part) -> int:
        """How many nodes have the rarest label that has to be there; of what is no step, more than there are."""
        if part.kind != "step":
            return len(self.index.label) + 1
        (node,) = part.parts
        return min([self._count(node), *map(self._rarity, _conjuncts(node.parts))])

    def _restricted(self, part: Part, ids: Ids) -> Ids:
        """Those of some nodes that a condition may hold of."""
        if part.kind == "step":
            is_few = len(ids) * _FEW < self._rarity(part)
            within = image(self.index, part.relation, ids) if is_few else None
            return both(ids, image(self.index, part.relation.converse, self.candidates(part.parts[0], within)))
        if part.kind == "any":
            return unique(self.index, np.concatenate([self._restricted(each, ids) for each in part.parts]))
        if part.kind == "not" and part.is_closed:
            return ids[~is_among(ids, self._restricted(part.parts[0], ids))]
        for each in part.parts if part.kind == "all" else ():
            ids = self._restricted(each, ids)
        return ids

    # Walks

    def names(self, root: Part, at: int) -> Iterator[tuple[tuple[str, int], ...]]:
        """The named nodes of each match of a candidate."""
        is_sure = root.is_closed and not root.binds
        for bound in [{}] if is_sure else self.ways(root, at, {}):
            yield tuple((name, i) for name, i in bound.items() if isinstance(i, int))

    def ways(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        """What is bound in each way in which a node of a tree may be that of the pattern, or a condition hold of it."""
        if part.kind == "node":
            described = self._described(part, at, bound)
            if described is not None:
                yield from self._all(part.parts, at, described)
        elif part.kind == "all":
            yield from self._all(part.parts, at, bound)
        elif part.kind == "any":
            for each in part.parts:
                yield from self.ways(each, at, bound)
        elif part.kind == "step":
            yield from self._step(part, at, bound)
        else:
            found = self.ways(part.parts[0], at, bound)
            first = next(found, None)
            if first is None:
                yield bound
            elif part.kind == "optional":
                yield first
                yield from found

    def _all(self, parts: Sequence[Part], at: int, bound: Bound) -> Iterator[Bound]:
        if not parts:
            yield bound
        else:
            for found in self.ways(parts[0], at, bound):
                yield from self._all(parts[1:], at, found)

    def _step(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        (node,) = part.parts
        targets = image(self.index, part.relation, np.array([at]))
        if node in self.sets:
            targets = both(targets, self.sets[node])
        elif node.is_closed:
            targets = _Search(self.index).candidates(node, targets)
        if node.is_closed and not node.binds:
            if len(targets):
                yield bound
            return
        ways = (found for target in targets.tolist() for found in self.ways(node, target, bound))
        if node.binds:
            yield from ways
        elif next(ways, None) is not None:
            yield bound

    def _described(self, node: Part, at: int, bound: Bound) -> Bound | None:
        """What is bound when a node of a tree is described, or None."""
        test, label = node.test, self.index.string(at)
        if node.same:
            return bound if node.same in bound and (bound[node.same] == at) != test.is_negated else None
        if node.like:
            labels = {label, self.index.string(int(bound[node.like]))} if node.like in bound else set()
            labels = set(map(basic_category, labels)) if test.is_basic else labels
            is_described = bool(labels) and (len(labels) == 1) != test.is_negated
        else:
            is_described = len(self.index.where(test, np.array([at]))) > 0
        found = dict(bound)
        if is_described and node.groups:
            groups = self.index.groups(test, at)
            texts = [(f"%{name}", groups[number]) for number, name in node.groups]
            is_described = all(found.setdefault(name, text) == text for name, text in texts)
        if node.name:
            found[node.name] = at
        return found if is_described else None


def _conjuncts(parts: Sequence[Part]) -> list[Part]:
    """The conditions that all have to hold."""
    return [each for part in parts for each in (_conjuncts(part.parts) if part.kind == "all" else [part])]
