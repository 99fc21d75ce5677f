"""Latent states of the constituents of a tree: inside and outside vectors, as features for other models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart._fine import Marginals
from spacy_lpcfg.grammar.grammar import Grammar


class StateVectors(NamedTuple):
    """What a grammar knows of the latent states of a constituent, or of a word.

    start, end (int): its words, half-open.
    symbol (str): the grammar's name of it: the labels over just these words, joined by "|", with the tag of a word.
    inside (float32, (m,)): P(these words | symbol, state), divided by exp(`log_scale`); m states may differ by symbol.
    outside (float32, (m,)): P(all other words, state), so scaled that inside * outside are the posteriors
        P(symbol over these words, state | sentence), which add up to that of the symbol.
    log_scale (float): natural logarithm of what `inside` is divided by, so that its largest entry is from 0.5 to 1.

    Vectors of a spectral grammar are no probabilities, but linear maps of them; entries may be negative.
    """

    start: int
    end: int
    symbol: str
    inside: np.ndarray
    outside: np.ndarray
    log_scale: float


def states_of(grammar: Grammar, items: np.ndarray, marginals: Marginals, nodes: np.ndarray) -> list[StateVectors]:
    """The vectors of the constituents and words of a tree, in pre-order.

    items (int32, (n_items, 4)): of the forest; nodes (int32, (n_nodes,)): those of the tree, in pre-order.
    """
    found = []
    for node in nodes.tolist():
        start, end, symbol, _ = items[node].tolist()
        if not grammar.is_intermediate(symbol):
            inside, outside, exponent = marginals.vectors(node)
            found.append(
                StateVectors(start, end, grammar.symbols[symbol], inside, outside, float(exponent * np.log(2)))
            )
    return found
