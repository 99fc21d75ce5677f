"""Parsing by a grammar with a span layer over its posteriors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spacy_lpcfg.chart.parser import ForestReading
from spacy_lpcfg.parsing.decodings import MBR
from spacy_lpcfg.parsing.kinds import add_kind
from spacy_lpcfg.parsing.protocol import Sentence, SentenceParser, SentenceReading, WrappingParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Parse, Posteriors, with_given
from spacy_lpcfg.stacking.layer import SpanLayer
from spacy_lpcfg.stacking.stacked import Stacked


class StackedParser(WrappingParser):
    """A parser that rescores a grammar's posteriors by a span layer; it may be shared by threads.

    The layer determines bracket posteriors and the tree of the decoding "mbr". All other answers are the grammar's, and
    so are all answers for a sentence that the grammar has no tree for.

    parser (SentenceParser): Parser of the grammar.
    layer (SpanLayer): The layer.
    decoding (str): One of `Stacked.decodings`.
    bracket_cost (float): As in `Stacked`.
    """

    def __init__(self, parser: SentenceParser, layer: SpanLayer, *, decoding: str, bracket_cost: float) -> None:
        super().__init__(parser)
        self._layer = layer
        self._decoding = decoding
        self._bracket_cost = bracket_cost

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence; "mbr" returns the tree in the grammar's forest with the least expected loss by the layer.

        RETURNS (Parse): The log-probability is the grammar's. By other decodings, and for a sentence without a tree of
            the grammar, the whole parse is the grammar's.
        """
        query = Query.of(query)
        if self._decoding != MBR:
            return self.backing.parse(query)
        reading = self.read(query)
        if not isinstance(reading, ForestReading):
            return reading.parse or self.backing.parse(query)
        tree = reading.forest_mbr(reading.posteriors, bracket_cost=self._bracket_cost)
        tags = with_given(tree.tags, query.certain_tags)
        return replace(tree, tags=tags, log_probability=reading.log_probability, status=reading.status)

    def read(self, query: Sentence) -> SentenceReading:
        """Return the layer's posteriors, and the grammar's forest; brackets that constraints require are certain."""
        query = Query.of(query)
        reading = self.backing.read(query)
        if reading.posteriors.is_of_one:
            return reading
        rescored = self._layer.rescore(query.words, reading.posteriors)
        if query.constraints:
            rescored = Posteriors(query.constraints.within(rescored.brackets), rescored.tags)
        return replace(reading, posteriors=rescored)


def stacked_parser(stacked: Stacked, decoding: str, **settings: Any) -> StackedParser:
    """Return the parser that `Stacked.parser` makes; the settings are those of the grammar's parser."""
    parser = stacked.model.parser(decoding=decoding, **settings)
    return StackedParser(parser, stacked.layer, decoding=decoding, bracket_cost=stacked.bracket_cost)


add_kind(Stacked.kind, Stacked.from_bytes, stacked_parser)
