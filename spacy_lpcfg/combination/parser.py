"""One tree of what several parsers think of a sentence: minimum Bayes risk over the mean of their posteriors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from spacy_lpcfg.chart.ensemble import parser_of as chart_parser_of
from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.combination.combined import Combined, Learned, Member
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import BeamSettings, IncrementalParser
from spacy_lpcfg.trees.consensus import consensus
from spacy_lpcfg.trees.parse import GLUED, PARSED, Parse, Posteriors, Undistributed, with_given

Tags = Sequence[str | None]


class Source(Protocol):
    """What tells the posteriors of a sentence's brackets and tags; arguments as of `CombinedParser.parse`."""

    def __call__(self, words: Sequence[str], tags: Tags | None, *, tag_weight: float) -> Posteriors: ...


class CombinedParser(Undistributed):
    """Parses sentences by what several models think of them; any number of threads may share one.

    combined (Combined): the models.
    beam_settings (BeamSettings): how ISBNs search.
    """

    def __init__(self, combined: Combined, *, beam_settings: BeamSettings = BeamSettings()) -> None:
        self.combined = combined
        self._sources = [_source(member, beam_settings) for member in combined.members]

    def posteriors(self, words: Sequence[str], tags: Tags | None = None, *, tag_weight: float = 0.0) -> Posteriors:
        """The mean of the models' posteriors; arguments as of `parse`."""
        found = [source(words, tags, tag_weight=tag_weight) for source in self._sources]
        return mean(found, self.combined.weights)

    def parse(self, words: Sequence[str], tags: Tags | None = None, *, tag_weight: float = 0.0) -> Parse:
        """The tree of least expected loss.

        words (sequence of str): in the treebank's spelling; at least one.
        tags (sequence of str or None): given tags, None where there is none; None for the models' own.
        tag_weight (float): as of the chart's `Parser.parse`; ISBNs take no notice of tags unless it is 0.
        RETURNS (Parse): its scores are those means; its log-probability is nan.
        RAISES (ValueError): If there are no words, or other tags than words. Never because of what they are.
        """
        found = self.posteriors(words, tags, tag_weight=tag_weight)
        spans = consensus(found.brackets, len(words), cost=self.combined.bracket_cost)
        own = [max(of_word, key=of_word.__getitem__) for of_word in found.tags]
        is_parsed = any(found.brackets[span] > 0 for span in spans[:1])
        return Parse(
            words=words,
            tags=with_given(own, tags if tag_weight == 0 else None),
            spans=spans,
            span_scores=np.array([found.brackets[span] for span in spans], dtype=np.float32),
            tag_scores=np.array([of_word[tag] for of_word, tag in zip(found.tags, own)], dtype=np.float32),
            log_probability=float("nan"),
            status=PARSED if is_parsed else GLUED,
        )


def parser_of(model: Learned) -> Parser | CombinedParser:
    """The parser by a grammar, an ensemble or a combination."""
    return CombinedParser(model) if isinstance(model, Combined) else chart_parser_of(model)


def _source(model: Member, settings: BeamSettings) -> Source:
    if isinstance(model, ISBN):
        return partial(_incremental, IncrementalParser(model, settings=settings))
    return chart_parser_of(model).posteriors


def _incremental(
    parser: IncrementalParser, words: Sequence[str], tags: Tags | None, *, tag_weight: float
) -> Posteriors:
    return parser.posteriors(words, tags if tag_weight == 0 else None)


def mean(posteriors: Sequence[Posteriors], weights: Sequence[float]) -> Posteriors:
    """Weighted means of the probabilities of brackets and tags."""
    brackets: dict[tuple[int, int, str], float] = {}
    for one, weight in zip(posteriors, weights):
        _add(brackets, one.brackets.items(), weight)
    order = sorted(brackets, key=lambda bracket: (bracket[0], -bracket[1]))
    tags: list[dict[str, float]] = [{} for _ in posteriors[0].tags]
    for one, weight in zip(posteriors, weights):
        for of_word, other in zip(tags, one.tags):
            _add(of_word, other.items(), weight)
    return Posteriors({bracket: brackets[bracket] for bracket in order}, tags)


def _add(sums: dict, items: Iterable[tuple], weight: float) -> None:
    for key, p in items:
        sums[key] = sums.get(key, 0.0) + weight * p
