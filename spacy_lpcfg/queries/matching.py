"""Match patterns against the nodes of an index.

Matching first computes candidate sets: starting from the rarest label of the pattern, each relation maps the whole set
of remaining nodes to the set of all related nodes. If the pattern does not refer back to a named node, the candidates
are the answer (Gottlob, Koch and Pichler 2005 show this for XPath). If it does, or if named nodes are wanted, a
backtracking search from each candidate finds the matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from spacy_lpcfg.queries.arrays import TreeArrays
from spacy_lpcfg.queries.pattern import Part, TreePattern
from spacy_lpcfg.queries.relations import Ids, image, intersection, is_among, unique
from spacy_lpcfg.trees.transforms import basic_category

Bound = dict[str, int | str]
"""Bindings: nodes by their names, and strings by their variables, whose names begin with %."""
OnStep = Callable[[int], None]
"""Called with the number of nodes that a step of the backtracking search reaches; what it raises ends the search."""
_FEW = 8  # a relation is followed from the remaining nodes if the rarest label has this many times more


def matching_nodes(index: TreeArrays, pattern: TreePattern) -> Ids:
    """Return the nodes that a pattern matches, in pre-order, int64 (n,).

    RAISES (ValueError): If a regular expression takes too long.
    """
    matching = []
    for root in pattern.roots:
        search = _Search(index)
        ids = search.candidates(root)
        is_match = root.is_closed or [any(True for _ in search.matches(root, i, {})) for i in ids.tolist()]
        matching.append(ids[np.full(len(ids), is_match, bool)])
    return unique(index, np.concatenate(matching))


def matches(index: TreeArrays, pattern: TreePattern, on_step: OnStep | None = None) -> Iterator[tuple[int, Bound]]:
    """Yield each match of a pattern: nodes in pre-order, and at each node every distinct binding of named nodes once.

    on_step (callable or None): Called in each step of the search with 1 + the number of nodes that it reaches; an error
        that it raises ends the search.
    YIELDS (int, dict): The matched node, and its bindings: nodes by name, and texts by variable (%name). If several
        matches bind the same nodes, the texts are those of the first.
    RAISES (ValueError): If a regular expression takes too long.
    """
    searches = [(root, _Search(index, on_step)) for root in pattern.roots]
    candidates = [search.candidates(root) for root, search in searches]
    for i in unique(index, np.concatenate(candidates)).tolist():
        seen: set[tuple[tuple[str, int], ...]] = set()
        for (root, search), ids in zip(searches, candidates, strict=True):
            for bound in search.bindings(root, i) if is_among(np.array([i]), ids)[0] else ():
                names = tuple((name, node) for name, node in bound.items() if isinstance(node, int))
                if names not in seen:
                    seen.add(names)
                    yield i, bound


class _Search:
    """The search for one alternative of a pattern, with the candidate nodes of each part of the pattern."""

    def __init__(self, index: TreeArrays, on_step: OnStep | None = None) -> None:
        self.index = index
        self.on_step = on_step
        self.sets: dict[Part, Ids] = {}

    # Sets of nodes

    def candidates(self, node: Part, within: Ids | None = None) -> Ids:
        """Return a superset of the nodes that match, or exactly these nodes if the part refers to no other node.

        within (Ids or None): The nodes to choose from; None for all nodes.
        """
        conditions = _conjuncts(node.parts)
        steps = (condition for condition in conditions if condition.kind == "step")
        rarest = min(steps, key=self._rarity, default=None)
        if within is None and rarest is not None and self._rarity(rarest) < self._count(node):
            conditions.remove(rarest)
            within = image(self.index, rarest.relation.converse, self.candidates(rarest.parts[0]))
        if node.same or node.like:  # the label depends on another node, which is not known yet
            ids = np.arange(len(self.index.label)) if within is None else within
        else:
            ids = self.index.where(node.test, within)
        for condition in sorted(conditions, key=self._rarity):
            ids = self._restricted(condition, ids)
        self.sets[node] = ids
        return ids

    def _count(self, node: Part) -> int:
        return len(self.index.label) if node.same or node.like else self.index.count(node.test)

    def _rarity(self, part: Part) -> int:
        """Return the number of nodes with the rarest label that a step requires; for another condition, n_nodes + 1."""
        if part.kind != "step":
            return len(self.index.label) + 1
        (node,) = part.parts
        return min([self._count(node), *map(self._rarity, _conjuncts(node.parts))])

    def _restricted(self, part: Part, ids: Ids) -> Ids:
        """Return the nodes among `ids` that may satisfy a condition."""
        if part.kind == "step":
            is_few = len(ids) * _FEW < self._rarity(part)
            within = image(self.index, part.relation, ids) if is_few else None
            return intersection(ids, image(self.index, part.relation.converse, self.candidates(part.parts[0], within)))
        if part.kind == "any":
            return unique(self.index, np.concatenate([self._restricted(choice, ids) for choice in part.parts]))
        if part.kind == "not" and part.is_closed:
            return ids[~is_among(ids, self._restricted(part.parts[0], ids))]
        for conjunct in part.parts if part.kind == "all" else ():
            ids = self._restricted(conjunct, ids)
        return ids

    # Walks

    def bindings(self, root: Part, at: int) -> Iterator[Bound]:
        """Yield the variable bindings of each match at a candidate node."""
        is_sure = root.is_closed and not root.binds
        yield from [{}] if is_sure else self.matches(root, at, {})

    def matches(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        """Yield the bindings of every match of a pattern part at a node, each an extension of `bound`."""
        if part.kind == "node":
            described = self._described(part, at, bound)
            if described is not None:
                yield from self._all(part.parts, at, described)
        elif part.kind == "all":
            yield from self._all(part.parts, at, bound)
        elif part.kind == "any":
            for choice in part.parts:
                yield from self.matches(choice, at, bound)
        elif part.kind == "step":
            yield from self._step(part, at, bound)
        else:
            matches = self.matches(part.parts[0], at, bound)
            first = next(matches, None)
            if first is None:
                yield bound
            elif part.kind == "optional":
                yield first
                yield from matches

    def _all(self, parts: Sequence[Part], at: int, bound: Bound) -> Iterator[Bound]:
        if not parts:
            yield bound
        else:
            for extended in self.matches(parts[0], at, bound):
                yield from self._all(parts[1:], at, extended)

    def _step(self, part: Part, at: int, bound: Bound) -> Iterator[Bound]:
        """Yield the bindings of each match at a target of a step; only the first if the target binds nothing."""
        (node,) = part.parts
        targets = image(self.index, part.relation, np.array([at]))
        if self.on_step is not None:
            self.on_step(1 + len(targets))
        if node in self.sets:
            targets = intersection(targets, self.sets[node])
        elif node.is_closed:
            targets = _Search(self.index).candidates(node, targets)
        if node.is_closed and not node.binds:
            if len(targets):
                yield bound
            return
        matches = (match for target in targets.tolist() for match in self.matches(node, target, bound))
        if node.binds:
            yield from matches
        elif next(matches, None) is not None:
            yield bound

    def _described(self, node: Part, at: int, bound: Bound) -> Bound | None:
        """Test a node against a node of the pattern without its conditions; return the extended bindings, or None."""
        test, label = node.test, self.index.string(at)
        if node.same:
            return bound if node.same in bound and (bound[node.same] == at) != test.is_negated else None
        if node.like:
            labels = {label, self.index.string(int(bound[node.like]))} if node.like in bound else set()
            labels = set(map(basic_category, labels)) if test.is_basic else labels
            is_described = bool(labels) and (len(labels) == 1) != test.is_negated
        else:
            is_described = len(self.index.where(test, np.array([at]))) > 0
        extended = dict(bound)
        if is_described and node.groups:
            groups = self.index.groups(test, at)
            texts = [(f"%{name}", groups[number]) for number, name in node.groups]
            is_described = all(extended.setdefault(name, text) == text for name, text in texts)
        if node.name:
            extended[node.name] = at
        return extended if is_described else None


def _conjuncts(parts: Sequence[Part]) -> list[Part]:
    """Flatten nested conjunctions into a list of conditions."""
    return [leaf for part in parts for leaf in (_conjuncts(part.parts) if part.kind == "all" else [part])]
