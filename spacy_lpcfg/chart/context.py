"""Pruning by context: which symbols, beginnings and ends of constituents the neighbouring words allow.

A log-linear classifier first predicts from the window around each word. Its posteriors prune preterminal symbols and
fenceposts where no span of several words begins or ends, and give the boundary figure of merit of Caraballo and
Charniak (1998): How well a symbol fits between the words around a span. This allows a narrow beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.chart._context import emission_weights
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.grammar.windows import Windows


class SentenceContext(NamedTuple):
    """The pruning information of a sentence of n words.

    symbol_weights (float64, (n, n_preterminals)): Factors of a word's emissions under each symbol; 0 prunes a symbol.
    left_fit, right_fit (float64, (n + 1, n_symbols)): How well a symbol fits after the word before a fencepost, and
        before the word after it; only used for the beam.
    may_begin, may_end (int8, (n + 1,)): Whether a span of several words may begin at a fencepost, and whether a
        constituent of several words may end there.
    """

    symbol_weights: np.ndarray
    left_fit: np.ndarray
    right_fit: np.ndarray
    may_begin: np.ndarray
    may_end: np.ndarray

    def without_fit(self) -> SentenceContext:
        """Return a copy in which all symbols fit equally well everywhere."""
        return self._replace(left_fit=np.ones_like(self.left_fit), right_fit=np.ones_like(self.right_fit))


class ContextModel:
    """Tables of a grammar from which sentence contexts are computed.

    likely_tags (int32, (n_terminals,)): The most probable tag of each terminal without context.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._classifier = grammar.classifier
        self._windows = Windows(grammar.tags)
        self.likely_tags = read_only(grammar.lexicon.likely_tags(grammar.symbol_weights, grammar.tag_of))
        self._tag_of = grammar.tag_of
        self._lexicon = grammar.lexicon
        self._tag_terminals = read_only(grammar.lexicon.tag_terminals)
        counts = np.bincount(grammar.tag_of, grammar.symbol_weights[: grammar.n_preterminals], len(grammar.tags))
        share = np.append(counts / counts.sum(), _EDGE_SHARE)
        self._before = read_only(np.ascontiguousarray((grammar.tags_before / share).T))
        self._after = read_only(np.ascontiguousarray((grammar.tags_after / share).T))

    def context(
        self,
        words: Sequence[str],
        terminals: np.ndarray,
        tags: np.ndarray,
        *,
        tag_factors: np.ndarray,
        tag_weight: float,
        tag_threshold: float,
        boundary_threshold: float,
    ) -> SentenceContext:
        """Compute the context of a sentence.

        words (sequence of str, (n_words,)): The words.
        terminals, tags (int32, (n_words,)): Ids of their terminals and given tags, which may be `NO_TAG`.
        tag_factors (float64, (n_words, n_tags)): Factors of the emissions of the words' terminals.
        tag_weight (float): Factor of a word's emissions under other tags than the given one.
        tag_threshold (float): Symbols with a lower posterior are pruned, except for the best one of each word.
        boundary_threshold (float): Beginnings and ends with a lower posterior are pruned.
        """
        lexicon, n_tags = self._lexicon, tag_factors.shape[1]
        keys = self._windows.keys(words, np.where(tags == NO_TAG, self.likely_tags[terminals], tags))
        scores = self._classifier.scores(keys, len(self._tag_of) + 2)
        around = np.zeros((len(words) + 2, n_tags + 1))
        weights, around[1:-1, :-1] = emission_weights(
            scores, tag_factors, terminals, tags, tag_weight, tag_threshold, lexicon, self._tag_of, self._tag_terminals
        )
        around[[0, -1], -1] = 1.0
        happens = scores[:, -2:] >= _log_odds(boundary_threshold)
        may_begin, may_end = np.ones((2, len(words) + 1), dtype=np.int8)
        may_begin[1:-1], may_end[1:-1] = happens[1:, 0], happens[:-1, 1]
        before, after = _product(around[:-1], self._before), _product(around[1:], self._after)
        return SentenceContext(weights, before, after, may_begin, may_end)


def _product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the matrix product without BLAS, whose threads spin for as long as the rest of a parse takes."""
    return np.einsum("ij,jk->ik", one, other)


def _log_odds(probability: float) -> float:
    """Return log(p / (1 - p)), infinite at 0 and 1. `scipy.special` has it too, but takes 0.1 s to import."""
    if 0 < probability < 1:
        return log(probability) - log1p(-probability)
    return -inf if probability <= 0 else inf


_EDGE_SHARE = 1.0 / 20  # share of sentence boundaries among neighbouring tags
