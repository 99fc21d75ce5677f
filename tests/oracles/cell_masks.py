"""Symbols that may stand in each cell of a chart, cell by cell and symbol by symbol."""

from collections.abc import Collection

import numpy as np

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.trees.tree import Span


def allowed_symbols(brackets: Collection[Span], n_words: int, grammar: Grammar) -> np.ndarray:
    """Return the symbols of the trees that have no other brackets than the given ones, binarised from the left.

    RETURNS (bool, (n_words + 1, n_words + 1, n_symbols)): Of the span [i, j) at [i, j].
    """
    found = np.zeros((n_words + 1, n_words + 1, grammar.n_symbols), dtype=bool)
    for start in range(n_words):
        for end in range(start + 1, n_words + 1):
            labels = {label for i, j, label in brackets if (i, j) == (start, end)}
            is_open = any(i == start and j > end for i, j, _ in brackets)
            if not (is_open or labels & {*grammar.labels} or end == start + 1):
                continue
            for symbol, chain in enumerate(grammar.chains):
                own = chain[:-1] if symbol < grammar.n_preterminals else chain
                found[start, end, symbol] = is_open if grammar.is_intermediate(symbol) else labels.issuperset(own)
    return found
