"""The rules that a treebank lacks, for sentences that its grammar has no tree for.

Horizontal back-off: below a label any child may stand beside any other that was seen below it, as in a Markov grammar
of order 0 (Klein and Manning 2003, "Accurate unlexicalized parsing", section 2). Below the commonest root any
constituent may stand beside others: such rules glue parts together that nothing else joins.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.tensors import FACTORED
from spacy_lpcfg.trees.transforms import NEW_NODE

MASS = 1e-3  # weight of a symbol's new rules, beside 1 of those that it has
GLUE = 1e-4  # of that, the weight of glue rules
SHARE = 1e-4  # least product of the shares of two first children


def with_backoff(grammar: Grammar) -> Grammar:
    """The grammar with rules that it lacks; not a proper one, as the weights of a symbol's rules exceed 1.

    Let u(c) be the share of c among the children of a label X, those of @X from binarisation included. A rule
    X -> @X c or @X -> @X c weighs `MASS` u(c), and X -> b c or @X -> b c weighs `MASS` u(b) u(c) if u(b) u(c) is at
    least `SHARE`. Where X is the commonest root any c may follow @X: then u(c) is there at least `GLUE` times the share
    of c among all nodes. The states of the symbols of a new rule are independent, and equally likely.
    """
    top = grammar.n_preterminals + np.argmax([*grammar.root_weights[grammar.n_preterminals :], 0])
    rules, weights = [np.empty((0, 3), dtype=np.int32)], [np.empty(0)]
    for family in _families(grammar):
        pairs = _pairs_below(grammar, family, GLUE if top in family else 0.0)
        for parent in family:
            missing = pairs.copy()
            missing[tuple(grammar.rules[grammar.rules[:, 0] == parent, 1:].T)] = 0
            left, right = np.nonzero(missing)
            rules.append(np.column_stack([np.full_like(left, parent), left, right]))
            weights.append(MASS * missing[left, right])
    return _with_rules(grammar, np.concatenate(rules).astype(np.int32), np.concatenate(weights))


def _families(grammar: Grammar) -> list[np.ndarray]:
    """Each interminal with the symbols of its binarisation."""
    families = defaultdict(list)
    for symbol in range(grammar.n_preterminals, grammar.n_symbols):
        name = grammar.symbols[symbol]
        is_open = grammar.is_intermediate(symbol)
        families[name.removeprefix(NEW_NODE).partition("->")[0] if is_open else name].append(symbol)
    return [np.array(family) for family in families.values()]


def _pairs_below(grammar: Grammar, family: np.ndarray, glue: float) -> np.ndarray:
    """Weights of children b and c below the symbols of a family, of which `MASS` is not yet taken, (n_symbols,) * 2.

    glue (float): least u(c) after @X, as a share of the share of c among all nodes.
    """
    is_open = np.array([grammar.is_intermediate(symbol) for symbol in range(grammar.n_symbols)])
    below = np.isin(grammar.rules[:, 0], family)
    counts = grammar.symbol_weights[grammar.rules[below, 0]] * grammar.rule_weights[below]
    children = np.bincount(grammar.rules[below, 1:].ravel(), np.repeat(counts, 2), grammar.n_symbols)
    children[is_open] = 0
    shares = children / (children.sum() or 1.0)
    pairs = np.outer(shares, shares)
    pairs[pairs < SHARE] = 0
    pairs[family[is_open[family]]] = np.maximum(shares, np.where(is_open, 0, glue * grammar.symbol_weights))
    return pairs


def _with_rules(grammar: Grammar, rules: np.ndarray, weights: np.ndarray) -> Grammar:
    """The grammar with more rules, of equally likely states; int32 (n, 3), float64 (n,)."""
    tensors, shapes, n = grammar.tensors, grammar.n_states[rules], len(rules)
    one = np.ones(n, dtype=np.int32)
    factors = np.repeat(  # core, A, B and C, of one entry, m_a, m_b and m_c
        np.column_stack([one, one, 1 / shapes[:, 1:]]).ravel(), np.column_stack([one, shapes]).ravel()
    )
    return replace(
        grammar,
        rules=np.concatenate([grammar.rules, rules]),
        rule_weights=np.concatenate([grammar.rule_weights, weights]),
        tensors=replace(
            tensors,
            shapes=np.concatenate([tensors.shapes, shapes]),
            forms=np.concatenate([tensors.forms, FACTORED * one]),
            ranks=np.concatenate([tensors.ranks, np.ones_like(shapes)]),
            factors=np.concatenate([tensors.factors, factors.astype(np.float16)]),
            scales=np.concatenate([tensors.scales, weights.astype(np.float32)]),
        ),
        is_proper=False,
    )
