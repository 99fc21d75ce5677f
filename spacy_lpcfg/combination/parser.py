"""One tree of what several parsers think of a sentence: minimum Bayes risk over the mean of their posteriors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from spacy_lpcfg.chart.ensemble import parser_of as chart_parser_of
from spacy_lpcfg.chart.nearest import nearest_parse
from spacy_lpcfg.chart.parser import Parser, Reading, Settings
from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination.combined import Combined, Learned
from spacy_lpcfg.combination.members import Member, Mirrored, straight
from spacy_lpcfg.combination.reranking import Reranker, can_rerank
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import BeamSettings, IncrementalParser
from spacy_lpcfg.trees.consensus import consensus
from spacy_lpcfg.trees.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.trees.parse import (
    GLUED,
    PARSED,
    UNCONSTRAINED,
    Parse,
    Posteriors,
    Undistributed,
    check_input,
    mirrored_spans,
    with_given,
)
from spacy_lpcfg.trees.tree import Span

Tags = Sequence[str | None]
DECODINGS = ("brackets", "votes", "reranking")
CHOICES = ("brackets", "tree", "reranking")
"""The decodings of `parser_of`."""


class Question(NamedTuple):
    """What a model is asked: of which trees of a sentence; fields as the arguments of `CombinedParser.parse`."""

    words: Sequence[str]
    tags: Tags | None
    tag_weight: float
    constraints: Constraints

    @property
    def settings(self) -> dict[str, Any]:
        """All but words and tags, as parsers of grammars take them."""
        return {"tag_weight": self.tag_weight, "constraints": self.constraints}

    @property
    def certain_tags(self) -> Tags | None:
        """For parsers that know tags as given or not at all."""
        return self.tags if self.tag_weight == 0 else None

    def mirrored(self) -> Question:
        """The same of the words from right to left."""
        n_words = len(self.words)
        tags = self.tags and self.tags[::-1]
        return Question(self.words[::-1], tags, self.tag_weight, self.constraints.mirrored(n_words))


class Reader(Protocol):
    """What one model thinks of a sentence."""

    def read(self, question: Question, likely: Collection[Span] | None) -> Reading:
        """Posteriors, and the forest of a grammar; `likely` as of the chart's `Parser.forest`, of no use to ISBNs."""
        ...

    def brackets(self, question: Question) -> list[Span]:
        """Those of its most probable tree, in pre-order."""
        ...

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """The likeliest tag of each word alone, from a table."""
        ...


class CombinedParser(Undistributed):
    """Parses sentences by what several models think of them; any number of threads may share one.

    combined (Combined): the models.
    decoding (str): "brackets" finds the brackets that nest and have the largest sum of mean posteriors, each less
        `Combined.bracket_cost` (minimum Bayes risk); "votes" those of more than half of the models' own most probable
        trees, every model with one vote, which has more trees right as a whole and fewer brackets; "reranking" one of
        the trees that a grammar finds, see `Reranker`.
    settings (Settings): how grammars prune; the first one for the others too.
    beam_settings (BeamSettings or None): how ISBNs search; None for the beam of `combined`.
    RAISES (ValueError): On another way of decoding.
    """

    def __init__(
        self,
        combined: Combined,
        *,
        decoding: str = "brackets",
        settings: Settings = Settings(),
        beam_settings: BeamSettings | None = None,
    ) -> None:
        if decoding not in DECODINGS:
            raise ValueError(f"Expected decoding to be one of {DECODINGS}, got {shown(decoding)}.")
        self.combined = combined
        self.decoding = decoding
        self._reranker = Reranker(combined.members, combined.weights) if decoding == "reranking" else None
        beam_settings = beam_settings or BeamSettings(beam=combined.beam)
        self._readers = [_reader(member, settings, beam_settings) for member in combined.members]
        self._prunes = [settings.cascade > 0 and not isinstance(straight(each), ISBN) for each in combined.members]

    def posteriors(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Posteriors:
        """The mean of the models' posteriors; arguments as of `parse`."""
        check_input(words, tags)
        return self._mean(self._read(Question(words, tags, tag_weight, constraints)))

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """The likeliest tag of each word alone, as the first model has it in a table."""
        return self._readers[0].likely_tags(words)

    def _mean(self, readings: Sequence[Reading]) -> Posteriors:
        return mean([reading.posteriors for reading in readings], self.combined.weights)

    def _read(self, question: Question) -> list[Reading]:
        found: list[Reading] = []
        likely: Collection[Span] | None = None
        for reader, prunes in zip(self._readers, self._prunes):
            found.append(reader.read(question, likely))
            if likely is None and prunes and not found[-1].posteriors.is_of_one:
                likely = found[-1].posteriors.brackets
        return found

    def parse(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Parse:
        """The tree that the models choose, as `decoding` says.

        words (sequence of str): in the treebank's spelling; at least one.
        tags (sequence of str or None): given tags, None where there is none; None for the models' own.
        tag_weight (float): as of the chart's `Parser.parse`; ISBNs take no notice of tags unless it is 0.
        constraints (Constraints): spans that the tree must have or must not have; if no model has such a tree, the tree
            is that without constraints, of status "unconstrained".
        RETURNS (Parse): its scores are those means; its log-probability is nan.
        RAISES (ValueError): As of the chart's `Parser.parse`.
        """
        check_input(words, tags)
        question = Question(words, tags, tag_weight, constraints)
        found = self._mean(self._read(question))
        best = self._reranker.best(words, tags, **question.settings) if self._reranker else None
        if best is not None:
            spans = best.spans()
        elif self.decoding == "votes":
            trees = [reader.brackets(question) for reader in self._readers]
            spans = _consensus(_votes(trees, found), len(words), 0.5, constraints)
        else:
            spans = _consensus(found.brackets, len(words), self.combined.bracket_cost, constraints)
        own = [max(of_word, key=of_word.__getitem__) for of_word in found.tags]
        return Parse(
            words=words,
            tags=with_given(own, question.certain_tags),
            spans=spans,
            span_scores=np.array([found.brackets.get(span, 0.0) for span in spans], dtype=np.float32),
            tag_scores=np.array([of_word[tag] for of_word, tag in zip(found.tags, own)], dtype=np.float32),
            log_probability=float("nan"),
            status=_status(spans, found, constraints),
        )

    def nearest(self, words: Sequence[str]) -> Parse | None:
        """The tree of least expected loss, as of "brackets", among those that a grammar has.

        words (sequence of str): as of `parse`.
        RETURNS (Parse or None): of the first grammar or ensemble that reads from left to right and has a tree over the
            whole sentence; None if there is none.
        """
        check_input(words, None)
        readings = self._read(Question(words, None, 0.0, NO_CONSTRAINTS))
        for member, reading in zip(self.combined.members, readings):
            if reading.forest is not None and isinstance(member, Grammar | Ensemble):
                grammar = member.grammars[0] if isinstance(member, Ensemble) else member
                cost = self.combined.bracket_cost
                return nearest_parse(reading.forest, grammar, words, self._mean(readings), bracket_cost=cost)
        return None


def _consensus(likely: dict[Span, float], n_words: int, cost: float, constraints: Constraints) -> list[Span]:
    """The consensus under constraints, or without them if they leave no tree."""
    kept = constraints.within(likely) if constraints else likely
    has_whole = n_words == 1 or any(end - start == n_words for start, end, _ in kept)
    return consensus(kept if has_whole else likely, n_words, cost=cost)


def _status(spans: list[Span], found: Posteriors, constraints: Constraints) -> str:
    """Of a tree by the posteriors of several models."""
    if not constraints.allow(spans):
        return UNCONSTRAINED
    is_parsed = len(found.tags) == 1 or found.brackets.get(spans[0], 0.0) > 0
    return PARSED if is_parsed else GLUED


def _votes(trees: Sequence[list[Span]], found: Posteriors) -> dict[Span, float]:
    """Shares of the models' trees that have a bracket, in pre-order; of half of them its posterior decides."""
    votes = Counter(span for spans in trees for span in set(spans))
    ranks = {span: rank for rank, span in enumerate(found.brackets)}
    order = sorted(votes, key=lambda span: (span[0], -span[1], ranks.get(span, len(ranks))))
    ties = {span: _TIE * (found.brackets.get(span, 0.0) - 0.5) for span in order}
    return {span: votes[span] / len(trees) + ties[span] for span in order}


_TIE = 1e-3  # of a posterior beside a vote


def parser_of(
    model: Learned, *, decoding: str = "brackets", settings: Settings = Settings()
) -> Parser | CombinedParser:
    """The parser by a grammar, an ensemble or a combination.

    decoding (str): "brackets" and "reranking" as of `CombinedParser`; "tree" for the votes of several models, and the
        tree by its rules of one.
    settings (Settings): how grammars prune; `decoding` goes before theirs.
    RAISES (ValueError): On another one, or for a model that cannot be decoded so.
    """
    check_decoding(decoding, model)
    if isinstance(model, Combined):
        return CombinedParser(model, decoding="votes" if decoding == "tree" else decoding, settings=settings)
    return chart_parser_of(model, settings=replace(settings, decoding="rules" if decoding == "tree" else decoding))


def check_decoding(decoding: str, model: Learned | None = None) -> None:
    """RAISES (ValueError): On another decoding than those of `parser_of`, or for a model that cannot be decoded so."""
    if decoding not in CHOICES:
        raise ValueError(f"Expected decoding to be one of {', '.join(CHOICES)}; got {shown(decoding)}.")
    can = isinstance(model, Combined) and can_rerank(model.members)
    if decoding == "reranking" and model is not None and not can:
        raise ValueError(
            f"Expected decoding to be 'brackets' or 'tree' for this {type(model).__name__}, got 'reranking', which "
            "needs a combination with a proper grammar (such as EM, Pivot and TreebankPCFG learn) that reads from left "
            "to right: learn one, such as the presets balanced and accurate, or take another decoding."
        )


def _reader(model: Member, settings: Settings, beam_settings: BeamSettings) -> Reader:
    if isinstance(model, Mirrored):
        return _MirroredReader(_reader(model.model, settings, beam_settings))
    if isinstance(model, ISBN):
        return _BeamReader(IncrementalParser(model, settings=replace(beam_settings, decoding="tree")))
    return _ChartReader(chart_parser_of(model, settings=replace(settings, decoding="rules")))


class _ChartReader:
    """A grammar's or an ensemble's parser, of any decoding but by brackets."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def read(self, question: Question, likely: Collection[Span] | None) -> Reading:
        return self._parser.read(question.words, question.tags, likely=likely, **question.settings)

    def brackets(self, question: Question) -> list[Span]:
        return self._parser.parse(question.words, question.tags, **question.settings).spans

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        return self._parser.likely_tags(words)


class _BeamReader:
    """A network's parser."""

    def __init__(self, parser: IncrementalParser) -> None:
        self._parser = parser

    def read(self, question: Question, likely: Collection[Span] | None) -> Reading:
        given = question.certain_tags
        return Reading(self._parser.posteriors(question.words, given, constraints=question.constraints))

    def brackets(self, question: Question) -> list[Span]:
        return self._parser.parse(question.words, question.certain_tags, constraints=question.constraints).spans

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        return self._parser.likely_tags(words)


class _MirroredReader:
    """A model that reads from right to left."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def read(self, question: Question, likely: Collection[Span] | None) -> Reading:
        mirrored = None if likely is None else mirrored_spans(likely, len(question.words))
        return Reading(self._reader.read(question.mirrored(), mirrored).posteriors.mirrored())

    def brackets(self, question: Question) -> list[Span]:
        return mirrored_spans(self._reader.brackets(question.mirrored()), len(question.words))

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        return self._reader.likely_tags(words)


def mean(posteriors: Sequence[Posteriors], weights: Sequence[float]) -> Posteriors:
    """Weighted means of the probabilities of brackets and tags, which rounding takes no higher than 1."""
    brackets: dict[tuple[int, int, str], float] = {}
    for one, weight in zip(posteriors, weights):
        _add(brackets, one.brackets.items(), weight)
    order = sorted(brackets, key=lambda bracket: (bracket[0], -bracket[1]))
    tags: list[dict[str, float]] = [{} for _ in posteriors[0].tags]
    for one, weight in zip(posteriors, weights):
        for of_word, other in zip(tags, one.tags):
            _add(of_word, other.items(), weight)
    of_tags = [{tag: min(p, 1.0) for tag, p in of_word.items()} for of_word in tags]
    return Posteriors({bracket: min(brackets[bracket], 1.0) for bracket in order}, of_tags)


def _add(sums: dict, items: Iterable[tuple], weight: float) -> None:
    for key, p in items:
        sums[key] = sums.get(key, 0.0) + weight * p
