"""The tensor form of L-PCFGs as Cohen et al. (2012) define it: the probability of a tree.

This is the specification, in numpy and float64, that the chart's kernels and the learners are held to. Notation of
the paper: C of a rule a -> b c is its tensor, c^infinity of a -> x a row of the lexicon, c^1 of a its root vector.
Differs: (1) numbers of states may differ from symbol to symbol; (2) any symbol may be the root, so that one word is a
sentence; (3) tensors are stored as [a, b, c], so that C(y) of the paper, its row vector f^c from the left, is
`einsum("abc,b,c->a")` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, log
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries, normalize
from spacy_lpcfg.trees.tree import Tree

UNKNOWN_SYMBOL = -1


def tree_weight(grammar: Grammar, tree: Tree, *, markov: int = 0) -> float:
    """The weight of a tree: its probability, if the grammar is proper (figure 2 of Cohen et al. 2012).

    grammar (Grammar): By any learner; of one whose parameters may be negative, so may be the weight.
    tree (Tree): n-ary; it is normalised, collapsed and binarised as the learners do.
    markov (int): Siblings that an "@" symbol remembers, as in the learner.
    RETURNS (float): 0 if the tree has a rule, or a tag for a word, that the grammar does not have; also where it is
        too small for a float, which `tree_log_probability` avoids.
    RAISES (ValueError): If the tree has no words but empty elements.
    """
    return float(np.ldexp(*_scaled_weight(grammar, _skeleton(tree, markov))))


def tree_log_probability(grammar: Grammar, tree: Tree, *, markov: int = 0) -> float:
    """Natural log of the probability of a tree of any size; same arguments as `tree_weight`.

    grammar (Grammar): Proper.
    RETURNS (float): -inf for a tree that the grammar cannot make.
    RAISES (ValueError): If the grammar is not proper, or the tree has no words but empty elements.
    """
    if not grammar.is_proper:
        raise ValueError(
            "Expected a proper grammar, such as TreebankPCFG learns, got one whose weights are not probabilities "
            "and may be negative: take tree_weight, which has a sign."
        )
    mantissa, exponent = _scaled_weight(grammar, _skeleton(tree, markov))
    return log(mantissa) + exponent * log(2.0) if mantissa > 0 else -np.inf


def _skeleton(tree: Tree, markov: int) -> Tree:
    normal = normalize(tree)
    if normal is None:
        raise ValueError("Expected a tree with words, got one of nothing but empty elements.")
    return binarize(collapse_unaries(normal), markov=markov)


class _Inside(NamedTuple):
    """f^i of figure 2, as vector * 2 ** exponent; the vector of a symbol that is not known is zero."""

    symbol: int
    vector: np.ndarray
    exponent: int


def _scaled_weight(grammar: Grammar, skeleton: Tree) -> tuple[float, int]:
    """Figure 2: mantissa and binary exponent of the weight of a skeletal tree."""
    emissions = iter(_emissions(grammar, skeleton.words))

    def inside(node: Tree, below: list[_Inside]) -> _Inside:
        symbol = _symbol(grammar, node)
        if node.is_leaf:
            return _scaled(symbol, _emission(grammar, symbol, *next(emissions)), 0)
        left, right = below
        tensor = _tensor(grammar, symbol, left.symbol, right.symbol)
        if tensor is None:
            return _Inside(UNKNOWN_SYMBOL, np.zeros(1), 0)
        vector = np.einsum("abc,b,c->a", tensor, left.vector, right.vector)
        return _scaled(symbol, vector, left.exponent + right.exponent)

    root = skeleton.fold(inside)
    if root.symbol == UNKNOWN_SYMBOL:
        return 0.0, 0
    return float(grammar.root_vector(root.symbol) @ root.vector), root.exponent


def _scaled(symbol: int, vector: np.ndarray, exponent: int) -> _Inside:
    _, shift = frexp(np.abs(vector).max())
    return _Inside(symbol, np.ldexp(vector, -shift), exponent + shift)


def _symbol(grammar: Grammar, node: Tree) -> int:
    """Id of a node's symbol: a preterminal for a leaf, an interminal for any other node."""
    first, end = (0, grammar.n_preterminals) if node.is_leaf else (grammar.n_preterminals, grammar.n_symbols)
    names = grammar.symbols[first:end]
    return first + names.index(node.label) if node.label in names else UNKNOWN_SYMBOL


def _emissions(grammar: Grammar, words: Sequence[str]) -> list[tuple[int, np.ndarray]]:
    """Return the terminal of each word, and the factors of its emissions by tag, float64 (n_tags,)."""
    lexicon = grammar.lexicon
    terminals, factors = lexicon.look_up(words)
    return list(zip(terminals.tolist(), factors, strict=True))


def _emission(grammar: Grammar, symbol: int, terminal: int, factors: np.ndarray) -> np.ndarray:
    """c^infinity of a -> x, float64 (m_a,); zero if there is no such rule.

    terminal (int), factors (float64, (n_tags,)): As `_emissions` has them.
    """
    lexicon = grammar.lexicon
    start, end = lexicon.offsets[terminal : terminal + 2]
    rows = start + np.flatnonzero(lexicon.symbols[start:end] == symbol)
    if len(rows) == 0:
        return np.zeros(grammar.n_states[symbol] if symbol != UNKNOWN_SYMBOL else 1)
    start, end = lexicon.vector_offsets[rows[0] : rows[0] + 2]
    return factors[grammar.tag_of[symbol]] * lexicon.vectors[start:end].astype(np.float64)


def _tensor(grammar: Grammar, a: int, b: int, c: int) -> np.ndarray | None:
    """C of a -> b c, float64 (m_a, m_b, m_c); None if there is no such rule."""
    rules = np.flatnonzero((grammar.rules == (a, b, c)).all(axis=1))
    return grammar.tensor(rules[0]).astype(np.float64) if len(rules) else None
