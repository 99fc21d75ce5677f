"""Expected counts of states in a tree drawn from a grammar, the prior when the grammar is adapted.

A proper L-PCFG is a branching process. The expected number of nodes of each state in one of its trees is the solution v
of the linear system v = pi + M' v: a node is the root, or a child of another node, and M[(a, g), (b, h)] is the
expected number of children b in state h of a node a in state g.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csc_array, eye_array
from scipy.sparse.linalg import spsolve

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar.grammar import Grammar


@dataclass(frozen=True, eq=False)
class Prior:
    """A grammar with the expected counts of states and symbols in one tree drawn from it.

    grammar (Grammar): A proper grammar (its parameters are probabilities).
    states (float64, (n_symbols, m)): Expected number of nodes in each state; rows are padded with zeros.
    symbols (float64, (n_symbols,)): Expected number of nodes of each symbol under the grammar's treebank PCFG.
    """

    grammar: Grammar
    states: np.ndarray
    symbols: np.ndarray

    @classmethod
    def of(cls, grammar: Grammar) -> Prior:
        """Compute the expected counts of states and symbols in one tree drawn from a grammar.

        RAISES (ValueError): If the grammar is not proper, or its trees are infinite in expectation.
        """
        if not grammar.is_proper:
            raise ValueError(
                "Expected a grammar of probabilities to go on from, got one of another kind, such as the spectral "
                "method's: learn it by pivot, em or split-merge."
            )
        states = expected_visits(grammar.root_vectors, grammar.rules, grammar.tensors.dense, grammar.n_states)
        padded = np.zeros((grammar.n_symbols, int(grammar.n_states.max())))
        padded[np.arange(padded.shape[1]) < grammar.n_states[:, None]] = states
        one = np.ones(grammar.n_symbols, dtype=np.int32)
        return cls(grammar, padded, expected_visits(grammar.root_weights, grammar.rules, grammar.rule_weights, one))

    @property
    def state_shares(self) -> np.ndarray:
        """P(h | a), float64 (n_symbols, m); uniform over the states of symbols that no tree is expected to have."""
        grammar = self.grammar
        is_state = np.arange(self.states.shape[1]) < grammar.n_states[:, None]
        visits = np.where(self.states.sum(axis=1, keepdims=True) > 0, self.states, is_state)
        return visits / visits.sum(axis=1, keepdims=True)


def expected_visits(roots: np.ndarray, rules: np.ndarray, tensors: np.ndarray, n_states: np.ndarray) -> np.ndarray:
    """Return the expected number of nodes in each state in a tree of a proper grammar, float64 (sum of n_states,).

    roots (float, (sum of n_states,)): Probability of each state at the root, symbol after symbol.
    rules (int, (n_rules, 3)): The symbols of each rule.
    tensors (float, (n_entries,)): The tensors (m_a, m_b, m_c) of the rules, one after the other.
    n_states (int, (n_symbols,)): States of each symbol.
    RAISES (ValueError): If trees are infinite in expectation.
    """
    starts, n = offsets(n_states), int(n_states.sum())
    children = _expected_children(rules, tensors, n_states, starts)
    visits = spsolve((eye_array(n) - children.T).tocsc(), roots.astype(np.float64)).reshape(-1)
    if not np.all(np.isfinite(visits)) or visits.min(initial=0.0) < -_ROUNDING * np.abs(visits).sum():
        raise ValueError(
            "Expected a grammar whose trees are finite in expectation, got one whose rules make more nodes than they "
            "end: learn it from a treebank with other smoothing."
        )
    return np.maximum(visits, 0.0)


_ROUNDING = 1e-6


def _expected_children(rules: np.ndarray, tensors: np.ndarray, n_states: np.ndarray, starts: np.ndarray) -> csc_array:
    """Return the matrix M of the module docstring, float64 (n, n), where n is the sum of `n_states`."""
    parents, kinds, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    shapes = n_states[rules].astype(np.int64)
    bounds = pairwise(offsets(shapes.prod(axis=1)).tolist())
    for (a, b, c), shape, (start, end) in zip(rules, shapes, bounds, strict=True):
        tensor = tensors[start:end].reshape(shape)
        for child, block in ((b, tensor.sum(axis=2)), (c, tensor.sum(axis=1))):
            rows, columns = np.nonzero(block)
            parents.append(starts[a] + rows)
            kinds.append(starts[child] + columns)
            counts.append(block[rows, columns].astype(np.float64))
    entries = np.concatenate(counts), (np.concatenate(parents), np.concatenate(kinds))
    return coo_array(entries, shape=(int(starts[-1]),) * 2).tocsc()
