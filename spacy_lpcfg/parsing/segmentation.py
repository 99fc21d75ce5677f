"""Segmentation of long sentences: where to cut, how to join the trees of the pieces, and limits on words and time."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import thread_time

import numpy as np

from spacy_lpcfg.checks import COUNT, POSITIVE, at_least
from spacy_lpcfg.parsing.distribution import ListedDistribution
from spacy_lpcfg.parsing.protocol import Answer, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import (
    OUT_OF_TIME,
    SEGMENTED,
    UNCONSTRAINED,
    Analysis,
    Distribution,
    Parse,
    Posteriors,
    StateVectors,
    with_given,
    worst_status,
)
from spacy_lpcfg.trees.tree import Tree

_SECONDS = at_least(0).optional
_CUT = (
    "A sentence of %s words is split into %s pieces of at most %s words, which are parsed apart. Further long "
    "sentences are split likewise, without a message."
)
_DONE = "%s of %s pieces of a sentence are parsed."
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """Limits on words, time and memory for parsing one sentence.

    max_words (int): Sentences of more words are parsed in pieces of at most `max_words`, see `SegmentingParser`.
    max_seconds (float or None): CPU seconds after which the remaining pieces of a sentence get no brackets; None for
        no limit.
    max_memory (float or None): Memory in MB that the chart of a piece may take, for parsers that have charts; a piece
        with a larger chart is cut in two. None for the limit of `ChartSettings.max_applications`.
    RAISES (ValueError): If a limit is out of range.
    """

    max_words: int
    max_seconds: float | None = None
    max_memory: float | None = None

    def __post_init__(self) -> None:
        COUNT(max_words=self.max_words)
        _SECONDS(max_seconds=self.max_seconds)
        POSITIVE.optional(max_memory=self.max_memory)


def cut_where(can_cut: Sequence[bool], max_words: int, *, min_words: int = 1) -> list[int]:
    """Cut a sentence into pieces of at most `max_words`, each as long as possible, and return the cuts.

    can_cut (sequence of bool, (n_words,)): Whether there is a good place to cut before each word.
    max_words (int): The maximal length of a piece, and its length if there is no good place.
    min_words (int): The minimal length of a piece that is cut at a good place.
    RETURNS (list[int]): The index of the first word of each piece except the first, ascending.
    """
    cuts, start = [], 0
    while len(can_cut) - start > max_words:
        candidates = (i for i in range(start + max_words, start + min_words - 1, -1) if can_cut[i])
        start = next(candidates, start + max_words)
        cuts.append(start)
    return cuts


def cut_points(words: Sequence[str], max_words: int) -> list[int]:
    """Cut a sentence into pieces of at most `max_words`, after punctuation if possible, and return the cuts.

    A piece ends after the last punctuation mark in the second half of its `max_words` words, or else after all of them.
    Tokens without letters and digits count as punctuation marks.

    RETURNS (list[int]): The index of the first word of each piece except the first, ascending.
    """
    after_mark = [False, *(not any(char.isalnum() for char in word) for word in words[:-1])]
    return cut_where(after_mark, max_words, min_words=max_words // 2 + 1)


def join_parses(words: Sequence[str], parses: Sequence[Parse], label: str, status: str) -> Parse:
    """Join the parses of the pieces of a sentence, in order, below one bracket of score 0.

    words (sequence of str): The words of the whole sentence.
    parses (sequence of Parse): The parses of the pieces, at least one, which together have all the words.
    label (str): The label of the bracket over the whole sentence.
    status (str): The status of the result, unless a piece has a worse one.
    """
    spans, start = [(0, len(words), label)], 0
    for parse in parses:
        spans += [(start + i, start + j, name) for i, j, name in parse.spans]
        start += len(parse.tags)
    return Parse(
        words=words,
        tags=[tag for parse in parses for tag in parse.tags],
        spans=spans,
        span_scores=np.concatenate([np.zeros(1, np.float32), *(parse.span_scores for parse in parses)]),
        tag_scores=np.concatenate([parse.tag_scores for parse in parses]),
        log_probability=float("nan"),
        status=worst_status(status, *(parse.status for parse in parses)),
    )


def parse_segments(parse: Callable[[Query], Parse], query: Query, cuts: list[int], label: str, status: str) -> Parse:
    """Parse the pieces of a sentence one by one, and join the trees with `join_parses`.

    parse (callable): Called with the query of each piece, returns its parse.
    query (Query): The sentence; its constraints are ignored.
    cuts (list of int): The index of the first word of each piece except the first, ascending.
    label, status (str): As for `join_parses`.
    """
    bounds = zip([0, *cuts], [*cuts, len(query.words)], strict=True)
    return join_parses(query.words, [parse(query.part(start, end)) for start, end in bounds], label, status)


class SegmentingParser(SentenceParser):
    """Decorator of a parser that limits words and time; threads may share it if they may share `parser`.

    A sentence of more than `max_words` words is cut into pieces, where possible at punctuation, whose trees stand side
    by side below one bracket. The pieces are parsed one after the other. After `max_seconds` of CPU time the remaining
    words get no brackets; their tags are the given ones, or else `parser.likely_tags`. The clock is read before each
    piece, so that the last piece may exceed the limit; a sentence of at most `max_words` words always gets its tree.
    Without a limit of seconds, trees are the same on all machines.

    For a sentence that is cut, `posteriors` has only the brackets of the joined tree, `distribution` has no trees, and
    surprisals and log-probabilities are nan.

    parser (SentenceParser): The parser of the pieces, for any model.
    limits (Limits): The limits; `max_memory` is ignored here, since it has to be known to `parser`.
    """

    def __init__(self, parser: SentenceParser, limits: Limits) -> None:
        self.parser = parser
        self.kind = parser.kind
        self.limits = limits
        self._has_told = False

    @property
    def answers(self) -> frozenset[Answer]:
        return self.parser.answers

    def _fits(self, query: Query) -> bool:
        return len(query.words) <= self.limits.max_words

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence; the status is "segmented" if it was cut, "out-of-time" if part of it has no brackets.

        A cut sentence is parsed without regard to constraints, and has the status "unconstrained" unless its tree
        satisfies them.

        RAISES (ValueError): As for the parser of the pieces.
        """
        query = Query.of(query)
        if self._fits(query):
            return self.parser.parse(query)
        parses, is_late = self._parse_pieces(query)
        parse = join_parses(query.words, parses, _commonest_root(parses), OUT_OF_TIME if is_late else SEGMENTED)
        return parse if query.constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def _parse_pieces(self, query: Query) -> tuple[list[Parse], bool]:
        """Return the parses of the pieces of a sentence, and whether time was up before the last piece."""
        begin, start = thread_time(), 0
        parses: list[Parse] = []
        ends = [*cut_points(query.words, self.limits.max_words), len(query.words)]
        self._tell_once(len(query.words), len(ends))
        for end in ends:
            if start and self.limits.max_seconds is not None and thread_time() - begin >= self.limits.max_seconds:
                return [*parses, self._without_brackets(query.part(start, len(query.words)))], True
            parses.append(self.parser.parse(query.part(start, end)))
            logger.info(_DONE, len(parses), len(ends))
            start = end
        return parses, False

    def _tell_once(self, n_words: int, n_pieces: int) -> None:
        """Warn, for the first sentence only, that it is cut into pieces; parsing them may take a while."""
        if not self._has_told:
            self._has_told = True
            logger.warning(_CUT, n_words, n_pieces, self.limits.max_words)

    def _without_brackets(self, query: Query) -> Parse:
        """Return a parse without brackets, with given tags or likely tags, all of score 0; nothing is searched."""
        tags = with_given(self.parser.likely_tags(query.words), None if query.tag_weight == 1 else query.tags)
        no_scores = np.zeros(0, np.float32), np.zeros(len(tags), np.float32)
        return Parse(query.words, tags, [], *no_scores, float("nan"), OUT_OF_TIME)

    def prepare(self, queries: Sequence[Query]) -> list[Query]:
        """Return the queries as `parser.prepare` does; sentences that will be cut stay as they are."""
        short = iter(self.parser.prepare([query for query in queries if self._fits(query)]))
        return [next(short) if self._fits(query) else query for query in queries]

    def read(self, query: Sentence) -> SentenceReading:
        """Return the posteriors of a sentence; if the sentence is cut, the scores of its joined tree."""
        query = Query.of(query)
        if self._fits(query):
            return self.parser.read(query)
        return SentenceReading.of(self.parse(query))

    def tempered_posteriors(self, query: Sentence, taus: Sequence[float]) -> list[Posteriors]:
        """Return the posteriors for each tau; for a sentence that is cut, the scores of its joined tree instead."""
        query = Query.of(query)
        if self._fits(query):
            return self.parser.tempered_posteriors(query, taus)
        return [Posteriors.of(self.parse(query))] * len(taus)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        return self.parser.likely_tags(words)

    def distribution(self, query: Sentence) -> Distribution:
        self.require("distribution")
        query = Query.of(query)
        return self.parser.distribution(query) if self._fits(query) else ListedDistribution(())

    def n_best(self, query: Sentence, n: int) -> list[Analysis]:
        self.require("distribution")
        query = Query.of(query)
        return self.parser.n_best(query, n) if self._fits(query) else ListedDistribution(()).n_best(n)

    def states(self, query: Sentence) -> list[StateVectors]:
        self.require("states")
        query = Query.of(query)
        return self.parser.states(query) if self._fits(query) else []

    def surprisal(self, query: Sentence) -> np.ndarray:
        self.require("surprisal")
        query = Query.of(query)
        return self.parser.surprisal(query) if self._fits(query) else np.full(len(query.words) + 1, np.nan)

    def log_probability(self, query: Sentence) -> float:
        self.require("log_probability")
        query = Query.of(query)
        return self.parser.log_probability(query) if self._fits(query) else np.nan

    def tree_log_probability(self, tree: Tree) -> float:
        """Return ln P(tree, words) in nats; also for a long sentence, since the tree leaves little to search."""
        return self.parser.tree_log_probability(tree)


def _commonest_root(parses: Sequence[Parse]) -> str:
    """Return the most frequent label at the top of the pieces; "S" if no piece has a bracket."""
    roots = Counter(parse.spans[0][2] for parse in parses if parse.spans)
    return max(roots, key=roots.__getitem__, default="S")
