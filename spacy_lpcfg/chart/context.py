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
    """tag_weights (float64, (n_words, n_tags)); left_fit, right_fit (float64, (n_words + 1, n_symbols))."""

    tag_weights: np.ndarray
    left_fit: np.ndarray
    right_fit: np.ndarray


class ContextModel:
    """Tables of a grammar from which the context of a sentence's words is made."""

    def __init__(self, grammar: Grammar) -> None:
        self._bigrams = grammar.tag_bigrams
        self._emissions = _tag_emissions(grammar)
        self._n_tags = len(grammar.tags)
        share = np.append(_tag_shares(grammar), 1.0 / 20)
        self._before = np.ascontiguousarray((grammar.tags_before / share).T)
        self._after = np.ascontiguousarray((grammar.tags_after / share).T)

    def context(self, terminals: np.ndarray, tags: np.ndarray, tag_weight: float, threshold: float) -> Context:
        """The context of a sentence.

        terminals, tags (int32, (n_words,)): tags are ids or `NO_TAG`.
        tag_weight (float): what is left of the emissions of a word under another tag than the given one.
        threshold (float): tags whose posterior is lower are ruled out.
        """
        weights = np.ones((len(terminals), self._n_tags))
        given = np.flatnonzero(tags != NO_TAG)
        weights[given] = tag_weight
        weights[given, tags[given]] = 1.0
        emissions = self._emissions[terminals] * weights
        lacking = given[emissions[given, tags[given]] == 0]
        emissions[lacking, tags[lacking]] = emissions[lacking].max(axis=1) + 1e-30
        posteriors = tag_posteriors(emissions, self._bigrams)
        weights[posteriors < threshold] = 0.0
        edge = np.zeros((1, self._n_tags + 1))
        edge[0, -1] = 1.0
        inner = np.pad(posteriors, ((0, 0), (0, 1)))
        return Context(
            weights,
            np.concatenate([edge, inner]) @ self._before,
            np.concatenate([inner, edge]) @ self._after,
        )


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
