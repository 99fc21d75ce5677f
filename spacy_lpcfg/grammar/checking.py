"""What must hold of a saved grammar before the kernels, which trust it, may read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import UNKNOWN, Lexicon, tag_terminal
from spacy_lpcfg.grammar.tensors import EXACT, FACTORED, SPARSE, Tensors, factor_sizes, offsets

if TYPE_CHECKING:
    from spacy_lpcfg.grammar.grammar import Grammar


class GrammarError(ValueError):
    """A grammar that is damaged, foreign or inconsistent."""


_TEXTS = ("symbols", "lexicon.terminals", "lexicon.tags", "lexicon.rare_words", "classes.words")
_MOST_STATES = 2**12  # so that no size of tensors, nor any place in them, is too large for an integer
_VALUES = {"n_preterminals": int, "root_label": str, "is_proper": bool}


def require(part: str, holds: bool) -> None:
    """RAISES (GrammarError): Naming the part, unless it holds."""
    if not holds:
        raise GrammarError(f"This grammar is inconsistent in its {part}: copy or learn it again.")


def has_type(name: str, value: object) -> bool:
    """Whether a stored value is of the kind that its name asks for: texts, a number, a flag or an array."""
    if name in _TEXTS:
        return isinstance(value, tuple) and all(isinstance(text, str) for text in value)
    if name in _VALUES:
        return type(value) is _VALUES[name]
    return isinstance(value, np.ndarray) and value.ndim > 0


def check(grammar: Grammar) -> None:
    """Check that the parts of a grammar fit together.

    RAISES (GrammarError): Naming the part that does not fit.
    """
    _check_symbols(grammar)
    _check_rules(grammar)
    _check_tensors(grammar.tensors, grammar.n_states[grammar.rules])
    _check_lexicon(grammar.lexicon, grammar.n_preterminals, grammar.n_states)
    _check_rare_words(grammar.lexicon)
    _check_classes(grammar.lexicon)
    _check_classifier(grammar.classifier, grammar.n_preterminals + 2)
    _check_tags(grammar)


def _check_symbols(grammar: Grammar) -> None:
    n_symbols = grammar.n_symbols
    require("symbols", n_symbols > 0 and 0 < grammar.n_preterminals <= n_symbols)
    require("n_states", _is(grammar.n_states, "int32", n_symbols) and grammar.n_states.min() > 0)
    require("n_states", grammar.n_states.max() <= _MOST_STATES)
    require("symbol_weights", _is_weights(grammar.symbol_weights, n_symbols))
    require("root_weights", _is_weights(grammar.root_weights, n_symbols))
    require("root_vectors", _is(grammar.root_vectors, "float32", int(grammar.n_states.sum())))


def _check_rules(grammar: Grammar) -> None:
    rules = grammar.rules
    require("rules", _is(rules, "int32", grammar.n_rules, 3) and _within(rules, grammar.n_symbols))
    require("rules", bool(np.all(rules[:, 0] >= grammar.n_preterminals)))
    require("rule_weights", _is_weights(grammar.rule_weights, grammar.n_rules))


def _check_tensors(tensors: Tensors, shapes: np.ndarray) -> None:
    """shapes (int32, (n_rules, 3)): of the rules' tensors."""
    n_rules = len(shapes)
    require("tensors.shapes", _is(tensors.shapes, "int32", n_rules, 3) and np.array_equal(tensors.shapes, shapes))
    require("tensors.forms", _is(tensors.forms, "int32", n_rules) and _within(tensors.forms, SPARSE + 1))
    require("tensors.ranks", _is(tensors.ranks, "int32", n_rules, 3))
    ranks, is_factored = tensors.ranks.astype(np.int64), tensors.forms == FACTORED
    is_rank = np.where(is_factored[:, None], (ranks > 0) & (ranks <= shapes), ranks == 0)
    require("tensors.ranks", bool(is_rank.all()))
    require("tensors.exact", _is(tensors.exact, "float32", int(tensors.sizes[tensors.forms == EXACT].sum())))
    require("tensors.factors", _is(tensors.factors, "float16", int(factor_sizes(shapes, ranks).sum())))
    require("tensors.scales", _is(tensors.scales, "float32", n_rules))
    is_sparse = tensors.forms == SPARSE
    require("tensors.kept", _is(tensors.kept, "uint8", -(-int(tensors.sizes[is_sparse].sum()) // 8)))
    n_kept = int(np.unpackbits(tensors.kept, count=int(tensors.sizes[is_sparse].sum())).sum())
    require("tensors.entries", _is(tensors.entries, "float16", n_kept))
    require("tensors.rests", _is(tensors.rests, "float32", int(shapes[is_sparse].sum(dtype=np.int64))))


def _check_lexicon(lexicon: Lexicon, n_preterminals: int, n_states: np.ndarray) -> None:
    n_rows, n_terminals = len(lexicon.symbols), len(lexicon.terminals)
    require("lexicon.symbols", _is(lexicon.symbols, "int32", n_rows) and _within(lexicon.symbols, n_preterminals))
    require("lexicon.weights", _is_weights(lexicon.weights, n_rows))
    rows = lexicon.offsets
    require("lexicon.offsets", _is(rows, "int32", n_terminals + 1) and rows[0] == 0 and rows[-1] == n_rows)
    require("lexicon.offsets", bool(np.all(np.diff(rows) > 0)))
    starts = lexicon.vector_offsets
    require("lexicon.vector_offsets", _is(starts, "int64", n_rows + 1))
    require("lexicon.vector_offsets", np.array_equal(starts, offsets(n_states[lexicon.symbols])))
    require("lexicon.vectors", _is(lexicon.vectors, "float32", int(starts[-1])))
    require("lexicon.terminals", {UNKNOWN, *map(tag_terminal, lexicon.tags)} <= set(lexicon.terminals))


def _check_rare_words(lexicon: Lexicon) -> None:
    n, n_entries = len(lexicon.rare_words), len(lexicon.rare_tags)
    require("lexicon.rare_terminals", _is(lexicon.rare_terminals, "int32", n))
    require("lexicon.rare_terminals", _within(lexicon.rare_terminals, len(lexicon.terminals)))
    starts = lexicon.rare_offsets
    require("lexicon.rare_offsets", _is(starts, "int32", n + 1) and starts[0] == 0 and starts[-1] == n_entries)
    require("lexicon.rare_offsets", bool(np.all(np.diff(starts) >= 0)))
    require("lexicon.rare_tags", _is(lexicon.rare_tags, "int32", n_entries))
    require("lexicon.rare_tags", _within(lexicon.rare_tags, len(lexicon.tags)))
    factors = lexicon.rare_factors
    require("lexicon.rare_factors", _is(factors, "float32", n_entries) and bool(np.all(factors > 0)))


def _check_classes(lexicon: Lexicon) -> None:
    require("classes", lexicon.classes.fit_shares(lexicon.class_shares, len(lexicon.tags)))


def _check_classifier(classifier: Classifier, n_outputs: int) -> None:
    n_features, n_rows = len(classifier.features), len(classifier.outputs)
    features, rows = classifier.features, classifier.offsets
    require("classifier.features", _is(features, "int32", n_features) and bool(np.all(features >= 0)))
    require("classifier.features", bool(np.all(features[1:] > features[:-1])))
    require("classifier.offsets", _is(rows, "int32", n_features + 1) and rows[0] == 0 and rows[-1] == n_rows)
    require("classifier.offsets", bool(np.all(rows[1:] >= rows[:-1])))
    require("classifier.outputs", _is(classifier.outputs, "uint16", n_rows) and _within(classifier.outputs, n_outputs))
    require("classifier.weights", _is(classifier.weights, "float16", n_rows))


def _check_tags(grammar: Grammar) -> None:
    n_tags = len(grammar.tags) + 1
    for name in ("tags_before", "tags_after"):
        require(name, _is_weights(getattr(grammar, name), grammar.n_symbols, n_tags))
    require("tags", {chain[-1] for chain in grammar.chains[: grammar.n_preterminals]} <= set(grammar.tags))


def _is(array: np.ndarray, dtype: str, *shape: int) -> bool:
    return array.dtype == dtype and array.shape == shape and bool(np.all(np.isfinite(array)))


def _is_weights(array: np.ndarray, *shape: int) -> bool:
    return _is(array, "float64", *shape) and bool(np.all(array >= 0))


def _within(ids: np.ndarray, n: int) -> bool:
    return ids.size == 0 or (ids.min() >= 0 and ids.max() < n)
