"""The frozen L-PCFG at which all learners and decoders meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.trees.transforms import split_chain


class GrammarError(ValueError):
    """A grammar that is damaged, foreign or inconsistent."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """An L-PCFG (N, I, P, m, n, pi, t, q) over binarised, collapsed symbols, with the treebank PCFG beneath it.

    Symbols are collapsed unary chains ("S|VP", "NP|PRP"); those that begin with "@" come from binarisation.
    The first `n_preterminals` symbols are the preterminals P, the rest the interminals I. Numbers of states may
    differ from symbol to symbol, so that all latent parameters are ragged and flat.

    symbols (tuple[str, ...]): (n_symbols,).
    n_preterminals (int): how many of them are preterminals.
    n_states (int32, (n_symbols,)): latent states of each symbol (m in the papers).
    symbol_weights (float64, (n_symbols,)): share of each symbol among the nodes of the treebank.
    root_weights (float64, (n_symbols,)): pi(a) of the treebank PCFG.
    root_vectors (float32, (sum of n_states,)): pi(a, h), or the spectral c(a, h), symbol after symbol.
    rules (int32, (n_rules, 3)): left-hand side a, left child b, right child c.
    rule_weights (float64, (n_rules,)): t(a -> b c | a) of the treebank PCFG.
    tensors (float32, (sum of m_a * m_b * m_c,)): t(a -> b c, h2, h3 | a, h1) or c(a -> b c, j, k | a, i), rule
        after rule, each in C order [h1, h2, h3].
    lexicon (Lexicon): q.
    root_label (str): label over every tree of the treebank ("ROOT", "TOP", or "" for none).
    is_proper (bool): whether the latent parameters are probabilities, so that log-probabilities are exact.
    escapes (bool): whether its words carry treebank escapes (-LRB-, `` and '').
    """

    symbols: tuple[str, ...]
    n_preterminals: int
    n_states: np.ndarray
    symbol_weights: np.ndarray
    root_weights: np.ndarray
    root_vectors: np.ndarray
    rules: np.ndarray
    rule_weights: np.ndarray
    tensors: np.ndarray
    lexicon: Lexicon
    root_label: str
    is_proper: bool
    escapes: bool

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def n_rules(self) -> int:
        return len(self.rules)

    @cached_property
    def state_offsets(self) -> np.ndarray:
        """Where each symbol's states begin in `root_vectors`, int64 (n_symbols + 1,)."""
        return offsets(self.n_states)

    @cached_property
    def tensor_offsets(self) -> np.ndarray:
        """Where each rule's tensor begins in `tensors`, int64 (n_rules + 1,)."""
        return offsets(self.n_states[self.rules].astype(np.int64).prod(axis=1))

    def tensor(self, rule: int) -> np.ndarray:
        """View of one rule's parameters, float32 (m_a, m_b, m_c)."""
        start, end = self.tensor_offsets[rule : rule + 2]
        return self.tensors[start:end].reshape(self.n_states[self.rules[rule]])

    def root_vector(self, symbol: int) -> np.ndarray:
        """View of one symbol's root parameters, float32 (m_a,)."""
        start, end = self.state_offsets[symbol : symbol + 2]
        return self.root_vectors[start:end]

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """Labels from the top of each symbol's collapsed chain; of a preterminal the last is the tag; () for "@"."""
        return tuple(
            () if self.is_intermediate(symbol) else tuple(split_chain(name))
            for symbol, name in enumerate(self.symbols)
        )

    def is_intermediate(self, symbol: int) -> bool:
        """Whether a symbol comes from binarisation and yields no constituent."""
        return symbol >= self.n_preterminals and self.symbols[symbol].startswith("@")

    @cached_property
    def tag_of(self) -> np.ndarray:
        """The tag of every preterminal as an id of `lexicon.tags`, int32 (n_preterminals,)."""
        index = {tag: i for i, tag in enumerate(self.lexicon.tags)}
        return np.array([index[chain[-1]] for chain in self.chains[: self.n_preterminals]], dtype=np.int32)

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags."""
        return self.lexicon.tags

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents, sorted."""
        chains = [chain[:-1] for chain in self.chains[: self.n_preterminals]]
        chains += self.chains[self.n_preterminals :]
        return tuple(sorted({label for chain in chains for label in chain}))


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Starts of consecutive blocks of the given sizes, and the end of the last, int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
