"""Conversion of expected counts to new latent states, when states are split or merged.

The flow matrix of a symbol, (m, n), has the share of each old state's counts that goes to each new state: 1 to the
merged state when states are merged, and two halves when a state is split (Petrov et al. 2006, "Learning accurate,
compact, and interpretable tree annotation"). No count is lost; the new parameters are relative frequencies of the new
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.learning.latent.statistics import Expected, Split

Flows = Sequence[np.ndarray]  # of each symbol, float32 (states, new states), rows that sum to 1


def flow(split: Split, expected: Expected, flows: Flows) -> tuple[Split, Expected]:
    """Move expected counts to new states.

    split (Split): The treebank and its old states.
    expected (Expected): Counts of the old states.
    flows (sequence of (m_a, n_a) matrices): The flow matrix of each symbol.
    RETURNS (Split, Expected): The treebank with the new states, and their expected counts.
    """
    new = split.with_states(np.array([matrix.shape[1] for matrix in flows], dtype=np.int32))
    of_pairs = split.events.pairs[:, 0]
    return new, Expected(
        rules=_rules(split, new, expected.rules, flows),
        words=_rows(expected.words, of_pairs, flows, new.width),
        forms=_rows(expected.forms, of_pairs, flows, new.width),
        symbols=_rows(expected.symbols, np.arange(len(flows)), flows, new.width),
        roots=_rows(expected.roots, np.arange(len(flows)), flows, new.width),
        log_likelihood=expected.log_likelihood,
    )


def _rules(split: Split, new: Split, counts: np.ndarray, flows: Flows) -> np.ndarray:
    """Map counts of the old tensors' entries to counts of the new tensors' entries, float32 (n_entries,)."""
    moved = np.empty(new.starts[-1], dtype=np.float32)
    bounds = zip(split.treebank.counts.rules, split.shapes, pairwise(split.starts), pairwise(new.starts), strict=True)
    for (a, b, c), shape, old_bounds, new_bounds in bounds:
        tensor = flows[b].T @ (counts[slice(*old_bounds)].reshape(shape) @ flows[c])
        moved[slice(*new_bounds)] = (flows[a].T @ tensor.reshape(shape[0], -1)).ravel()
    return moved


def _rows(counts: np.ndarray, symbols: np.ndarray, flows: Flows, width: int) -> np.ndarray:
    """Map rows of state counts, (n, m), to the new states, float64 (n, width); `symbols` (n,) are sorted."""
    moved = np.zeros((len(counts), width))
    for matrix, (start, end) in zip(flows, pairwise(offsets(np.bincount(symbols, minlength=len(flows)))), strict=True):
        m, n = matrix.shape
        moved[start:end, :n] = counts[start:end, :m] @ matrix
    return moved
