"""Long sentences: where they are cut, how the pieces become one tree, and limits on what one sentence may take."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Limits:
    """Limits on words, time and memory of parsing one sentence.

    max_words (int): A sentence of more words is parsed in pieces of at most so many, see `SegmentingParser`.
    max_seconds (float or None): CPU seconds after which the words of such a sentence that are left get no brackets;
        None for no limit.
    max_memory (float or None): MB that the chart of a piece may take, for parsers that have charts; a piece with a
        larger one is cut in two. None for their own limit, `ChartSettings.max_applications`.
    RAISES (ValueError): If one of them is no such number.
    """

    max_words: int
    max_seconds: float | None = None
    max_memory: float | None = None

    def __post_init__(self) -> None:
        COUNT(max_words=self.max_words)
        _SECONDS(max_seconds=self.max_seconds)
        POSITIVE.optional(max_memory=self.max_memory)


def cut_where(can_cut: Sequence[bool], max_words: int, *, min_words: int = 1) -> list[int]:
    """Return where to cut a sentence into pieces, each as long as may be.

    can_cut (sequence of bool): (n_words,), whether there is a good place to cut before each word.
    max_words (int): The length of a piece, and where it is cut if there is no good place.
    min_words (int): The least length of a piece that is cut at a good place.
    RETURNS (list[int]): The first word of each piece but the first.
    """
    cuts, start = [], 0
    while len(can_cut) - start > max_words:
        places = (i for i in range(start + max_words, start + min_words - 1, -1) if can_cut[i])
        start = next(places, start + max_words)
        cuts.append(start)
    return cuts


def cut_points(words: Sequence[str], max_words: int) -> list[int]:
    """Return where to cut a sentence: pieces end at the last punctuation in their second half, or at `max_words`."""
    after_mark = [False, *(not any(char.isalnum() for char in word) for word in words[:-1])]
    return cut_where(after_mark, max_words, min_words=max_words // 2 + 1)


def join_parses(words: Sequence[str], parses: Sequence[Parse], label: str, status: str) -> Parse:
    """Join the parses of the pieces of a sentence, in order, below a bracket with a label, of score 0.

    status (str): The status of the cut; a worse one of a piece takes its place.
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
    """Return the pieces of a sentence between the cuts, each parsed by itself."""
    bounds = zip([0, *cuts], [*cuts, len(query.words)], strict=True)
    return join_parses(query.words, [parse(query.part(start, end)) for start, end in bounds], label, status)


class SegmentingParser(SentenceParser):
    """A parser that parses long sentences in pieces; any number of threads may share one if they may share `parser`.

    parser (SentenceParser): Of any model.
    max_words (int): A sentence of more words is cut into pieces of at most so many, where possible at punctuation, and
        their trees stand side by side below one bracket. Time and memory are those of its pieces, one after the other.
    max_seconds (float or None): CPU seconds of the thread after which the words of a cut sentence that are left get no
        brackets, and the tags that `likely_tags` of the parser looks up, or given ones. The clock is looked at before
        each piece, so that a sentence may take one piece longer; one of no more than `max_words` always gets its tree.
        None for no limit, which alone makes the same trees on all machines.
    RAISES (ValueError): On a limit of less than a word, or than 0 seconds.

    For a sentence that is cut, `posteriors` has those of the one tree, there is no distribution over trees, and
    surprisals and log-probabilities are nan.
    """

    def __init__(self, parser: SentenceParser, *, max_words: int, max_seconds: float | None = None) -> None:
        COUNT(max_words=max_words)
        _SECONDS(max_seconds=max_seconds)
        self.parser = parser
        self.kind = parser.kind
        self.max_words = max_words
        self.max_seconds = max_seconds

    @property
    def answers(self) -> frozenset[Answer]:
        """The questions that the parser of the segments can answer."""
        return self.parser.answers

    def _fits(self, query: Query) -> bool:
        return len(query.words) <= self.max_words

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence; the status is "segmented" if it was cut, "out-of-time" if part of it has no brackets.

        A cut sentence is parsed without regard to constraints, and is of status "unconstrained" unless its tree
        satisfies them. RAISES (ValueError): As the parser.
        """
        query = Query.of(query)
        if self._fits(query):
            return self.parser.parse(query)
        parses, is_late = self._parse_pieces(query)
        parse = join_parses(query.words, parses, _commonest_root(parses), OUT_OF_TIME if is_late else SEGMENTED)
        return parse if query.constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def _parse_pieces(self, query: Query) -> tuple[list[Parse], bool]:
        """Parse the pieces of a sentence; return their parses, and whether time was up before the last."""
        begin, start = thread_time(), 0
        parses: list[Parse] = []
        for end in [*cut_points(query.words, self.max_words), len(query.words)]:
            if start and self.max_seconds is not None and thread_time() - begin >= self.max_seconds:
                return [*parses, self._without_brackets(query.part(start, len(query.words)))], True
            parses.append(self.parser.parse(query.part(start, end)))
            start = end
        return parses, False

    def _without_brackets(self, query: Query) -> Parse:
        """Return a parse without brackets, with given or likely tags of score 0, which takes no time."""
        tags = with_given(self.parser.likely_tags(query.words), None if query.tag_weight == 1 else query.tags)
        no_scores = np.zeros(0, np.float32), np.zeros(len(tags), np.float32)
        return Parse(query.words, tags, [], *no_scores, float("nan"), OUT_OF_TIME)

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """Read a sentence by the parser, or return the posteriors of the single tree if the sentence is cut."""
        query = Query.of(query)
        if self._fits(query):
            return self.parser.read(query, guide=guide)
        return SentenceReading.of(self.parse(query))

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return a frequent tag of each word without context, as the parser of the segments has it."""
        return self.parser.likely_tags(words)

    def distribution(self, query: Sentence) -> Distribution:
        """Return the distribution P(tree | words)."""
        self.require("distribution")
        query = Query.of(query)
        return self.parser.distribution(query) if self._fits(query) else ListedDistribution(())

    def n_best(self, query: Sentence, n: int) -> list[Analysis]:
        """Return the n most probable trees."""
        self.require("distribution")
        query = Query.of(query)
        return self.parser.n_best(query, n) if self._fits(query) else []

    def states(self, query: Sentence) -> list[StateVectors]:
        """Return the state vectors of the constituents of the tree."""
        self.require("states")
        query = Query.of(query)
        return self.parser.states(query) if self._fits(query) else []

    def surprisal(self, query: Sentence) -> np.ndarray:
        """Return the surprisal of each word and of the end, in bits, float64 (n_words + 1,)."""
        self.require("surprisal")
        query = Query.of(query)
        return self.parser.surprisal(query) if self._fits(query) else np.full(len(query.words) + 1, np.nan)

    def log_probability(self, query: Sentence) -> float:
        """Return ln P(words) in nats."""
        self.require("log_probability")
        query = Query.of(query)
        return self.parser.log_probability(query) if self._fits(query) else np.nan

    def tree_log_probability(self, tree: Tree) -> float:
        """Return ln P(tree, words) in nats; of a long sentence too, since its tree leaves little to search."""
        return self.parser.tree_log_probability(tree)


def _commonest_root(parses: Sequence[Parse]) -> str:
    """Return the label that most pieces have on top; "S" if none has any."""
    roots = Counter(parse.spans[0][2] for parse in parses if parse.spans)
    return max(roots, key=roots.__getitem__, default="S")
