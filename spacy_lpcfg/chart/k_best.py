"""The trees of a forest by falling score: the lazy algorithm 3 of Huang and Chiang (2005), "Better k-best parsing"."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart._forest import Forest


class _Choice(NamedTuple):
    """One way to build an item, ordered by falling score.

    loss (float): the negative score of the tree below.
    edge (int): its topmost edge; -1 for a leaf.
    left, right (int): which trees of the edge's children it takes, 0 for the best.
    """

    loss: float
    edge: int
    left: int
    right: int


_LEAF = _Choice(0.0, -1, 0, 0)


class KBest:
    """The trees of a forest, each once.

    forest (Forest): any.
    edge_scores (float, (n_edges,)), root_scores (float, (n_items,)): a tree's score is the sum of those of its edges
        and that of its root; -inf rules an edge or a root out. The latter are read at items that may be roots only.
    """

    def __init__(self, forest: Forest, edge_scores: np.ndarray, root_scores: np.ndarray) -> None:
        self._edges = forest.edge_table()[:, :3].tolist()
        self._scores = edge_scores.tolist()
        self._root_scores = root_scores
        self._chosen: list[list[_Choice]] = []
        self._waiting: list[list[_Choice]] = []
        edge = 0
        for item, (*_, row) in enumerate(forest.item_table().tolist()):
            self._chosen.append([_LEAF] if row >= 0 else [])
            self._waiting.append([])
            while edge < len(self._edges) and self._edges[edge][0] == item:
                self._offer(item, edge, 0, 0)
                edge += 1
            self._more(item)

    def trees(self) -> Iterator[list[int]]:
        """Items of the trees in pre-order, best tree first."""
        roots = np.flatnonzero(np.isfinite(self._root_scores)).tolist()
        for _, root, k in heapq.merge(*map(self._of_root, roots)):
            yield self._nodes(root, k)

    def _of_root(self, root: int) -> Iterator[tuple[float, int, int]]:
        k = 0
        while self._has(root, k):
            yield self._chosen[root][k].loss - float(self._root_scores[root]), root, k
            k += 1

    def _has(self, item: int, k: int) -> bool:
        """Whether an item has a tree number k, which then is found."""
        chosen = self._chosen[item]
        if len(chosen) == k and chosen and chosen[-1].edge >= 0:
            _, edge, left, right = chosen[-1]
            self._offer(item, edge, left + 1, right)
            if left == 0:
                self._offer(item, edge, left, right + 1)
            self._more(item)
        return len(chosen) > k

    def _more(self, item: int) -> None:
        if self._waiting[item]:
            self._chosen[item].append(heapq.heappop(self._waiting[item]))

    def _offer(self, item: int, edge: int, left: int, right: int) -> None:
        """Let a way to build an item wait for its turn, if there is such."""
        _, left_item, right_item = self._edges[edge]
        if self._scores[edge] > -np.inf and self._has(left_item, left) and self._has(right_item, right):
            below = self._chosen[left_item][left].loss + self._chosen[right_item][right].loss
            heapq.heappush(self._waiting[item], _Choice(below - self._scores[edge], edge, left, right))

    def _nodes(self, root: int, k: int) -> list[int]:
        nodes, stack = [], [(root, k)]
        while stack:
            item, which = stack.pop()
            nodes.append(item)
            choice = self._chosen[item][which]
            if choice.edge >= 0:
                _, left, right = self._edges[choice.edge]
                stack += [(right, choice.right), (left, choice.left)]
        return nodes
