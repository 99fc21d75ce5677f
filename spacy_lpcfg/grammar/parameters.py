"""The symbols, rules and parameters of an L-PCFG: the base class of `Grammar`, for checks and back-off rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.arrays import offsets, read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.parsing.model import check_positive
from spacy_lpcfg.trees.transforms import split_chain


@dataclass(frozen=True, eq=False)
class GrammarParameters:
    """An L-PCFG (N, I, P, m, n, pi, t, q) over binarised, collapsed symbols, with the treebank PCFG beneath it.

    Symbols are collapsed unary chains ("S|VP", "NP|PRP"); those that begin with "@" come from binarisation.
    The first `n_preterminals` symbols are the preterminals P, the rest the interminals I. Numbers of states may
    differ from symbol to symbol, so that all latent parameters are ragged and flat.

    symbols (tuple[str, ...]): (n_symbols,).
    n_preterminals (int): Number of preterminals.
    n_states (int32, (n_symbols,)): Latent states of each symbol (m in the papers).
    symbol_weights (float64, (n_symbols,)): Share of each symbol among the nodes of the treebank.
    root_weights (float64, (n_symbols,)): pi(a) of the treebank PCFG.
    root_vectors (float32, (sum of n_states,)): pi(a, h), or the spectral c(a, h), symbol after symbol.
    rules (int32, (n_rules, 3)): Left-hand side a, left child b, right child c.
    rule_weights (float64, (n_rules,)): t(a -> b c | a) of the treebank PCFG.
    tensors (Tensors): t(a -> b c, h2, h3 | a, h1) or c(a -> b c, j, k | a, i) of every rule, [h1, h2, h3].
    lexicon (Lexicon): q.
    root_label (str): Label of the artificial root over every tree ("ROOT", "TOP", or "" for none).
    is_proper (bool): Whether the latent parameters are probabilities, so that log-probabilities are exact: those of
        each state of a symbol add up to 1, within 1e-5 for learned grammars.
    classifier (Classifier): The classifier of words in their context, for pruning.
    tags_before, tags_after (float64, (n_symbols, n_tags + 1)): P(tag of the word before, after | symbol); the last
        column is for the sentence's edge.
    tau (float): Power of the weights of the projection that parsers answer from, see `Projection`; 1 for the latent
        grammar's own answers, without a projection. It makes probabilities of trees, brackets and tags calibrated.
    RAISES (ModelError): On a tau that is not finite and above 0.
    """

    symbols: tuple[str, ...]
    n_preterminals: int
    n_states: np.ndarray
    symbol_weights: np.ndarray
    root_weights: np.ndarray
    root_vectors: np.ndarray
    rules: np.ndarray
    rule_weights: np.ndarray
    tensors: Tensors
    lexicon: Lexicon
    root_label: str
    is_proper: bool
    classifier: Classifier
    tags_before: np.ndarray
    tags_after: np.ndarray
    tau: float = 1.0

    def __post_init__(self) -> None:
        check_positive("tau", self.tau)

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def n_rules(self) -> int:
        return len(self.rules)

    @cached_property
    def state_offsets(self) -> np.ndarray:
        """The offset of each symbol's first state in `root_vectors`, int64 (n_symbols + 1,)."""
        return read_only(offsets(self.n_states))

    def tensor(self, rule: int) -> np.ndarray:
        """Return a view of one rule's parameters, float32 (m_a, m_b, m_c)."""
        start, end = self.tensors.offsets[rule : rule + 2]
        return self.tensors.dense[start:end].reshape(self.tensors.shapes[rule])

    def root_vector(self, symbol: int) -> np.ndarray:
        """Return a view of one symbol's root parameters, float32 (m_a,)."""
        start, end = self.state_offsets[symbol : symbol + 2]
        return self.root_vectors[start:end]

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each symbol's unary chain, top first; a preterminal's last one is its tag; () for "@"."""
        return tuple(
            () if self.is_intermediate(symbol) else tuple(split_chain(name)) for symbol, name in enumerate(self.symbols)
        )

    def is_intermediate(self, symbol: int) -> bool:
        """Return whether a symbol comes from binarisation and yields no constituent."""
        return symbol >= self.n_preterminals and self.symbols[symbol].startswith("@")

    @cached_property
    def tag_of(self) -> np.ndarray:
        """The tag of every preterminal as an id of `lexicon.tags`, int32 (n_preterminals,)."""
        index = {tag: i for i, tag in enumerate(self.lexicon.tags)}
        tags = [index[chain[-1]] for chain in self.chains[: self.n_preterminals]]
        return read_only(np.array(tags, dtype=np.int32))

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags."""
        return self.lexicon.tags
