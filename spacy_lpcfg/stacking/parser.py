"""Parsing by a grammar with a span layer over its posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spacy_lpcfg.chart.parser import ForestReading
from spacy_lpcfg.parsing.decodings import MBR
from spacy_lpcfg.parsing.kinds import add_kind
from spacy_lpcfg.parsing.protocol import BackedParser, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Parse, Posteriors, with_given
from spacy_lpcfg.stacking.layer import SpanLayer
from spacy_lpcfg.stacking.stacked import Stacked


class StackedParser(BackedParser):
    """Parses sentences by what a layer makes of a grammar's posteriors; any number of threads may share one.

    Posteriors of brackets, and the tree that "mbr" chooses by them, are the layer's. All other answers are the
    grammar's, and so are those on a sentence that the grammar has no tree for.

    parser (SentenceParser): of the grammar or the ensemble.
    layer (SpanLayer): over its posteriors.
    decoding (str): as in `Stacked.decodings`.
    bracket_cost (float): as in `Stacked`.
    """

    def __init__(self, parser: SentenceParser, layer: SpanLayer, *, decoding: str, bracket_cost: float) -> None:
        self._parser = parser
        self._layer = layer
        self._decoding = decoding
        self._bracket_cost = bracket_cost

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The grammar in an error message."""
        return self._parser.kind

    @property
    def backing(self) -> SentenceParser:
        """The grammar's parser, which has all answers but the layer's."""
        return self._parser

    def parse(self, query: Sentence) -> Parse:
        """The tree; by "mbr" the one of the grammar with the least expected loss by the layer's posteriors.

        RETURNS (Parse): its log-probability is the grammar's. By other decodings, and of a sentence without a tree of
            the grammar, it is all the grammar's, scores too.
        """
        query = Query.of(query)
        if self._decoding != MBR:
            return self._parser.parse(query)
        reading = self.read(query)
        if not isinstance(reading, ForestReading):
            return reading.parse or self._parser.parse(query)
        tree = reading.forest_mbr(reading.posteriors, bracket_cost=self._bracket_cost)
        tags = with_given(tree.tags, query.certain_tags)
        return replace(tree, tags=tags, log_probability=reading.log_probability, status=reading.status)

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """The layer's posteriors, and the grammar's forest; brackets that constraints ask for are certain."""
        query = Query.of(query)
        reading = self._parser.read(query, guide=guide)
        if reading.posteriors.is_of_one:
            return reading
        found = self._layer.rescore(query.words, reading.posteriors)
        if query.constraints:
            found = Posteriors(query.constraints.within(found.brackets), found.tags)
        return replace(reading, posteriors=found)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Those of the grammar."""
        return self._parser.likely_tags(words)


def stacked_parser(stacked: Stacked, decoding: str, **settings: Any) -> StackedParser:
    """Return the parser that `Stacked.parser` makes; the settings are those of the grammar's parser."""
    parser = stacked.model.parser(decoding=decoding, **settings)
    return StackedParser(parser, stacked.layer, decoding=decoding, bracket_cost=stacked.bracket_cost)


add_kind(Stacked.kind, Stacked.from_bytes, stacked_parser)
