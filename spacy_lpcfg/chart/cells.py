"""Which symbols may stand in which cells of a chart: what constraints, likely brackets, or a given tree, leave."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._context import bracket_cells
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.constraints import ANY, Constraints
from spacy_lpcfg.trees.transforms import collapse_unaries
from spacy_lpcfg.trees.tree import Span, Tree


class CellMask(NamedTuple):
    """Symbols that each cell may hold.

    cells (int32, (n + 1, n + 1)): of the span [i, j) at [i, j], a row of `rows`; row 0 is empty.
    rows (int8, (n_rows, n_symbols)): whether a symbol is allowed.
    """

    cells: np.ndarray
    rows: np.ndarray

    def of_items(self, items: np.ndarray) -> np.ndarray:
        """Whether each item of a `Forest.item_table` is allowed, int8 (n_items,)."""
        start, end, symbol, _ = items.T
        return self.rows[self.cells[start, end], symbol]


class SymbolSets:
    """Sets of a grammar's symbols, int8 (n_symbols,), from which `CellMask` is made."""

    def __init__(self, grammar: Grammar) -> None:
        is_open = [grammar.is_intermediate(a) for a in range(grammar.n_symbols)]
        self.nothing = read_only(np.zeros(grammar.n_symbols, dtype=np.int8))
        self.everything = read_only(np.ones(grammar.n_symbols, dtype=np.int8))
        self.intermediate = read_only(np.array(is_open, dtype=np.int8))
        self._labels = [chain[:-1] if a < grammar.n_preterminals else chain for a, chain in enumerate(grammar.chains)]
        self._leaves = {name: a for a, name in enumerate(grammar.symbols[: grammar.n_preterminals])}
        self._nodes = {name: a for a, name in enumerate(grammar.symbols) if a >= grammar.n_preterminals}

    @cached_property
    def labels(self) -> dict[str, int]:
        """Categories of constituents, numbered."""
        return {label: i for i, label in enumerate(sorted({label for own in self._labels for label in own}))}

    @cached_property
    def label_bits(self) -> np.ndarray:
        """The labels of each symbol's brackets, as bits by number, uint64 (n_blocks, n_symbols)."""
        found = np.zeros((len(self.labels) // 64 + 1, len(self._labels)), dtype=np.uint64)
        for symbol, own in enumerate(self._labels):
            for label in own:
                found[self.labels[label] // 64, symbol] |= np.uint64(1 << self.labels[label] % 64)
        return read_only(found)

    def with_label(self, label: str) -> np.ndarray:
        """Symbols that put a bracket of a label over their words."""
        return np.array([bool(own) if label == ANY else label in own for own in self._labels], dtype=np.int8)

    def only(self, node: Tree) -> np.ndarray:
        """The symbol of a node of a collapsed tree, if the grammar has it."""
        found = self.nothing.copy()
        symbol = (self._leaves if node.is_leaf else self._nodes).get(node.label)
        if symbol is not None:
            found[symbol] = 1
        return found


def constraint_mask(constraints: Constraints, n_words: int, sets: SymbolSets) -> CellMask:
    """The cells of all trees that satisfy constraints."""
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
    places = [rows.setdefault(mask.tobytes(), len(rows)) for mask in masks.reshape(-1, masks.shape[2])]
    cells += np.array(places, dtype=np.int32).reshape(cells.shape)
    different = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    return CellMask(cells, np.concatenate([sets.nothing[None], different]))


def _cut_crossing(masks: np.ndarray, start: int, end: int, rest: np.ndarray) -> None:
    """Leave `rest` in the cells that cross a span."""
    masks[:start, start + 1 : end] &= rest
    masks[start + 1 : end, end + 1 :] &= rest


def bracket_mask(brackets: Collection[Span], n_words: int, sets: SymbolSets) -> CellMask:
    """The cells of all trees that have none but the given brackets, binarised from the left.

    brackets (collection of (start, end, label)): with labels that the grammar may lack.
    """
    return CellMask(*bracket_cells(brackets, n_words, sets.labels, sets.label_bits, sets.intermediate))


def tree_mask(tree: Tree, sets: SymbolSets) -> CellMask:
    """The cells of all binary trees that stand for an n-ary one.

    tree (Tree): normalized.
    """
    n_words = len(tree)
    cells = np.zeros((n_words + 1, n_words + 1), dtype=np.int32)
    rows = [sets.nothing, sets.intermediate]
    for start, end, node, ends in _places(collapse_unaries(tree)):
        bounds = [start, *ends]
        for i in range(len(bounds)):
            cells[bounds[i], bounds[i + 2 :]] = 1
        cells[start, end] = len(rows)
        rows.append(sets.only(node))
    return CellMask(cells, np.array(rows))


def _places(tree: Tree) -> list[tuple[int, int, Tree, list[int]]]:
    """Start, end, node and ends of the children of all nodes, in pre-order."""
    found, stack = [], [(0, tree)]
    while stack:
        start, node = stack.pop()
        ends = np.cumsum([start, *map(len, node.children)]).tolist()
        found.append((start, start + len(node), node, ends[1:]))
        stack.extend(zip(ends[-2::-1], node.children[::-1], strict=True))
    return found
