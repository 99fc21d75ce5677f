"""The frozen L-PCFG at which all learners and decoders meet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from spacy_lpcfg.grammar.lexicon import UNKNOWN, Lexicon, tag_terminal
from spacy_lpcfg.grammar.storage import StorageError, pack, unpack, write_atomically
from spacy_lpcfg.grammar.tensors import Tensors, offsets
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
    tensors (Tensors): t(a -> b c, h2, h3 | a, h1) or c(a -> b c, j, k | a, i) of every rule, [h1, h2, h3].
    lexicon (Lexicon): q.
    root_label (str): label over every tree of the treebank ("ROOT", "TOP", or "" for none).
    is_proper (bool): whether the latent parameters are probabilities, so that log-probabilities are exact.
    tag_bigrams (float64, (n_tags + 1, n_tags + 1)): P(next tag | tag) in the treebank; the last tag is the
        sentence's edge.
    begins, ends (float64, (n_tags + 1, n_tags + 1)): probability that a span of several words begins, and that a
        constituent of several words ends, between two words of the given tags.
    tags_before, tags_after (float64, (n_symbols, n_tags + 1)): P(tag of the word before, after | symbol).
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
    tag_bigrams: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    tags_before: np.ndarray
    tags_after: np.ndarray

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

    def tensor(self, rule: int) -> np.ndarray:
        """View of one rule's parameters, float32 (m_a, m_b, m_c)."""
        start, end = self.tensors.offsets[rule : rule + 2]
        return self.tensors.dense[start:end].reshape(self.tensors.shapes[rule])

    def root_vector(self, symbol: int) -> np.ndarray:
        """View of one symbol's root parameters, float32 (m_a,)."""
        start, end = self.state_offsets[symbol : symbol + 2]
        return self.root_vectors[start:end]

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """Labels from the top of each symbol's collapsed chain; of a preterminal the last is the tag; () for "@"."""
        return tuple(
            () if self.is_intermediate(symbol) else tuple(split_chain(name)) for symbol, name in enumerate(self.symbols)
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

    def to_bytes(self) -> bytes:
        """The grammar as msgpack with a checksum."""
        own = {name: getattr(self, name) for name in _OWN}
        tensors = {f"tensors.{name}": getattr(self.tensors, name) for name in _TENSORS}
        lexicon = {f"lexicon.{name}": getattr(self.lexicon, name) for name in _LEXICON}
        return pack(_KIND, _VERSION, {**own, **tensors, **lexicon})

    @classmethod
    def from_bytes(cls, data: bytes) -> Grammar:
        """The grammar that `to_bytes` wrote.

        RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            values = unpack(_KIND, _VERSION, data)
            for name, value in values.items():
                _require(name, _has_type(name, value))
            grammar = cls(
                **{name: values[name] for name in _OWN},
                tensors=Tensors(**{name: values[f"tensors.{name}"] for name in _TENSORS}),
                lexicon=Lexicon(**{name: values[f"lexicon.{name}"] for name in _LEXICON}),
            )
        except StorageError as error:
            raise GrammarError(str(error)) from error
        except KeyError as error:
            raise GrammarError(f"This grammar lacks {error}: copy or learn it again.") from error
        check(grammar)
        return grammar

    def to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write the grammar to a file; the old file stays whole until the new one is."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def from_disk(cls, path: str | os.PathLike[str]) -> Grammar:
        """Read the grammar from a file; errors as of `from_bytes`."""
        return cls.from_bytes(Path(path).read_bytes())


_KIND, _VERSION = "grammar", 1
_OWN = (
    "symbols",
    "n_preterminals",
    "n_states",
    "symbol_weights",
    "root_weights",
    "root_vectors",
    "rules",
    "rule_weights",
    "root_label",
    "is_proper",
    "tag_bigrams",
    "begins",
    "ends",
    "tags_before",
    "tags_after",
)
_TENSORS = ("shapes", "ranks", "exact", "factors", "scales")
_LEXICON = ("terminals", "tags", "offsets", "symbols", "weights", "vector_offsets", "vectors")


_TEXTS = ("symbols", "lexicon.terminals", "lexicon.tags")
_VALUES = {"n_preterminals": int, "root_label": str, "is_proper": bool}


def _has_type(name: str, value: object) -> bool:
    if name in _TEXTS:
        return isinstance(value, tuple) and all(isinstance(text, str) for text in value)
    if name in _VALUES:
        return type(value) is _VALUES[name]
    return isinstance(value, np.ndarray) and value.ndim > 0


def check(grammar: Grammar) -> None:
    """Check that the parts of a grammar fit together, so that the kernels may trust it.

    RAISES (GrammarError): Naming the part that does not fit.
    """
    tensors, lexicon, n_symbols = grammar.tensors, grammar.lexicon, grammar.n_symbols
    n_rows = len(lexicon.symbols)
    _require("symbols", n_symbols > 0 and 0 < grammar.n_preterminals <= n_symbols)
    _require("n_states", _is(grammar.n_states, "int32", n_symbols) and grammar.n_states.min() > 0)
    for name in ("symbol_weights", "root_weights"):
        _require(name, _is_weights(getattr(grammar, name), n_symbols))
    _require("root_vectors", _is(grammar.root_vectors, "float32", int(grammar.n_states.sum())))
    _require(
        "rules",
        _is(grammar.rules, "int32", grammar.n_rules, 3) and _within(grammar.rules, n_symbols),
    )
    _require("rule_weights", _is_weights(grammar.rule_weights, grammar.n_rules))
    _require("tensors.shapes", _is(tensors.shapes, "int32", grammar.n_rules, 3))
    _require("tensors.shapes", np.array_equal(tensors.shapes, grammar.n_states[grammar.rules]))
    _require("tensors.ranks", _is(tensors.ranks, "int32", grammar.n_rules, 3))
    ranks, is_exact = tensors.ranks.astype(np.int64), tensors.is_exact
    is_rank = np.where(is_exact[:, None], ranks == 0, (ranks > 0) & (ranks <= tensors.shapes))
    _require("tensors.ranks", bool(is_rank.all()))
    sizes = tensors.shapes.astype(np.int64).prod(axis=1)
    _require("tensors.exact", _is(tensors.exact, "float32", int(sizes[is_exact].sum())))
    packed = ranks.prod(axis=1).sum() + (tensors.shapes * ranks).sum()
    _require("tensors.factors", _is(tensors.factors, "float16", int(packed)))
    _require("tensors.scales", _is(tensors.scales, "float32", grammar.n_rules))
    _require(
        "lexicon.symbols",
        _is(lexicon.symbols, "int32", n_rows) and _within(lexicon.symbols, grammar.n_preterminals),
    )
    _require("lexicon.weights", _is_weights(lexicon.weights, n_rows))
    rows = lexicon.offsets
    _require(
        "lexicon.offsets",
        _is(rows, "int32", len(lexicon.terminals) + 1) and rows[0] == 0 and rows[-1] == n_rows,
    )
    _require("lexicon.offsets", bool(np.all(np.diff(rows) > 0)))
    _require("lexicon.vector_offsets", _is(lexicon.vector_offsets, "int64", n_rows + 1))
    _require(
        "lexicon.vector_offsets",
        np.array_equal(lexicon.vector_offsets, offsets(grammar.n_states[lexicon.symbols])),
    )
    _require("lexicon.vectors", _is(lexicon.vectors, "float32", int(lexicon.vector_offsets[-1])))
    _require("lexicon.terminals", {UNKNOWN, *map(tag_terminal, lexicon.tags)} <= set(lexicon.terminals))
    n_tags = len(lexicon.tags) + 1
    for name in ("tag_bigrams", "begins", "ends"):
        _require(name, _is_weights(getattr(grammar, name), n_tags, n_tags))
    for name in ("tags_before", "tags_after"):
        _require(name, _is_weights(getattr(grammar, name), n_symbols, n_tags))
    _require(
        "tags",
        {chain[-1] for chain in grammar.chains[: grammar.n_preterminals]} <= set(lexicon.tags),
    )


def _require(part: str, holds: bool) -> None:
    if not holds:
        raise GrammarError(f"This grammar is inconsistent in its {part}: copy or learn it again.")


def _is(array: np.ndarray, dtype: str, *shape: int) -> bool:
    return array.dtype == dtype and array.shape == shape and bool(np.all(np.isfinite(array)))


def _is_weights(array: np.ndarray, *shape: int) -> bool:
    return _is(array, "float64", *shape) and bool(np.all(array >= 0))


def _within(ids: np.ndarray, n: int) -> bool:
    return ids.size == 0 or (ids.min() >= 0 and ids.max() < n)
