"""Consistency checks of grammars that were read from files; the kernels do not check array bounds."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar.backoff import backoff_bytes
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.layout import sizes as layout_sizes
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_terminal
from spacy_lpcfg.grammar.parameters import GrammarParameters
from spacy_lpcfg.grammar.tensors import EXACT, FACTORED, SPARSE, Tensors, factor_sizes
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.reader import StorageError, check_room
from spacy_lpcfg.storage.validation import (
    Consistency,
    are_offsets,
    are_texts,
    are_within,
    is_array,
    is_moderate,
    is_positive,
)
from spacy_lpcfg.words.signatures import UNKNOWN

_TEXTS = ("lexicon.tags",)
_NOT_DISTINCT = ("symbols", "lexicon.terminals", "lexicon.rare_words")  # words may be spelled as signatures are named
_MOST_STATES = 2**12  # of a symbol, so that sizes of tensors and offsets in them fit an integer
_PAIR = 8  # bytes of a parser's tables for each pair of symbols, and of terminals and tags
_BLOCK = 64  # bytes of a parser, at most, for each stored entry of a sparse tensor
require = Consistency("grammar", ModelError).require
_VALUES = {"n_preterminals": int, "root_label": str, "is_proper": bool}


def parser_bytes(grammar: GrammarParameters) -> float:
    """Estimate the memory, in bytes, of a parser's tables, tensors and back-off rules, before it parses a sentence."""
    tables = 2 * _PAIR * grammar.n_symbols**2 + _PAIR * len(grammar.lexicon.terminals) * len(grammar.tags)
    return tables + tensor_bytes(grammar.tensors) + backoff_bytes(grammar)


def tensor_bytes(tensors: Tensors) -> float:
    """Estimate the memory, in bytes, that the tensors of all rules take in a parser."""
    bitmap = tensors.sizes[tensors.forms == SPARSE].sum(dtype=float)
    return 4 * layout_sizes(tensors).sum(dtype=float) + bitmap + _BLOCK * len(tensors.entries)


def _check_room(n_bytes: float) -> None:
    """Raise ModelError if a parser of `n_bytes` bytes exceeds the memory limit."""
    try:
        check_room(n_bytes, what="A parser by it")
    except StorageError as error:
        raise ModelError(f"This grammar is too large. {error}") from error


def has_type(name: str, value: object) -> bool:
    """Return whether a stored value has the Python type of the field `name`; values are checked by `check`."""
    if name in _NOT_DISTINCT:
        return isinstance(value, tuple) and all(type(text) is str for text in value)
    if name in _TEXTS:
        return are_texts(value)
    if name == "tau":
        return is_positive(value)
    if name in _VALUES:
        return type(value) is _VALUES[name]
    return isinstance(value, np.ndarray) and value.ndim > 0


def check(grammar: GrammarParameters) -> None:
    """Check that the fields of a grammar are consistent, and that its parser fits the memory limit.

    RAISES (ModelError): If a field is inconsistent (the message names it), or the parser is too large.
    """
    _check_symbols(grammar)
    _check_rules(grammar)
    _check_tensors(grammar.tensors, grammar.n_states[grammar.rules], grammar.is_proper)
    _check_lexicon(grammar.lexicon, grammar.n_preterminals, grammar.n_states)
    _check_rare_words(grammar.lexicon)
    _check_classifier(grammar.classifier, grammar.n_preterminals + 2)
    _check_tags(grammar)
    if grammar.is_proper:
        for vectors in (grammar.root_vectors, grammar.lexicon.vectors):
            require("probabilities", bool(np.all(vectors >= 0)))
    _check_room(parser_bytes(grammar))


def _check_symbols(grammar: GrammarParameters) -> None:
    n_symbols = grammar.n_symbols
    require("symbols", n_symbols > 0 and 0 < grammar.n_preterminals <= n_symbols)
    _check_room(_PAIR * n_symbols**2)
    for names in (grammar.symbols[: grammar.n_preterminals], grammar.symbols[grammar.n_preterminals :]):
        require("symbols", are_texts(names))
    require("n_states", _is(grammar.n_states, "int32", n_symbols) and grammar.n_states.min() > 0)
    require("n_states", grammar.n_states.max() <= _MOST_STATES)
    require("symbol_weights", _is_weights(grammar.symbol_weights, n_symbols))
    require("root_weights", _is_weights(grammar.root_weights, n_symbols))
    is_open = [grammar.is_intermediate(symbol) for symbol in range(n_symbols)]
    require("root_weights", not np.any(grammar.root_weights[is_open]))
    require("root_vectors", _is(grammar.root_vectors, "float32", int(grammar.n_states.sum())))


def _check_rules(grammar: GrammarParameters) -> None:
    rules = grammar.rules
    require("rules", _is(rules, "int32", grammar.n_rules, 3) and are_within(rules, grammar.n_symbols))
    require("rules", bool(np.all(rules[:, 0] >= grammar.n_preterminals)))
    require("rule_weights", _is_weights(grammar.rule_weights, grammar.n_rules))


def _check_tensors(tensors: Tensors, shapes: np.ndarray, is_proper: bool) -> None:
    """Check that tensors are consistent, and have the shapes (int32, (n_rules, 3)) that the symbols' states imply."""
    n_rules = len(shapes)
    require("tensors.shapes", _is(tensors.shapes, "int32", n_rules, 3) and np.array_equal(tensors.shapes, shapes))
    require("tensors.forms", _is(tensors.forms, "int32", n_rules) and are_within(tensors.forms, SPARSE + 1))
    require("tensors.ranks", _is(tensors.ranks, "int32", n_rules, 3))
    ranks, is_factored = tensors.ranks.astype(np.int64), tensors.forms == FACTORED
    is_rank = np.where(is_factored[:, None], (ranks > 0) & (ranks <= shapes), ranks == 0)
    require("tensors.ranks", bool(is_rank.all()))
    _check_room(tensor_bytes(tensors))
    require("tensors.exact", _is(tensors.exact, "float32", int(tensors.sizes[tensors.forms == EXACT].sum())))
    require("tensors.factors", _is(tensors.factors, "float16", int(factor_sizes(shapes, ranks).sum())))
    require("tensors.scales", _is(tensors.scales, "float32", n_rules))
    is_sparse = tensors.forms == SPARSE
    require("tensors.kept", _is(tensors.kept, "uint8", -(-int(tensors.sizes[is_sparse].sum()) // 8)))
    n_kept = int(np.unpackbits(tensors.kept, count=int(tensors.sizes[is_sparse].sum())).sum())
    require("tensors.entries", _is(tensors.entries, "float16", n_kept))
    require("tensors.rests", _is(tensors.rests, "float32", int(shapes[is_sparse].sum(dtype=np.int64))))
    if is_proper:
        for parts in (tensors.exact, tensors.scales, tensors.entries, tensors.rests):
            require("probabilities", bool(np.all(parts >= 0)))


def _check_lexicon(lexicon: Lexicon, n_preterminals: int, n_states: np.ndarray) -> None:
    n_rows, n_terminals = len(lexicon.symbols), len(lexicon.terminals)
    _check_room(_PAIR * n_terminals * len(lexicon.tags))
    require("lexicon.symbols", _is(lexicon.symbols, "int32", n_rows) and are_within(lexicon.symbols, n_preterminals))
    require("lexicon.weights", _is_weights(lexicon.weights, n_rows))
    require("lexicon.offsets", are_offsets(lexicon.offsets, "int32", n_terminals, n_rows, least=1))
    starts = lexicon.vector_offsets
    require("lexicon.vector_offsets", _is(starts, "int64", n_rows + 1))
    require("lexicon.vector_offsets", np.array_equal(starts, offsets(n_states[lexicon.symbols])))
    require("lexicon.vectors", _is(lexicon.vectors, "float32", int(starts[-1])))
    require("lexicon.terminals", {UNKNOWN, *map(tag_terminal, lexicon.tags)} <= set(lexicon.terminals))


def _check_rare_words(lexicon: Lexicon) -> None:
    n, n_entries = len(lexicon.rare_words), len(lexicon.rare_tags)
    require("lexicon.rare_terminals", _is(lexicon.rare_terminals, "int32", n))
    require("lexicon.rare_terminals", are_within(lexicon.rare_terminals, len(lexicon.terminals)))
    require("lexicon.rare_offsets", are_offsets(lexicon.rare_offsets, "int32", n, n_entries))
    require("lexicon.rare_tags", _is(lexicon.rare_tags, "int32", n_entries))
    require("lexicon.rare_tags", are_within(lexicon.rare_tags, len(lexicon.tags)))
    factors = lexicon.rare_factors
    require("lexicon.rare_factors", _is(factors, "float32", n_entries) and bool(np.all(factors > 0)))


def _check_classifier(classifier: Classifier, n_outputs: int) -> None:
    n_features, n_rows = len(classifier.features), len(classifier.outputs)
    features = classifier.features
    require("classifier.features", _is(features, "int32", n_features) and bool(np.all(features >= 0)))
    require("classifier.features", bool(np.all(features[1:] > features[:-1])))
    require("classifier.offsets", are_offsets(classifier.offsets, "int32", n_features, n_rows))
    require("classifier.outputs", _is(classifier.outputs, "uint16", n_rows))
    require("classifier.outputs", are_within(classifier.outputs, n_outputs))
    require("classifier.weights", _is(classifier.weights, "float16", n_rows))


def _check_tags(grammar: GrammarParameters) -> None:
    n_tags = len(grammar.tags) + 1
    for name in ("tags_before", "tags_after"):
        require(name, _is_weights(getattr(grammar, name), grammar.n_symbols, n_tags))
    require("tags", {chain[-1] for chain in grammar.chains[: grammar.n_preterminals]} <= set(grammar.tags))


def _is(array: np.ndarray, dtype: str, *shape: int) -> bool:
    """Return whether a value is an array of this type and shape, with floats of at most `validation.LARGEST`."""
    return is_array(array, dtype, *shape) and (array.dtype.kind != "f" or is_moderate(array))


def _is_weights(array: np.ndarray, *shape: int) -> bool:
    return _is(array, "float64", *shape) and bool(np.all(array >= 0))
