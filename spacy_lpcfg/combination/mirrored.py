"""Parsing by a model that reads sentences from right to left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.parsing.kinds import add_kind
from spacy_lpcfg.parsing.protocol import Answer, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Parse, Posteriors, mirrored_spans
from spacy_lpcfg.trees.transforms import mirror
from spacy_lpcfg.trees.tree import Tree


class MirroredParser(SentenceParser):
    """A parser by a model of mirrored trees: it mirrors sentences on the way in, and answers on the way out.

    parser (SentenceParser): The parser of mirrored sentences. Threads may share this parser if they may share that one.
    """

    def __init__(self, parser: SentenceParser) -> None:
        self._parser = parser
        self.kind = parser.kind

    @property
    def answers(self) -> frozenset[Answer]:
        """The log-probabilities of trees, if the parser has them: all others depend on the direction."""
        return self._parser.answers & {"tree_log_probability"}

    def parse(self, query: Sentence) -> Parse:
        """Return the tree; over the same words labels keep their order."""
        query = Query.of(query)
        parse = self._parser.parse(query.mirrored())
        scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
        spans, n_words = mirrored_spans(parse.spans, len(query.words)), len(query.words)
        return replace(
            parse,
            words=query.words,
            tags=parse.tags[::-1],
            spans=spans,
            span_scores=np.array([scores[n_words - j, n_words - i, name] for i, j, name in spans], dtype=np.float32),
            tag_scores=parse.tag_scores[::-1],
        )

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """Return the posteriors."""
        query = Query.of(query)
        mirrored = None if guide is None else guide.mirrored()
        reading = self._parser.read(query.mirrored(), guide=mirrored)
        return SentenceReading(reading.posteriors.mirrored(), None, reading.log_probability, reading.status)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return the parser's likely tags."""
        return self._parser.likely_tags(words)

    def tree_log_probability(self, tree: Tree) -> float:
        """Return ln P(tree, words), in nats."""
        return self._parser.tree_log_probability(mirror(tree))

    def tree_log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """Return ln P(tree, words) of each tree, in nats, float64 (n_trees,)."""
        return self._parser.tree_log_probabilities([mirror(tree) for tree in trees])


def mirrored_parser(mirrored: Mirrored, decoding: str, **settings: Any) -> MirroredParser:
    """Return the parser that `Mirrored.parser` makes; the settings are those of the inner model's parser."""
    return MirroredParser(mirrored.model.parser(decoding=decoding, **settings))


add_kind(Mirrored.kind, Mirrored.from_bytes, mirrored_parser)
