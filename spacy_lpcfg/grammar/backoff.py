"""The rules that a treebank lacks, for sentences that its grammar has no tree for.

Horizontal back-off: below a label any child may stand beside any other that was seen below it, as in a Markov grammar
of order 0 (Klein and Manning 2003, "Accurate unlexicalized parsing", section 2). Below the commonest root any
constituent may stand beside others: such rules glue parts together that nothing else joins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from spacy_lpcfg.grammar.parameters import GrammarParameters
from spacy_lpcfg.grammar.tensors import FACTORED, offsets
from spacy_lpcfg.trees.transforms import NEW_NODE

AnyGrammar = TypeVar("AnyGrammar", bound=GrammarParameters)

MASS = 1e-3  # weight of a symbol's new rules, beside 1 of those that it has
GLUE = 1e-4  # of that, the weight of glue rules
SHARE = 1e-4  # least product of the shares of two first children


def with_backoff(grammar: AnyGrammar) -> AnyGrammar:
    """The grammar with rules that it lacks; not a proper one, as the weights of a symbol's rules exceed 1.

    Let u(c) be the share of c among the children of a label X, those of @X from binarisation included. A rule
    X -> @X c or @X -> @X c weighs `MASS` u(c), and X -> b c or @X -> b c weighs `MASS` u(b) u(c) if u(b) u(c) is at
    least `SHARE`. Where X is the commonest root any c may follow @X: then u(c) is there at least `GLUE` times the share
    of c among all nodes. The states of the symbols of a new rule are independent, and equally likely.
    """
    keys = grammar.rules[:, 1].astype(np.int64) * grammar.n_symbols + grammar.rules[:, 2]
    by_parent = np.argsort(grammar.rules[:, 0], kind="stable")
    starts = offsets(np.bincount(grammar.rules[:, 0], minlength=grammar.n_symbols))
    rules, weights = [np.empty((0, 3), dtype=np.int32)], [np.empty(0)]
    for family, pairs in _families(grammar):
        left, right, shares = pairs.listed()
        for parent in family:
            known = keys[by_parent[slice(*starts[parent : parent + 2])]]
            is_missing = ~np.isin(left * grammar.n_symbols + right, known)
            rules.append(np.column_stack([np.full_like(left, parent), left, right])[is_missing])
            weights.append(MASS * shares[is_missing])
    return _with_rules(grammar, np.concatenate(rules).astype(np.int32), np.concatenate(weights))


def backoff_bytes(grammar: GrammarParameters) -> float:
    """About the memory that the rules of `with_backoff` take in a parser, at most; found without making them."""
    n_rules = n_entries = 0.0
    for family, pairs in _families(grammar):
        n, n_states = pairs.sizes(grammar.n_states)
        n_rules += n * len(family)
        n_entries += len(family) * (n + n_states) + n * float(grammar.n_states[family].sum(dtype=np.int64))
    return _RULE * n_rules + _ENTRY * n_entries


_RULE, _ENTRY = 400, 64  # bytes of a rule and of an entry of its factors, as they are made and as the kernels read them


class _Pairs(NamedTuple):
    """Children that may stand beside each other below a label.

    left, right (int64, (n,)), shares (float64, (n,)): pairs of constituents, and their weights.
    opens (int64, (n_open,)): symbols after which any of the others may stand.
    others (int64, (n_others,)), other_shares (float64, (n_others,)): these, and their weights.
    """

    left: np.ndarray
    right: np.ndarray
    shares: np.ndarray
    opens: np.ndarray
    others: np.ndarray
    other_shares: np.ndarray

    def listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All pairs and their weights, in order: left, right, shares."""
        n_open, n_others = len(self.opens), len(self.others)
        left = np.concatenate([self.left, np.repeat(self.opens, n_others)])
        right = np.concatenate([self.right, np.tile(self.others, n_open)])
        order = np.lexsort((right, left))
        return left[order], right[order], np.concatenate([self.shares, np.tile(self.other_shares, n_open)])[order]

    def sizes(self, n_states: np.ndarray) -> tuple[float, float]:
        """How many pairs there are, and how many states their symbols have in all."""
        likely, opens, others = (
            float(n_states[ids].sum(dtype=np.int64))
            for ids in (np.append(self.left, self.right), self.opens, self.others)
        )
        n_open, n_others = len(self.opens), len(self.others)
        return len(self.left) + float(n_open) * n_others, likely + n_others * opens + n_open * others


def _families(grammar: GrammarParameters) -> Iterator[tuple[np.ndarray, _Pairs]]:
    """Each interminal with the symbols of its binarisation, and what may stand below any of them."""
    top = grammar.n_preterminals + np.argmax([*grammar.root_weights[grammar.n_preterminals :], 0])
    is_open = np.array([grammar.is_intermediate(symbol) for symbol in range(grammar.n_symbols)])
    families = defaultdict(list)
    for symbol in range(grammar.n_preterminals, grammar.n_symbols):
        name = grammar.symbols[symbol]
        families[name.removeprefix(NEW_NODE).partition("->")[0] if is_open[symbol] else name].append(symbol)
    number_of = np.full(grammar.n_symbols, -1)
    for number, symbols in enumerate(families.values()):
        number_of[symbols] = number
    numbers = number_of[grammar.rules[:, 0]]
    order, starts = np.argsort(numbers, kind="stable"), offsets(np.bincount(numbers, minlength=len(families)))
    for number, symbols in enumerate(families.values()):
        below = order[slice(*starts[number : number + 2])]
        family = np.array(symbols)
        yield family, _pairs_below(grammar, family, below, is_open, GLUE if top in family else 0.0)


def _pairs_below(
    grammar: GrammarParameters, family: np.ndarray, below: np.ndarray, is_open: np.ndarray, glue: float
) -> _Pairs:
    """Children b and c below the symbols of a family, with weights of which `MASS` is not yet taken.

    below (int64, (n,)): the family's rules; is_open (bool, (n_symbols,)): whether symbols are of binarisation.
    glue (float): least u(c) after @X, as a share of the share of c among all nodes.
    """
    counts = grammar.symbol_weights[grammar.rules[below, 0]] * grammar.rule_weights[below]
    children = np.bincount(grammar.rules[below, 1:].ravel(), np.repeat(counts, 2), grammar.n_symbols)
    children[is_open] = 0
    shares = children / (children.sum() or 1.0)
    likely = np.flatnonzero(shares * shares.max() >= SHARE)  # some thousands at most, as they are shares
    products = np.outer(shares[likely], shares[likely])
    left, right = np.nonzero(products >= SHARE)
    after_open = np.maximum(shares, np.where(is_open, 0, glue * grammar.symbol_weights))
    others = np.flatnonzero(after_open)
    return _Pairs(
        likely[left], likely[right], products[left, right], family[is_open[family]], others, after_open[others]
    )


def _with_rules(grammar: AnyGrammar, rules: np.ndarray, weights: np.ndarray) -> AnyGrammar:
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
