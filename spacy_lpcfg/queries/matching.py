"""Which nodes of an index a pattern matches.

First sets of nodes: from the rarest label of the pattern on, each relation leads from all nodes that are left to all
that they are related to, at once. What a node stands for depends on no other node unless a pattern refers back to one,
so that these sets are the answer; Gottlob, Koch and Pichler (2005) have this of XPath. Where a pattern refers back,
they are what may match, and where it names nodes, each match is found from there by a walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spacy_lpcfg.queries.index import TreeIndex
from spacy_lpcfg.queries.pattern import LabelTest, NodePattern, Part, TreePattern
from spacy_lpcfg.queries.relations import Ids, both, image, is_among, preimage, unique
from spacy_lpcfg.trees.transforms import basic_category

Names = tuple[tuple[str, int], ...]
Bound = dict[str, int | str]
"""Nodes by their names, and strings by their variables, whose names begin with %."""
_FEW = 8  # times as few nodes are worth following down before what is below them is known


def matching_nodes(index: TreeIndex, pattern: TreePattern) -> Ids:
    """The nodes that a pattern matches, in pre-order."""
    found = [_matching(_Search(index), root) for root in pattern.roots]
    return unique(index, np.concatenate(found))


def _matching(search: _Search, root: NodePattern) -> Ids:
    ids = search.candidates(root)
    if root.is_closed:
        return ids
    is_match = [any(True for _ in search.ways(root, i, {})) for i in ids.tolist()]
    return ids[np.array(is_match, bool)]


def matches(index: TreeIndex, pattern: TreePattern) -> Iterator[tuple[int, Names]]:
    """Each node that a pattern matches, with each choice of the nodes that it names."""
    searches = [(root, _Search(index)) for root in pattern.roots]
    found = [search.candidates(root) for root, search in searches]
    for i in unique(index, np.concatenate(found)).tolist():
        seen = dict.fromkeys(
            names
            for (root, search), ids in zip(searches, found, strict=True)
            if is_among(np.array([i]), ids)[0]
            for names in search.names(root, i)
        )
        yield from ((i, names) for names in seen)


class _Search:
    """A pattern, or one of its alternatives, and the nodes of an index that its parts may match."""

    def __init__(self, index: TreeIndex) -> None:
        self.index = index
        self.sets: dict[NodePattern, Ids] = {}

    # Sets of nodes

    def candidates(self, node: NodePattern, within: Ids | None = None) -> Ids:
        """The nodes that may match, among some or all; those that do, if the pattern is closed."""
        rest = _conjuncts(node.part)
        rarest = min((part for part in rest if part.kind == "step"), key=self._rarity, default=None)
        if within is None and rarest is not None and self._rarity(rarest) < self._count(node):
            rest.remove(rarest)
            within = preimage(self.index, rarest.relation, self.candidates(rarest.node))
        ids = self.index.where(node.test, within)
        if node.same or node.like:  # and the test is not of its own label
            ids = np.arange(len(self.index.label)) if within is None else within
        for part in sorted(rest, key=self._rarity):
            ids = self._restricted(part, ids)
        self.sets[node] = ids
        return ids

    def _count(self, node: NodePattern) -> int:
        return len(self.index.label) if node.same or node.like else self.index.count(node.test)

    def _rarity(self, part: Part) -> int:
        """How many nodes have the rarest label that has to be there; of what is no step, more than there are."""
        if part.kind != "step":
            return len(self.index.label) + 1
        below = [self._rarity(each) for each in _conjuncts(part.node.part)]
        return min([self._count(part.node), *below])

    def _restricted(self, part: Part, ids: Ids) -> Ids:
        """Those of some nodes that a condition may hold of."""
        if part.kind == "step":
            is_few = len(ids) * _FEW < self._rarity(part)
            within = image(self.index, part.relation, ids) if is_few else None
            return both(ids, preimage(self.index, part.relation, self.candidates(part.node, within)))
        if part.kind == "all":
            for each in part.parts:
                ids = self._restricted(each, ids)
            return ids
        if part.kind == "any":
            return unique(self.index, np.concatenate([self._restricted(each, ids) for each in part.parts]))
        if part.kind == "not" and part.is_closed:
            return ids[~is_among(ids, self._restricted(part.parts[0], ids))]
        return ids

    # Walks

    def names(self, root: NodePattern, at: int) -> Iterator[Names]:
        """The named nodes of each match of a candidate."""
        if root.is_closed and not root.binds:
            yield ()
            return
        for bound in self.ways(root, at, {}):
            yield tuple((name, i) for name, i in bound.items() if isinstance(i, int))

    def ways(self, node: NodePattern, at: int, bound: Bound) -> Iterator[Bound]:
        """What is bound in each way in which a node of the tree may be that of the pattern."""
        found = self._described(node, at, bound)
        if found is None:
            return
        if node.part is None:
            yield found
        else:
            yield from self._conditions([node.part], at, found)

    def _conditions(self, parts: Sequence[Part], at: int, bound: Bound) -> Iterator[Bound]:
        if not parts:
            yield bound
            return
        for found in self._condition(parts[0], at, bound):
            yield from self._conditions(parts[1:], at, found)

    def _condition(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        if part.kind == "step":
            yield from self._step(part, at, bound)
        elif part.kind == "all":
            yield from self._conditions(part.parts, at, bound)
        elif part.kind == "any":
            for each in part.parts:
                yield from self._condition(each, at, bound)
        else:
            found = self._condition(part.parts[0], at, bound)
            first = next(found, None)
            if first is None:
                yield bound
            elif part.kind == "optional":
                yield first
                yield from found

    def _step(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        targets = image(self.index, part.relation, np.array([at]))
        if part.node in self.sets:
            targets = both(targets, self.sets[part.node])
        elif part.node.is_closed:
            targets = _Search(self.index).candidates(part.node, targets)
        if part.node.is_closed and not part.node.binds:
            if len(targets):
                yield bound
            return
        ways = (found for target in targets.tolist() for found in self.ways(part.node, target, bound))
        if part.node.binds:
            yield from ways
        elif next(ways, None) is not None:
            yield bound

    def _described(self, node: NodePattern, at: int, bound: Bound) -> Bound | None:
        """What is bound when a node of the tree is described, or None."""
        label = self.index.strings[self.index.label[at]]
        if node.same:
            return bound if node.same in bound and (bound[node.same] == at) != node.test.is_negated else None
        if node.like:
            is_described = node.like in bound and self._is_like(node.test, label, bound[node.like])
        else:
            is_described = bool(len(self.index.where(node.test, np.array([at]))))
        groups = {f"%{name}": found for name, found in _groups(node, label)} if is_described else {}
        if not is_described or any(bound.get(name, found) != found for name, found in groups.items()):
            return None
        return {**bound, **groups, **({node.name: at} if node.name else {})}

    def _is_like(self, test: LabelTest, label: str, other: int | str) -> bool:
        labels = [label, self.index.strings[self.index.label[int(other)]]]
        own, wanted = map(basic_category, labels) if test.is_basic else labels
        return (own == wanted) != test.is_negated


def _conjuncts(part: Part | None) -> list[Part]:
    """The conditions that all have to hold."""
    if part is None:
        return []
    return [each for inner in part.parts for each in _conjuncts(inner)] if part.kind == "all" else [part]


def _groups(node: NodePattern, label: str) -> Iterator[tuple[str, str]]:
    """What the groups of a regular expression that is of the label match; nothing, of one that takes no part."""
    if node.groups and node.test.regex:
        found = node.test.regex.search(basic_category(label) if node.test.is_basic else label)
        assert found is not None
        yield from ((variable, found[number] or "") for number, variable in node.groups)
