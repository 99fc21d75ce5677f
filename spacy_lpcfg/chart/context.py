"""Pruning by context: posteriors of symbols and of constituent boundaries, given the neighbouring words.

A log-linear classifier predicts from the window around each word. Its posteriors prune preterminal symbols, and
fenceposts (positions between words) where no span of several words begins or ends. Tags that are likely around a
fencepost give the boundary figure of merit of Caraballo and Charniak (1998): how well a symbol fits between the words
around a span. This allows a narrow beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._context import emissions
from spacy_lpcfg.chart.factors import Factors, with_listed
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.grammar.windows import Windows
from spacy_lpcfg.products import product


class SentenceContext(NamedTuple):
    """The pruning information of a sentence of n words.

    A fencepost is a position between words: 0 before the first word, n after the last.

    first_row (int32, (n + 1,)): The rows of word i are `rows[first_row[i]:first_row[i + 1]]`.
    rows (int32, (n_rows,)): The rows of the lexicon that emit each word, without rows of pruned symbols.
    row_scales (float64, (n_rows,)): Factors of the emission probabilities of these rows.
    left_fit (float64, (n + 1, n_symbols)): Figure of merit, for the beam only: how well a symbol that begins at a
        fencepost fits the word before the fencepost.
    right_fit (float64, (n + 1, n_symbols)): Likewise, how well a symbol that ends at a fencepost fits the word after
        the fencepost.
    may_begin (int8, (n + 1,)): Whether a span of several words may begin at a fencepost.
    may_end (int8, (n + 1,)): Whether a constituent of several words may end at a fencepost.
    """

    first_row: np.ndarray
    rows: np.ndarray
    row_scales: np.ndarray
    left_fit: np.ndarray
    right_fit: np.ndarray
    may_begin: np.ndarray
    may_end: np.ndarray

    def without_fit(self) -> SentenceContext:
        """Return a copy in which all symbols fit equally well everywhere."""
        return self._replace(left_fit=np.ones_like(self.left_fit), right_fit=np.ones_like(self.right_fit))


class ContextModel:
    """Predictor of symbols and constituent boundaries from the neighbouring words, to prune the chart.

    It combines the grammar's classifier of words in context, its lexicon, and its tables of neighbouring tags.

    grammar (Grammar): The grammar.

    The attribute `likely_tags` (int32, (n_terminals,)) holds the id of the most probable tag of each terminal
    without context.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._classifier = grammar.classifier
        self._windows = Windows(grammar.tags)
        self.likely_tags = read_only(grammar.lexicon.likely_tags(grammar.symbol_weights, grammar.tag_of))
        self._tag_of = grammar.tag_of
        self._symbol_weights = grammar.symbol_weights
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
        listed: np.ndarray | None,
        evidence: Factors | None,
        tag_threshold: float,
        boundary_threshold: float,
    ) -> SentenceContext:
        """Compute the pruning information of a sentence.

        words (sequence of str, (n_words,)): The words.
        terminals (int32, (n_words,)): The id of the terminal of each word.
        tags (int32, (n_words,)): The id of the given tag of each word, or `NO_TAG`.
        tag_factors (float64, (n_words, n_tags)): Factors of the emissions of the words' terminals under each tag.
        tag_weight (float): Factor of a word's emissions under other tags than the given one.
        listed (bool, (n_words, n_tags), or None): The tags that are listed for each word, see `with_listed`; None if
            there are none for any word.
        evidence (Factors or None): Evidence whose probabilities of tags and symbols replace those of the classifier. A
            word then may have a tag that it was never seen with, if the evidence gives the tag a probability of at
            least 0.02. None to use the classifier.
        tag_threshold (float): Symbols with a lower posterior are pruned, except for the best one of each word.
        boundary_threshold (float): Beginnings and ends with a lower posterior are pruned; ignored with evidence.
        """
        may_begin, may_end = np.ones((2, len(words) + 1), dtype=np.int8)
        if evidence is None:
            extra = np.zeros_like(tag_factors)
            keys = self._windows.keys(words, np.where(tags == NO_TAG, self.likely_tags[terminals], tags))
            scores = self._classifier.scores(keys, len(self._tag_of) + 2)
            happens = scores[:, -2:] >= _log_odds(boundary_threshold)
            may_begin[1:-1], may_end[1:-1] = happens[1:, 0], happens[:-1, 1]
        else:
            extra = self._unseen[terminals] * (evidence.tag_probabilities >= _LIKELY)
            scores = evidence.symbol_logs
        if listed is not None:
            tag_factors, extra = with_listed(tag_factors, extra, listed, self._unseen[terminals])
        tag_factors = _with_given(tag_factors, extra, tags, tag_weight)
        around = np.zeros((len(words) + 2, tag_factors.shape[1] + 1))
        first_row, rows, row_scales, around[1:-1, :-1] = emissions(
            scores, tag_factors, extra, terminals, tag_threshold, self._lexicon, self._tag_of, self._tag_terminals
        )
        around[[0, -1], -1] = 1.0
        before, after = product(around[:-1], self._before), product(around[1:], self._after)
        return SentenceContext(first_row, rows, row_scales, before, after, may_begin, may_end)

    @cached_property
    def _unseen(self) -> np.ndarray:
        """P(word | tag) of each terminal under tags that it was not seen with, float64 (n_terminals, n_tags).

        The estimate assumes that the word had the tag in the share `_UNSEEN` of its occurrences.
        """
        tables = self._lexicon.tag_weights(self._symbol_weights, self._tag_of)
        of_tags = np.bincount(self._tag_of, self._symbol_weights[: len(self._tag_of)], tables.shape[1])
        return read_only(_UNSEEN * tables.sum(axis=1, keepdims=True) / np.maximum(of_tags, _LEAST_SHARE))


def _with_given(tag_factors: np.ndarray, extra: np.ndarray, tags: np.ndarray, tag_weight: float) -> np.ndarray:
    """Return the factors of emissions under given tags: factors of other tags of a word are multiplied by `tag_weight`.

    extra (float64, (n_words, n_tags)): Factors of the tags that a word was not seen with. Changed in place in the same
        way, but set to `tag_factors` for the given tag, so that a word can always have its given tag.
    """
    given = np.flatnonzero(tags != NO_TAG)
    factors = tag_factors.copy()
    factors[given] *= tag_weight
    extra[given] *= tag_weight
    factors[given, tags[given]] = extra[given, tags[given]] = tag_factors[given, tags[given]]
    return factors


def _log_odds(probability: float) -> float:
    """Return log(p / (1 - p)); -inf at 0 and inf at 1. `scipy.special` has it too, but takes 0.1 s to import."""
    if 0 < probability < 1:
        return log(probability) - log1p(-probability)
    return -inf if probability <= 0 else inf


_EDGE_SHARE = 1.0 / 20  # share of sentence boundaries among neighbouring tags
_LIKELY = 0.02  # least probability of a tag by evidence for it to emit a word that was never seen with it
_UNSEEN = 0.1  # share of a word's occurrences that such a tag would have
_LEAST_SHARE = 1e-4  # of a tag among words, below which tags count as equally rare
