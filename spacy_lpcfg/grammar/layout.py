"""Conversion of a grammar's tensors to the memory layout that the kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import LANES, in_blocks, offsets, ranges
from spacy_lpcfg.grammar.tensors import EXACT, SPARSE, Tensors

_CACHE_LINE = 64  # bytes


class Layout(NamedTuple):
    """The tensors of all rules, in the order in which the kernels read them.

    The rows of all matrices are padded with zeros to whole blocks of `LANES` (8) numbers. `data` has, for each rule,

    - an exact tensor [h1, h2, h3],
    - the scaled core (p, q, r) and the factors A (m_a, p), B (m_b, q), C (m_c, r) of a factored tensor, or
    - the vectors a, b and c of a sparse tensor, of which c is padded as a row.

    data (float32, (n,)): The numbers of all tensors, except for the stored entries of sparse tensors.
    starts (int64, (n_rules, 4)): Positions in `data` of a tensor's core, A, B and C. For an exact tensor only the first
        one is used; for a sparse tensor the last three are the positions of a, b and c.
    blocks (float32, (n_blocks, LANES)): The nonzero blocks of the stored entries of sparse tensors [h1, h2, h3].
    places (int32, (n_blocks, 2)): The state h1 of each block, and the index of the block within the matrix [h2, h3].
    first_block (int64, (n_rules + 1,)): The blocks of rule r are `first_block[r]:first_block[r + 1]`, an empty range
        unless its tensor is sparse.
    """

    data: np.ndarray
    starts: np.ndarray
    blocks: np.ndarray
    places: np.ndarray
    first_block: np.ndarray


def layout(tensors: Tensors) -> Layout:
    """Return the tensors of a grammar in the memory layout of the kernels."""
    n_floats = sizes(tensors)
    starts = offsets(n_floats.ravel())[:-1].reshape(n_floats.shape)
    data = np.zeros(int(n_floats.sum()), dtype=np.float32)
    exact, sparse = tensors.forms == EXACT, tensors.forms == SPARSE
    data[_positions_in_rows(starts[exact, 0], tensors.shapes[exact])] = tensors.exact
    data[ranges(starts[sparse, 1:].ravel(), tensors.shapes[sparse].ravel())] = tensors.rests
    for rules, *core_and_factors in tensors.factored():
        for k, factor in enumerate(core_and_factors):
            wide = np.zeros((*factor.shape[:-1], in_blocks(factor.shape[-1])), dtype=np.float32)
            wide[..., : factor.shape[-1]] = factor
            data[starts[rules, k][:, None] + np.arange(wide[0].size)] = wide.reshape(len(rules), -1)
    return Layout(data, starts, *_blocks(tensors))


def sizes(tensors: Tensors) -> np.ndarray:
    """Return the size, with padding, of each tensor's core, A, B and C in `Layout.data`, int64 (n_rules, 4).

    The sizes are numbers of float32. The four columns mean the same as those of `Layout.starts`.
    """
    shapes, ranks = tensors.shapes.astype(np.int64), tensors.ranks.astype(np.int64)
    exact, sparse = tensors.forms == EXACT, tensors.forms == SPARSE
    p, q, r = np.where(exact[:, None], shapes, ranks).T
    factors = shapes * in_blocks(ranks)
    factors[sparse] = shapes[sparse]
    factors[sparse, 2] = in_blocks(shapes[sparse, 2])
    return np.column_stack([p * q * in_blocks(r), factors])


def _positions_in_rows(starts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return the positions in `Layout.data` of the entries of exact tensors, whose rows are padded to whole blocks.

    starts (int64, (n,)): Position of each tensor.
    shapes (int32, (n, 3)): Shape of each tensor.
    """
    m_a, m_b, m_c = shapes.astype(np.int64).T
    n_rows = m_a * m_b
    row = np.arange(n_rows.sum()) - np.repeat(offsets(n_rows)[:-1], n_rows)
    return ranges(np.repeat(starts, n_rows) + row * np.repeat(in_blocks(m_c), n_rows), np.repeat(m_c, n_rows))


def _blocks(tensors: Tensors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the nonzero blocks of the sparse tensors: the fields `blocks`, `places` and `first_block` of `Layout`."""
    _, places, values, _ = tensors.sparse()
    n_kept = np.diff(np.searchsorted(places, tensors.offsets))
    m_a, m_b, m_c = tensors.shapes.astype(np.int64).T
    n_in_row = in_blocks(m_c) // LANES
    starts = offsets(m_a * m_b * n_in_row)  # first block of each rule if no block were left out
    row, h3 = np.divmod(places - np.repeat(tensors.offsets[:-1], n_kept), np.repeat(m_c, n_kept))
    number = row * np.repeat(n_in_row, n_kept) + h3 // LANES + np.repeat(starts[:-1], n_kept)
    is_new = np.diff(number, prepend=-1) != 0
    nonzero = number[is_new]
    blocks = _zeros(len(nonzero), LANES)
    blocks[np.cumsum(is_new) - 1, h3 % LANES] = values
    first_block = np.searchsorted(nonzero, starts)
    n_blocks = np.diff(first_block)
    in_rule = nonzero - np.repeat(starts[:-1], n_blocks)
    parents_and_places = np.divmod(in_rule, np.repeat(m_b * n_in_row, n_blocks))
    return blocks, np.column_stack(parents_and_places).astype(np.int32), first_block


def _zeros(n_rows: int, n_cols: int) -> np.ndarray:
    """Return a float32 matrix of zeros that begins at a cache line, so that no block crosses two cache lines."""
    buffer = np.zeros(n_rows * n_cols + _CACHE_LINE // 4, dtype=np.float32)
    start = -buffer.ctypes.data % _CACHE_LINE // 4
    return buffer[start : start + n_rows * n_cols].reshape(n_rows, n_cols)
