"""Masks of the symbols allowed in each cell of a chart, from constraints or a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.constraints import ANY, Constraints
from spacy_lpcfg.trees.transforms import collapse_unaries
from spacy_lpcfg.trees.tree import Tree


class CellMask(NamedTuple):
    """The symbols that each cell of the chart of a sentence of n words may hold.

    cells (int32, (n + 1, n + 1)): At [i, j] the index in `rows` for the span [i, j); row 0 allows nothing.
    rows (int8, (n_rows, n_symbols)): Whether each symbol is allowed.
    """

    cells: np.ndarray
    rows: np.ndarray


class SymbolSets:
    """Indicator vectors of sets of a grammar's symbols, int8 (n_symbols,), from which masks are made.

    nothing, everything (int8, (n_symbols,)): The empty set, and the set of all symbols.
    intermediate (int8, (n_symbols,)): The symbols that binarization introduced.
    """

    def __init__(self, grammar: Grammar) -> None:
        is_open = [grammar.is_intermediate(a) for a in range(grammar.n_symbols)]
        self.nothing = read_only(np.zeros(grammar.n_symbols, dtype=np.int8))
        self.everything = read_only(np.ones(grammar.n_symbols, dtype=np.int8))
        self.intermediate = read_only(np.array(is_open, dtype=np.int8))
        self._labels = grammar.label_chains
        self._leaves = {name: a for a, name in enumerate(grammar.symbols[: grammar.n_preterminals])}
        self._nodes = {name: a for a, name in enumerate(grammar.symbols) if a >= grammar.n_preterminals}

    def with_label(self, label: str) -> np.ndarray:
        """Return the set of symbols whose chain has a label; for `ANY`, the set of symbols with at least one label."""
        return np.array([bool(labels) if label == ANY else label in labels for labels in self._labels], dtype=np.int8)

    def only(self, node: Tree) -> np.ndarray:
        """Return the set that has only the symbol of a node; the empty set if the grammar lacks the symbol.

        node (Tree): A node of a tree whose unary chains are collapsed.
        """
        allowed = self.nothing.copy()
        symbol = (self._leaves if node.is_leaf else self._nodes).get(node.label)
        if symbol is not None:
            allowed[symbol] = 1
        return allowed


def constraint_mask(constraints: Constraints, n_words: int, sets: SymbolSets) -> CellMask:
    """Return the mask that allows a symbol over a span exactly if it violates none of the constraints.

    constraints (Constraints): Constraints on spans of the sentence.
    n_words (int): Number of words of the sentence.
    sets (SymbolSets): The sets of symbols of the grammar.
    """
    cells = np.ones((n_words + 1, n_words + 1), dtype=np.int32)
    if not constraints:
        return CellMask(cells, np.array([sets.nothing, sets.everything]))
    masks = np.ones((*cells.shape, len(sets.everything)), dtype=np.int8)
    for start, end in constraints.whole:
        _cut_crossing(masks, start, end, sets.intermediate)
    for start, end, label in constraints.required:
        _cut_crossing(masks, start, end, sets.nothing)
        masks[start, end] &= sets.with_label(label)
    for start, end, label in constraints.forbidden:
        masks[start, end] &= 1 - sets.with_label(label)
    rows: dict[bytes, int] = {}
    row_of_cell = [rows.setdefault(mask.tobytes(), len(rows)) for mask in masks.reshape(-1, masks.shape[2])]
    cells += np.array(row_of_cell, dtype=np.int32).reshape(cells.shape)
    different = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    return CellMask(cells, np.concatenate([sets.nothing[None], different]))


def _cut_crossing(masks: np.ndarray, start: int, end: int, allowed: np.ndarray) -> None:
    """Allow only the given symbols in cells that cross a span."""
    masks[:start, start + 1 : end] &= allowed
    masks[start + 1 : end, end + 1 :] &= allowed


def tree_mask(tree: Tree, sets: SymbolSets) -> CellMask:
    """Return the mask that allows exactly the binarisations of an n-ary tree.

    tree (Tree): A normalized tree, whose unary chains need not be collapsed.
    sets (SymbolSets): The sets of symbols of the grammar.
    """
    n_words = len(tree)
    cells = np.zeros((n_words + 1, n_words + 1), dtype=np.int32)
    rows = [sets.nothing, sets.intermediate]
    for start, end, node, ends in _positions(collapse_unaries(tree)):
        bounds = [start, *ends]
        for i in range(len(bounds)):
            cells[bounds[i], bounds[i + 2 :]] = 1
        cells[start, end] = len(rows)
        rows.append(sets.only(node))
    return CellMask(cells, np.array(rows))


def _positions(tree: Tree) -> list[tuple[int, int, Tree, list[int]]]:
    """Return (start, end, node, ends of the children) of each node, in pre-order."""
    positions, stack = [], [(0, tree)]
    while stack:
        start, node = stack.pop()
        ends = np.cumsum([start, *map(len, node.children)]).tolist()
        positions.append((start, start + len(node), node, ends[1:]))
        stack.extend(zip(ends[-2::-1], node.children[::-1], strict=True))
    return positions
