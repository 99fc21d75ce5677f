"""Back-off rules: additional rules for sentences that have no parse under the rules of the treebank.

Horizontal back-off allows any two children that were seen below a label to be siblings, as in a Markov grammar of order
0 (Klein and Manning 2003, "Accurate unlexicalized parsing", section 2). Below the most frequent root, glue rules join
any constituents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar.parameters import GrammarParameters
from spacy_lpcfg.grammar.tensors import FACTORED
from spacy_lpcfg.trees.transforms import NEW_NODE

AnyGrammar = TypeVar("AnyGrammar", bound=GrammarParameters)

MASS = 1e-3  # total weight of a symbol's new rules; its old rules have weight 1
GLUE = 1e-4  # share of MASS for glue rules
SHARE = 1e-4  # minimum product of the shares of two children


def with_backoff(grammar: AnyGrammar) -> AnyGrammar:
    """Return a copy of a grammar with back-off rules; it is not proper, as the weights of a symbol sum to more than 1.

    Let u(c) be the share of c among the constituents below a label X and its binarisation symbols @X. The new rules are

    - X -> @X c and @X -> @X c, with weight `MASS` u(c);
    - X -> b c and @X -> b c, with weight `MASS` u(b) u(c), if u(b) u(c) is at least `SHARE`.

    If X is the most frequent root, any constituent c may follow @X: there u(c) is at least `GLUE` times the share of c
    among all nodes. The latent states in a new rule are independent and uniformly distributed.

    grammar (GrammarParameters): The grammar, which is not changed.
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
    """Estimate the memory, in bytes, that the rules of `with_backoff` take in a parser, rather too high than low."""
    n_rules = n_entries = 0.0
    for family, pairs in _families(grammar):
        n, n_states = pairs.sizes(grammar.n_states)
        n_rules += n * len(family)
        n_entries += len(family) * (n + n_states) + n * float(grammar.n_states[family].sum(dtype=np.int64))
    return _RULE * n_rules + _ENTRY * n_entries


_RULE, _ENTRY = 400, 64  # bytes of a rule and of an entry of its factors, in construction and in the kernels


class _Pairs(NamedTuple):
    """Pairs of children that may be siblings below a label.

    left, right (int64, (n,)): Left and right child of each pair of constituents.
    shares (float64, (n,)): Weight u(b) u(c) of each pair of constituents.
    opens (int64, (n_open,)): Binarisation symbols of the label; each pairs with every symbol in `others`.
    others (int64, (n_others,)): Symbols that may follow a binarisation symbol as the right child.
    other_shares (float64, (n_others,)): Weight u(c) of each symbol in `others`.
    """

    left: np.ndarray
    right: np.ndarray
    shares: np.ndarray
    opens: np.ndarray
    others: np.ndarray
    other_shares: np.ndarray

    def listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left children, right children and weights of all pairs, each (n_pairs,), sorted by the children."""
        n_open, n_others = len(self.opens), len(self.others)
        left = np.concatenate([self.left, np.repeat(self.opens, n_others)])
        right = np.concatenate([self.right, np.tile(self.others, n_open)])
        order = np.lexsort((right, left))
        return left[order], right[order], np.concatenate([self.shares, np.tile(self.other_shares, n_open)])[order]

    def sizes(self, n_states: np.ndarray) -> tuple[float, float]:
        """Return the number of pairs, and the number of states summed over both children of all pairs.

        n_states (int32, (n_symbols,)): States of each symbol.
        """
        likely, opens, others = (
            float(n_states[ids].sum(dtype=np.int64))
            for ids in (np.append(self.left, self.right), self.opens, self.others)
        )
        n_open, n_others = len(self.opens), len(self.others)
        return len(self.left) + float(n_open) * n_others, likely + n_others * opens + n_open * others


def _families(grammar: GrammarParameters) -> Iterator[tuple[np.ndarray, _Pairs]]:
    """Yield each family (a label and its binarisation symbols) with the pairs of children that are allowed below it."""
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
    """Return the allowed pairs of children below the symbols of a family; their weights lack the factor `MASS`.

    family (int64, (n,)): A label and its binarisation symbols.
    below (int64, (n,)): Ids of the rules whose left-hand side is in the family.
    is_open (bool, (n_symbols,)): Whether each symbol is a binarisation symbol.
    glue (float): Minimum of u(c) after @X, relative to the share of c among all nodes.
    """
    counts = grammar.symbol_weights[grammar.rules[below, 0]] * grammar.rule_weights[below]
    children = np.bincount(grammar.rules[below, 1:].ravel(), np.repeat(counts, 2), grammar.n_symbols)
    children[is_open] = 0
    shares = children / (children.sum() or 1.0)
    likely = np.flatnonzero(shares * shares.max() >= SHARE)  # some thousands at most, as shares sum to 1
    products = np.outer(shares[likely], shares[likely])
    left, right = np.nonzero(products >= SHARE)
    after_open = np.maximum(shares, np.where(is_open, 0, glue * grammar.symbol_weights))
    others = np.flatnonzero(after_open)
    return _Pairs(
        likely[left], likely[right], products[left, right], family[is_open[family]], others, after_open[others]
    )


def _with_rules(grammar: AnyGrammar, rules: np.ndarray, weights: np.ndarray) -> AnyGrammar:
    """Return a copy of a grammar with additional rules, whose latent states are independent and uniform.

    rules (int32, (n, 3)): Left-hand side, left child and right child of each rule.
    weights (float64, (n,)): Weight of each rule.
    """
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
