"""Latent state vectors of a tree's constituents."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.chart._fine import Marginals
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.result import StateVectors


def states_of(grammar: Grammar, items: np.ndarray, marginals: Marginals, nodes: np.ndarray) -> list[StateVectors]:
    """Return the inside and outside vectors of the constituents and words of a tree, in pre-order.

    grammar (Grammar): The grammar.
    items (int32, (n_items, 4)): The item table of the forest, from `Forest.item_table`.
    marginals (Marginals): Marginals of the forest.
    nodes (int32, (n_nodes,)): Indices of the tree's items, in pre-order.
    """
    vectors = []
    for node in nodes.tolist():
        start, end, symbol, _ = items[node].tolist()
        if not grammar.is_intermediate(symbol):
            inside, outside, exponent = marginals.vectors(node)
            vectors.append(
                StateVectors(start, end, grammar.symbols[symbol], inside, outside, float(exponent * np.log(2)))
            )
    return vectors
