"""The symbols, rules and parameters of an L-PCFG; the base class of `Grammar`, which adds checks and storage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.arrays import offsets, read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_ids
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.parsing.model import check_positive
from spacy_lpcfg.trees.transforms import split_chain


@dataclass(frozen=True, eq=False)
class GrammarParameters:
    """The parameters of an L-PCFG (N, I, P, m, n, pi, t, q) over binarised and collapsed symbols.

    Symbols are collapsed unary chains ("S|VP", "NP|PRP"); symbols that begin with "@" come from binarisation. The first
    `n_preterminals` symbols are the preterminals P (above a word), the rest the interminals I (above two children).
    Numbers of states may differ from symbol to symbol, so that all latent parameters are flat, concatenated arrays. The
    treebank PCFG has the same symbols and rules, without states.

    symbols (tuple[str, ...], (n_symbols,)): Names of the symbols.
    n_preterminals (int): Number of preterminals.
    n_states (int32, (n_symbols,)): Latent states of each symbol (m in the papers).
    symbol_weights (float64, (n_symbols,)): Share of each symbol among the nodes of the treebank.
    root_weights (float64, (n_symbols,)): pi(a) of the treebank PCFG.
    root_vectors (float32, (sum of n_states,)): pi(a, h), or the spectral c(a, h), symbol after symbol.
    rules (int32, (n_rules, 3)): Left-hand side a, left child b, right child c.
    rule_weights (float64, (n_rules,)): t(a -> b c | a) of the treebank PCFG.
    tensors (Tensors): t(a -> b c, h2, h3 | a, h1) or c(a -> b c, j, k | a, i) of every rule, indexed [h1, h2, h3].
    lexicon (Lexicon): The emissions q(x | a) and q(x | a, h).
    root_label (str): Label of the artificial root over every tree ("ROOT", "TOP", or "" for none).
    is_proper (bool): Whether the latent parameters are probabilities, so that log-probabilities are exact: the
        parameters of each state of a symbol sum to 1, within 1e-5 for learned grammars.
    classifier (Classifier): The classifier of words in context, which prunes charts.
    tags_before, tags_after (float64, (n_symbols, n_tags + 1)): P(tag of the word before, after | symbol); the last
        column is for the edge of the sentence.
    tau (float): Exponent that calibrates the probabilities of trees, brackets and tags: parsers raise the weights of a
        `Projection` (a distribution over trees with the chart's marginals) to this power. At 1 they answer from the
        latent grammar itself, without a projection.
    RAISES (ModelError): If tau is not finite and above 0.
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
        """Where each symbol's states begin in `root_vectors`; the last entry is its length, int64 (n_symbols + 1,)."""
        return read_only(offsets(self.n_states))

    def tensor(self, rule: int) -> np.ndarray:
        """Return the parameters of the rule with id `rule`, a read-only view, float32 (m_a, m_b, m_c)."""
        start, end = self.tensors.offsets[rule : rule + 2]
        return self.tensors.dense[start:end].reshape(self.tensors.shapes[rule])

    def root_vector(self, symbol: int) -> np.ndarray:
        """Return the root parameters of the states of the symbol with id `symbol`, a view, float32 (m_a,)."""
        start, end = self.state_offsets[symbol : symbol + 2]
        return self.root_vectors[start:end]

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each symbol's unary chain, top first, a preterminal's tag included; () for "@" symbols."""
        return tuple(
            () if self.is_intermediate(symbol) else tuple(split_chain(name)) for symbol, name in enumerate(self.symbols)
        )

    def is_intermediate(self, symbol: int) -> bool:
        """Return whether the symbol with id `symbol` comes from binarisation, so that it yields no constituent."""
        return symbol >= self.n_preterminals and self.symbols[symbol].startswith("@")

    @cached_property
    def tag_of(self) -> np.ndarray:
        """The tag of each preterminal, as an index into `lexicon.tags`, int32 (n_preterminals,)."""
        return read_only(tag_ids(self.symbols[: self.n_preterminals], self.lexicon.tags))

    @property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags of the lexicon."""
        return self.lexicon.tags
