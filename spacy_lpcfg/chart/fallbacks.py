"""Fallbacks for sentences without a tree in the grammar, in the order in which they are tried.

If the parser's chart has no tree, the first of these that applies returns one:

1. One word: the most frequent root label over it.
2. A chart that is too large for memory: trees of pieces of the sentence, joined.
3. A grammar with back-off rules, which combine children that the treebank has below the same label, but not next to
   each other.
4. Constraints that no tree satisfies: the tree without constraints.
5. Otherwise: the fewest constituents that cover the words, joined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from spacy_lpcfg.chart._coarse import CoarseGrammar, root_logs
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.cells import SymbolSets, constraint_mask
from spacy_lpcfg.chart.context import SentenceContext
from spacy_lpcfg.chart.factors import Factors
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS
from spacy_lpcfg.parsing.protocol import Sentence
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import BACKED_OFF, GLUED, SEGMENTED, UNCONSTRAINED, Parse
from spacy_lpcfg.parsing.segmentation import cut_points, parse_segments


class ChartParser(Protocol):
    """Interface of the chart parser that fallbacks call; `Parser` implements it."""

    @property
    def coarse(self) -> CoarseGrammar: ...

    @property
    def sets(self) -> SymbolSets: ...

    @property
    def settings(self) -> ChartSettings: ...

    @property
    def top_label(self) -> str: ...

    @property
    def backoff(self) -> ChartParser | None: ...

    def parse(self, query: Sentence) -> Parse: ...

    def forest(self, query: Sentence) -> Forest: ...

    def decode(self, query: Query, forest: Forest) -> Parse: ...

    def context(
        self, query: Query, settings: ChartSettings, factors: Factors | None, *, as_written: bool = False
    ) -> SentenceContext: ...

    def factors(self, query: Query) -> Factors | None: ...

    def tag_of_unparsed(self, word: str) -> str: ...


def first_fallback(parser: ChartParser, query: Query, forest: Forest) -> Parse:
    """Return the parse of the first of `FALLBACKS` that finds one; the last always does.

    parser (ChartParser): The parser that found no tree.
    query (Query): The sentence.
    forest (Forest): The empty forest of the sentence; its `is_complete` is False if the chart was too large.
    """
    return next(parse for attempt in FALLBACKS if (parse := attempt(parser, query, forest)) is not None)


def _single_word(parser: ChartParser, query: Query, forest: Forest) -> Parse | None:
    """Put the most frequent root label over a single word; return None for several words or with constraints."""
    if len(query.words) > 1 or query.constraints:
        return None
    tag = (query.certain_tags[0] if query.certain_tags else None) or parser.tag_of_unparsed(query.words[0])
    zero = np.zeros(1, dtype=np.float32)
    return Parse(query.words, [tag], [(0, 1, parser.top_label)], zero, zero, float("nan"), GLUED)


def _halves(parser: ChartParser, query: Query, forest: Forest) -> Parse | None:
    """If the chart was too large for memory, parse pieces of at most half the words and join them.

    Return None if it was not too large, or if there are constraints.
    """
    if forest.is_complete or query.constraints:
        return None
    cuts = cut_points(query.words, len(query.words) // 2)
    return parse_segments(parser.parse, query, cuts, parser.top_label, SEGMENTED)


def _backed_off(parser: ChartParser, query: Query, forest: Forest) -> Parse | None:
    """Parse with back-off rules; return None if the chart had them already or if there is no tree.

    If the chart with these rules is too large for memory, join the fewest constituents instead.
    """
    wider = parser.backoff
    if wider is None:
        return None
    forest_of_wider = wider.forest(query)
    if forest_of_wider.n_items:
        return replace(wider.decode(query, forest_of_wider), status=BACKED_OFF, probability=float("nan"))
    return None if forest_of_wider.is_complete or query.constraints else _cover(parser, query, SEGMENTED)


def _unconstrained(parser: ChartParser, query: Query, forest: Forest) -> Parse | None:
    """Parse without the constraints; return None if there are none."""
    if not query.constraints:
        return None
    parse = parser.parse(query.free())
    return parse if query.constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)


def _glued(parser: ChartParser, query: Query, forest: Forest) -> Parse:
    """Join the fewest constituents that cover the words."""
    return _cover(parser, query, GLUED)


def _cover(parser: ChartParser, query: Query, status: str) -> Parse:
    factors = parser.factors(query)
    logs = root_logs(
        parser.coarse,
        parser.context(query, parser.settings, factors),
        constraint_mask(NO_CONSTRAINTS, len(query.words), parser.sets),
        factors,
        beam=parser.settings.beam,
        max_applications=parser.settings.max_applications,
    )
    return parse_segments(parser.parse, query, fewest_pieces(logs), parser.top_label, status)


def fewest_pieces(logs: np.ndarray) -> list[int]:
    """Cut a sentence into the fewest pieces that have a tree each, and return the cuts.

    Among cuts into equally many pieces, the one with the most probable pieces is taken.

    logs (float64, (n_words + 1, n_words + 1)): ln P of each piece [i, j) as a whole tree, in nats; -inf if there is no
        tree. A single word without a tree is a piece too, of the lowest probability.
    RETURNS (list of int): The index of the first word of each piece except the first, ascending; at least one.
    """
    n_words, of_pieces = len(logs) - 1, logs.copy()
    words = np.arange(n_words)
    of_pieces[words, words + 1] = np.maximum(logs[words, words + 1], _NO_TREE)
    of_pieces[0, n_words] = -np.inf
    fewest, best, origins = np.zeros(n_words + 1), np.zeros(n_words + 1), np.zeros(n_words + 1, dtype=int)
    for end in range(1, n_words + 1):
        counts = np.where(of_pieces[:end, end] > -np.inf, fewest[:end] + 1, np.inf)
        scores = np.where(counts == counts.min(), best[:end] + of_pieces[:end, end], -np.inf)
        origins[end] = scores.argmax()
        fewest[end], best[end] = counts.min(), scores.max()
    cuts = [int(origins[n_words])]
    while cuts[-1] > 0:
        cuts.append(int(origins[cuts[-1]]))
    return cuts[-2::-1]


_NO_TREE = -1e6  # less than the log-probability of any piece


FALLBACKS: tuple[Callable[[ChartParser, Query, Forest], Parse | None], ...] = (
    _single_word,
    _halves,
    _backed_off,
    _unconstrained,
    _glued,
)
