"""The frozen L-PCFG at which all learners and decoders meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar.checking import GrammarError, check, check_temperature, has_type, parser_bytes, require
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.tensors import FACTORED, Tensors, offsets
from spacy_lpcfg.parsing.decodings import OF_ANY_GRAMMAR, OF_PROPER_GRAMMAR, WELL_FORMED, Decoding
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import StorageError, pack, refuse_others, unpack
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.classes import WordClasses


@dataclass(frozen=True, eq=False)
class Grammar(ParsingModel):
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
    is_proper (bool): whether the latent parameters are probabilities, so that log-probabilities are exact: those of
        each state of a symbol add up to 1, within 1e-5 for learned grammars.
    classifier (Classifier): of words in their context, for pruning.
    tags_before, tags_after (float64, (n_symbols, n_tags + 1)): P(tag of the word before, after | symbol); the last tag
        is the sentence's edge.
    temperature (float): what the log-odds of posteriors are to be divided by, so that they are right as often as they
        say; posteriors are those of the grammar, and components that write scores divide.
    local_trees (LocalTrees): those of the treebank, for the decoding "well-formed".
    RAISES (GrammarError): On a temperature that is not finite and above 0.
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
    temperature: float = 1.0
    local_trees: LocalTrees = NO_LOCAL_TREES

    parser_class = "spacy_lpcfg.chart.parser:Parser"

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    @property
    def has_tree_probabilities(self) -> bool:
        """Whether it is proper, and its tensors are those that charts sum exactly."""
        return self.is_proper and not bool((self.tensors.forms == FACTORED).any())

    @property
    def words(self) -> frozenset[str]:
        """All names under which it knows words."""
        return self.lexicon.words

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """All that need one grammar; the most probable tree needs a proper one."""
        decodings = OF_PROPER_GRAMMAR if self.has_tree_probabilities else OF_ANY_GRAMMAR
        return (*decodings, WELL_FORMED) if self.local_trees else decodings

    @property
    def parser_bytes(self) -> float:
        """About the memory that a parser by it takes, sentences aside."""
        return parser_bytes(self)

    def models_of_trees(self) -> tuple[Grammar, ...]:
        """The grammar itself, if it is proper."""
        return (self,) if self.is_proper else ()

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def n_rules(self) -> int:
        return len(self.rules)

    @cached_property
    def state_offsets(self) -> np.ndarray:
        """Where each symbol's states begin in `root_vectors`, int64 (n_symbols + 1,)."""
        return read_only(offsets(self.n_states))

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
        tags = [index[chain[-1]] for chain in self.chains[: self.n_preterminals]]
        return read_only(np.array(tags, dtype=np.int32))

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags."""
        return self.lexicon.tags

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents, sorted."""
        return tuple(sorted({label for chain in self.label_chains for label in chain}))

    @cached_property
    def label_chains(self) -> frozenset[tuple[str, ...]]:
        """The labels that its treebank has over the same words, outermost first."""
        of_words = (chain[:-1] for chain in self.chains[: self.n_preterminals])
        return frozenset((*of_words, *self.chains[self.n_preterminals :])) - {()}

    @property
    def summary(self) -> str:
        """Numbers of categories, tags, rules and states."""
        return (
            f"{len(self.labels)} categories, {len(self.tags)} tags, {self.n_rules} binary rules, at most "
            f"{self.n_states.max()} states"
        )

    def to_values(self) -> dict[str, Any]:
        """All parts by the names under which they are stored."""
        own = {name: getattr(self, name) for name in _OWN} | {"temperature": float(self.temperature)}
        tensors = {f"tensors.{name}": getattr(self.tensors, name) for name in _TENSORS}
        lexicon = {f"lexicon.{name}": getattr(self.lexicon, name) for name in _LEXICON}
        classifier = {f"classifier.{name}": getattr(self.classifier, name) for name in _CLASSIFIER}
        classes = {f"classes.{name}": getattr(self.lexicon.classes, name) for name in _CLASSES}
        local_trees = {f"local_trees.{name}": getattr(self.local_trees, name) for name in _LOCAL_TREES}
        return {**own, **tensors, **lexicon, **classifier, **classes, **local_trees}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Grammar:
        """The grammar of the parts that `to_values` gave.

        RAISES (GrammarError): If parts are lacking or unknown, or do not fit together.
        """
        values = {"temperature": 1.0, **values}
        if not _WITHOUT_CLASSES.keys() & values.keys():
            values = {**_WITHOUT_CLASSES, **values}
        if not _WITHOUT_LOCAL_TREES.keys() & values.keys():
            values = {**_WITHOUT_LOCAL_TREES, **values}
        values.setdefault("local_trees.auxiliaries", ())  # older files have none
        try:
            refuse_others(values, GRAMMAR_PARTS)
            for name in GRAMMAR_PARTS:
                require(name, has_type(name, values[name]))
            grammar = cls(
                **{name: values[name] for name in _OWN},
                tensors=Tensors(**{name: values[f"tensors.{name}"] for name in _TENSORS}),
                lexicon=Lexicon(
                    **{name: values[f"lexicon.{name}"] for name in _LEXICON},
                    classes=WordClasses(**{name: values[f"classes.{name}"] for name in _CLASSES}),
                ),
                classifier=Classifier(**{name: values[f"classifier.{name}"] for name in _CLASSIFIER}),
                local_trees=LocalTrees(**{name: values[f"local_trees.{name}"] for name in _LOCAL_TREES}),
            )
        except KeyError as error:
            raise GrammarError(f"This grammar lacks {error}: copy or learn it again.") from error
        except StorageError as error:
            raise GrammarError(str(error)) from error
        check(grammar)
        return grammar

    def to_bytes(self) -> bytes:
        """The grammar as msgpack with a checksum."""
        return pack(_KIND, _VERSION, self.to_values())

    @classmethod
    def from_bytes(cls, data: bytes) -> Grammar:
        """The grammar that `to_bytes` wrote.

        RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            return cls.from_values(unpack(_KIND, _VERSION, data))
        except StorageError as error:
            raise GrammarError(str(error)) from error


_KIND, _VERSION = "grammar", 4
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
    "tags_before",
    "tags_after",
    "temperature",
)
_TENSORS = ("shapes", "forms", "ranks", "exact", "factors", "scales", "kept", "entries", "rests")
_LEXICON = (
    "terminals",
    "tags",
    "offsets",
    "symbols",
    "weights",
    "vector_offsets",
    "vectors",
    "rare_words",
    "rare_terminals",
    "rare_offsets",
    "rare_tags",
    "rare_factors",
    "class_shares",
)
_CLASSIFIER = ("features", "offsets", "outputs", "weights")
_CLASSES = ("words", "classes")
_LOCAL_TREES = ("symbols", "offsets", "rules", "counts", "punctuation", "auxiliaries")
_WITHOUT_CLASSES: dict[str, Any] = {
    "lexicon.class_shares": np.zeros((0, 0), dtype=np.float32),
    "classes.words": (),
    "classes.classes": np.zeros(0, dtype=np.int32),
}
_WITHOUT_LOCAL_TREES = {f"local_trees.{name}": getattr(NO_LOCAL_TREES, name) for name in _LOCAL_TREES}
GRAMMAR_PARTS = (
    *_OWN,
    *(f"tensors.{name}" for name in _TENSORS),
    *(f"lexicon.{name}" for name in _LEXICON),
    *(f"classifier.{name}" for name in _CLASSIFIER),
    *(f"classes.{name}" for name in _CLASSES),
    *(f"local_trees.{name}" for name in _LOCAL_TREES),
)
