"""k-best trees of a forest, by the lazy algorithm 3 of Huang and Chiang (2005), "Better k-best parsing"."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart._forest import Forest


class _Choice(NamedTuple):
    """One derivation of an item, ordered by descending score.

    loss (float): The negative score of the derivation.
    edge (int): The topmost edge; -1 for a leaf.
    left, right (int): The ranks, from 0, of the two children's derivations among all derivations of that child.
    """

    loss: float
    edge: int
    left: int
    right: int


_LEAF = _Choice(0.0, -1, 0, 0)


class KBest:
    """Enumerator of the trees of a forest by descending score.

    The score of a tree is the sum of the scores of its edges and of its root.

    forest (Forest): The forest; it may have no trees.
    edge_scores (float, (n_edges,)): The score of each edge; -inf excludes an edge.
    root_scores (float, (n_items,)): The score of each item as the root of a tree; -inf excludes a root.
    """

    def __init__(self, forest: Forest, edge_scores: np.ndarray, root_scores: np.ndarray) -> None:
        self._edges = forest.edge_table()[:, :3].tolist()
        self._scores = edge_scores.tolist()
        self._root_scores = root_scores
        self._ranked: list[list[_Choice]] = []
        self._candidates: list[list[_Choice]] = []
        edge = 0
        for item, (*_, row) in enumerate(forest.item_table().tolist()):
            self._ranked.append([_LEAF] if row >= 0 else [])
            self._candidates.append([])
            while edge < len(self._edges) and self._edges[edge][0] == item:
                self._offer(item, edge, 0, 0)
                edge += 1
            self._more(item)

    def trees(self) -> Iterator[list[int]]:
        """Yield each tree as the indices of its items in pre-order, best tree first."""
        roots = np.flatnonzero(np.isfinite(self._root_scores)).tolist()
        for _, root, k in heapq.merge(*map(self._of_root, roots)):
            yield self._nodes(root, k)

    def _of_root(self, root: int) -> Iterator[tuple[float, int, int]]:
        k = 0
        while self._has(root, k):
            yield self._ranked[root][k].loss - float(self._root_scores[root]), root, k
            k += 1

    def _has(self, item: int, k: int) -> bool:
        """Return whether an item has a derivation of rank k, after computing it if necessary."""
        agenda, parents_first = [(item, k)], []
        while agenda:
            below, rank = agenda.pop()
            ranked = self._ranked[below]
            if len(ranked) == rank and ranked and ranked[-1].edge >= 0:
                parents_first.append(below)
                _, edge, left, right = ranked[-1]
                _, left_item, right_item = self._edges[edge]
                agenda.append((left_item, left + 1))
                if left == 0:
                    agenda.append((right_item, right + 1))
        for below in reversed(parents_first):
            _, edge, left, right = self._ranked[below][-1]
            self._offer(below, edge, left + 1, right)
            if left == 0:
                self._offer(below, edge, left, right + 1)
            self._more(below)
        return len(self._ranked[item]) > k

    def _more(self, item: int) -> None:
        if self._candidates[item]:
            self._ranked[item].append(heapq.heappop(self._candidates[item]))

    def _offer(self, item: int, edge: int, left: int, right: int) -> None:
        """Add a derivation of an item to its candidates, if the children have derivations of these ranks so far."""
        _, left_item, right_item = self._edges[edge]
        lefts, rights = self._ranked[left_item], self._ranked[right_item]
        if self._scores[edge] > -np.inf and len(lefts) > left and len(rights) > right:
            below = lefts[left].loss + rights[right].loss
            heapq.heappush(self._candidates[item], _Choice(below - self._scores[edge], edge, left, right))

    def _nodes(self, root: int, k: int) -> list[int]:
        nodes, stack = [], [(root, k)]
        while stack:
            item, rank = stack.pop()
            nodes.append(item)
            choice = self._ranked[item][rank]
            if choice.edge >= 0:
                _, left, right = self._edges[choice.edge]
                stack += [(right, choice.right), (left, choice.left)]
        return nodes
