"""What the neighbouring words say about tags and about where constituents begin and end.

A bigram tagger made of the treebank's own counts looks at the whole sentence first. Its posteriors rule out tags, and
say how well a symbol fits between the words around a span: the boundary figure of merit of Caraballo and Charniak
(1998), which lets the chart's beam be narrow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart._tags import tag_posteriors
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG


class Context(NamedTuple):
    """The context of a sentence's n words.

    tag_weights (float64, (n, n_tags)): factor of a word's emissions under each tag; 0 rules a tag out.
    left_fit, right_fit (float64, (n + 1, n_symbols)): how well a symbol follows the word before a fencepost, and how
        well it precedes the word after it; for the chart's beam alone.
    may_begin, may_end (int8, (n + 1,)): whether a span of several words may begin, a constituent of several words
        may end, at a fencepost.
    """

    tag_weights: np.ndarray
    left_fit: np.ndarray
    right_fit: np.ndarray
    may_begin: np.ndarray
    may_end: np.ndarray


class ContextModel:
    """Tables of a grammar from which the context of a sentence's words is made."""

    def __init__(self, grammar: Grammar) -> None:
        self._bigrams = grammar.tag_bigrams
        self._emissions = _tag_emissions(grammar)
        share = np.append(_tag_shares(grammar), 1.0 / 20)
        self._begins = grammar.begins
        self._ends = grammar.ends
        self._before = np.ascontiguousarray((grammar.tags_before / share).T)
        self._after = np.ascontiguousarray((grammar.tags_after / share).T)

    def context(
        self,
        terminals: np.ndarray,
        tags: np.ndarray,
        *,
        tag_factors: np.ndarray,
        tag_weight: float,
        tag_threshold: float,
        boundary_threshold: float,
    ) -> Context:
        """The context of a sentence.

        terminals, tags (int32, (n_words,)): tags are ids or `NO_TAG`.
        tag_factors (float64, (n_words, n_tags)): of the emissions of the words' terminals.
        tag_weight (float): what is left of the emissions of a word under another tag than the given one.
        tag_threshold (float): tags whose posterior is lower are ruled out.
        boundary_threshold (float): fenceposts where a beginning or an end is less likely are closed to it.
        """
        weights = tag_factors.copy()
        given = np.flatnonzero(tags != NO_TAG)
        weights[given] *= tag_weight
        weights[given, tags[given]] = tag_factors[given, tags[given]]
        emissions = self._emissions[terminals] * weights
        lacking = given[emissions[given, tags[given]] == 0]
        emissions[lacking, tags[lacking]] = emissions[lacking].max(axis=1) + 1e-30
        posteriors = tag_posteriors(emissions, self._bigrams)
        weights[posteriors < tag_threshold] = 0.0
        padded = np.zeros((len(terminals) + 2, posteriors.shape[1] + 1))
        padded[1:-1, :-1] = posteriors
        padded[[0, -1], -1] = 1.0
        before, after = padded[:-1], padded[1:]
        begin = ((before @ self._begins) * after).sum(axis=1) >= boundary_threshold
        end = ((before @ self._ends) * after).sum(axis=1) >= boundary_threshold
        begin[0] = end[-1] = True
        return Context(weights, before @ self._before, after @ self._after, begin.astype(np.int8), end.astype(np.int8))


def _tag_shares(grammar: Grammar) -> np.ndarray:
    weights = grammar.symbol_weights[: grammar.n_preterminals]
    shares = np.bincount(grammar.tag_of, weights=weights, minlength=len(grammar.tags))
    return shares / shares.sum()


def _tag_emissions(grammar: Grammar) -> np.ndarray:
    """P(x | tag) of every terminal, float64 (n_terminals, n_tags)."""
    lexicon = grammar.lexicon
    joint = lexicon.weights * grammar.symbol_weights[lexicon.symbols]
    terminal = np.repeat(np.arange(len(lexicon.terminals)), np.diff(lexicon.offsets))
    table = np.zeros((len(lexicon.terminals), len(grammar.tags)))
    np.add.at(table, (terminal, grammar.tag_of[lexicon.symbols]), joint)
    return table / _tag_shares(grammar)
