"""Summaries of latent states: the rules and words with the largest weights in each state of a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar.grammar import Grammar


class Weighted(NamedTuple):
    """A rule or word with its weight in a latent state, which is a probability if the grammar is proper."""

    name: str
    weight: float


def top_rules(grammar: Grammar, symbol: int, n: int) -> list[list[Weighted]]:
    """Return the rules with the largest weights in each latent state of an interminal (a symbol over two children).

    symbol (int): Id of the left-hand side.
    n (int): Number of rules for each state.
    RETURNS (list of list of Weighted, (n_states[symbol],)): Rules as "NP -> DT NN", in descending order. A weight is
        the sum of t(a -> b c, h2, h3 | a, h1) over the states h2 and h3 of the children.
    """
    rules = np.flatnonzero(grammar.rules[:, 0] == symbol).tolist()
    names = [_rule_name(grammar, rule) for rule in rules]
    starts = offsets(grammar.tensors.shapes[:, 0])[rules]
    weights = grammar.tensors.sums[starts[:, None] + np.arange(grammar.n_states[symbol])]
    return _largest(names, weights, n)


def top_words(grammar: Grammar, symbol: int, n: int) -> list[list[Weighted]]:
    """Return the words with the largest weights in each state of a preterminal, and signatures such as "<form s>".

    symbol (int): Id of the preterminal.
    n (int): Number of words for each state.
    RETURNS (list of list of Weighted, (n_states[symbol],)): Words with q(x | a, h), in descending order. The weight of
        a signature is the sum over all rare and unknown words that it emits.
    """
    lexicon = grammar.lexicon
    is_word = ~np.isin(lexicon.row_terminals, lexicon.tag_terminals)
    rows = np.flatnonzero((lexicon.symbols == symbol) & is_word)
    names = [lexicon.terminals[terminal] for terminal in lexicon.row_terminals[rows]]
    starts = lexicon.vector_offsets[rows]
    weights = lexicon.vectors[starts[:, None] + np.arange(grammar.n_states[symbol])]
    per_row = lexicon.words_per_row(grammar.tag_of)[rows]
    return _largest(names, weights * per_row[:, None], n)


def _rule_name(grammar: Grammar, rule: int) -> str:
    lhs, left, right = (grammar.symbols[symbol] for symbol in grammar.rules[rule])
    return f"{lhs} -> {left} {right}"


def _largest(names: Sequence[str], weights: np.ndarray, n: int) -> list[list[Weighted]]:
    """Return the names with the n largest nonzero weights in each column of `weights`, (n_names, n_states)."""
    order = np.argsort(-weights, axis=0, kind="stable")[:n]
    return [
        [Weighted(names[i], float(weights[i, state])) for i in best if weights[i, state] != 0]
        for state, best in enumerate(order.T)
    ]
