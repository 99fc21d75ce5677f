"""Sampling of trees from a grammar."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from spacy_lpcfg.checks import COUNT, SEED
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize
from spacy_lpcfg.trees.tree import Tree

MAX_TRIES = 1_000

Outcome = TypeVar("Outcome")


class State(NamedTuple):
    """A symbol with one of its latent states, both as ids."""

    symbol: int
    state: int


def sample_trees(grammar: Grammar, *, seed: int = 0, max_words: int = 200) -> Iterator[Tree]:
    """Draw trees from a proper grammar, endlessly: take n of them with `itertools.islice`.

    grammar (Grammar): A proper grammar.
    seed (int): Seed; equal seeds give equal trees.
    max_words (int): Trees of more words are rejected and drawn again.
    YIELDS (Tree): n-ary trees with expanded unary chains, without the root label. Unknown words are drawn as their
        signature, such as "<form Cap s>".
    RAISES (ValueError): If the grammar is not proper, or an argument is out of range; and while trees are drawn, if
        `MAX_TRIES` trees in a row are longer than `max_words`.
    """
    SEED(seed=seed)
    COUNT(max_words=max_words)
    if not grammar.is_proper:
        raise ValueError(
            "Expected a proper grammar, such as TreebankPCFG learns, got one whose parameters are no probabilities "
            "(they may be negative): trees cannot be drawn from it."
        )
    return _trees(_Tables(grammar), np.random.default_rng(seed), max_words)


def _trees(tables: _Tables, rng: np.random.Generator, max_words: int) -> Iterator[Tree]:
    while True:
        tries = (_derive(tables, rng, max_words) for _ in range(MAX_TRIES))
        nodes = next((nodes for nodes in tries if nodes is not None), None)
        if nodes is None:
            raise ValueError(
                f"Expected a grammar with trees of at most {max_words} words, but {MAX_TRIES} drawn trees in turn "
                "were longer. Give a larger max_words; if that does not help, the grammar's trees never end."
            )
        yield expand_unaries(unbinarize(_binary_tree(nodes)))


def _derive(tables: _Tables, rng: np.random.Generator, max_words: int) -> list[tuple[str, str | None]] | None:
    """Draw a derivation as (symbol, word) in pre-order, word None for inner nodes; None if it exceeds `max_words`."""
    nodes: list[tuple[str, str | None]] = []
    stack = [tables.roots.draw(rng)]
    n_words, is_first = 1, True
    while stack:
        top = stack.pop()
        if top.symbol < tables.n_preterminals:
            nodes.append((tables.symbols[top.symbol], tables.word(top, is_first, rng)))
            is_first = False
            continue
        nodes.append((tables.symbols[top.symbol], None))
        left, right = tables.children(top, rng)
        stack += [right, left]
        n_words += 1
        if n_words > max_words:
            return None
    return nodes


def _binary_tree(nodes: list[tuple[str, str | None]]) -> Tree:
    done: list[Tree] = []
    for name, word in reversed(nodes):
        done.append(Tree(name, (done.pop(), done.pop())) if word is None else Tree(name, word=word))
    return done[0]


class _Choice(Generic[Outcome]):
    """Categorical distribution over outcomes with unnormalized weights."""

    def __init__(self, outcomes: Sequence[Outcome], weights: np.ndarray) -> None:
        self.outcomes = outcomes
        self.cumulative = list(accumulate(weights.tolist()))

    def draw(self, rng: np.random.Generator) -> Outcome:
        point = rng.random() * self.cumulative[-1]
        return self.outcomes[bisect(self.cumulative, point, hi=len(self.outcomes) - 1)]


class _Tables:
    """The parameters of a grammar as categorical distributions.

    roots (choice of State): Symbols and states of the roots of trees.
    rules (dict[State, choice of int]): Indices of the rules of each interminal (symbol over two children) in each
        state.
    terminals (dict[State, choice of int]): Ids of the terminals of each preterminal in each state.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.symbols = grammar.symbols
        self.n_preterminals = grammar.n_preterminals
        states = [State(symbol, h) for symbol, m in enumerate(grammar.n_states.tolist()) for h in range(m)]
        self.roots = _Choice(states, grammar.root_vectors.astype(np.float64))
        self.rules: dict[State, _Choice[int]] = {}
        self.terminals: dict[State, _Choice[int]] = {}
        self.names: dict[tuple[int, int, bool], _Choice[str]] = {}
        for symbol in range(grammar.n_symbols):
            add = self._add_terminals if symbol < grammar.n_preterminals else self._add_rules
            add(symbol)

    def children(self, parent: State, rng: np.random.Generator) -> tuple[State, State]:
        """Draw a rule for a parent, and return the symbols and states of its two children."""
        rule = self.rules[parent].draw(rng)
        _, left, right = self.grammar.rules[rule].tolist()
        pairs = self.grammar.tensor(rule)[parent.state]
        cumulative = pairs.ravel().cumsum(dtype=np.float64)
        pair = int(cumulative[:-1].searchsorted(rng.random() * cumulative[-1], side="right"))
        return State(left, pair // pairs.shape[1]), State(right, pair % pairs.shape[1])

    def word(self, preterminal: State, is_first: bool, rng: np.random.Generator) -> str:
        """Draw a terminal of a preterminal, and return a word or signature that the terminal stands for."""
        key = self.terminals[preterminal].draw(rng), int(self.grammar.tag_of[preterminal.symbol]), is_first
        if key not in self.names:
            names, factors = self.grammar.lexicon.names_of(key[0], is_first)
            self.names[key] = _Choice(names, factors[:, key[1]])
        return self.names[key].draw(rng)

    def _add_rules(self, symbol: int) -> None:
        rules = np.flatnonzero(self.grammar.rules[:, 0] == symbol).tolist()
        weights = np.array([self.grammar.tensor(rule).sum(axis=(1, 2), dtype=np.float64) for rule in rules])
        for h in range(self.grammar.n_states[symbol]):
            self.rules[State(symbol, h)] = _Choice(rules, weights[:, h])

    def _add_terminals(self, symbol: int) -> None:
        """Add the emissions of a preterminal, without terminals that stand for any word under a given tag."""
        lexicon = self.grammar.lexicon
        terminals = lexicon.row_terminals
        rows = np.flatnonzero((lexicon.symbols == symbol) & ~np.isin(terminals, lexicon.tag_terminals))
        per_row = lexicon.words_per_row(self.grammar.tag_of)[rows]
        for h in range(self.grammar.n_states[symbol]):
            weights = per_row * lexicon.vectors[lexicon.vector_offsets[rows] + h]
            self.terminals[State(symbol, h)] = _Choice(terminals[rows].tolist(), weights)
