"""The frozen result of learning: words and tags in, brackets out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.metric_model import MetricModel
from spacy_lpcfg.bracketing.sentences import Plain, Sentence, plain
from spacy_lpcfg.bracketing.span_model import SpanModel
from spacy_lpcfg.bracketing.storage import BracketerError, pack_parts, unpack_parts
from spacy_lpcfg.bracketing.top import heuristic_split
from spacy_lpcfg.parsing.segmentation import cut_where
from spacy_lpcfg.storage.container import Stored

__all__ = ["Bracketer", "BracketerError", "Brackets"]

MAX_WORDS = 400
_LONGEST_BY_METRIC = 60


class Brackets(NamedTuple):
    """The brackets of a sentence.

    spans (tuple of (int, int)): half-open, over all its tokens; of two or more words that are no punctuation, neither
        beginning nor ending with punctuation; in pre-order, the whole sentence first.
    scores (tuple of float): from 0 to 1, one for each span: the logistic function of how much speaks for it, which is 1
        for the whole sentence. With scores of spans that is the logarithm of how much likelier what it holds and what
        stands around it are of a bracket; without, the length of the edge above it.
    """

    spans: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Bracketer(Stored):
    """Brackets sentences.

    metric (MetricModel): distances, of which it makes minimal trees where there are no scores of spans.
    span_model (SpanModel or None): scores of spans, learned from such trees.
    meta (dict): what was learned from what, for people; strings, numbers and lists.
    """

    metric: MetricModel
    span_model: SpanModel | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def bracket(self, words: Sequence[str], tags: Sequence[str], *, max_words: int = MAX_WORDS) -> Brackets:
        """The brackets of a sentence; none of less than two words. They depend on its words and tags alone.

        max_words (int): sentences of more words, punctuation left out, are cut into pieces, where possible at
            punctuation, that hang on each other to the right; by the metric those of more than 60 in any case. Time
            grows with the cube of a piece's length, and memory with the square.
        RAISES (ValueError): If there are not as many tags as words.
        """
        sentence = plain(words, tags)
        places, n = sentence.places, len(sentence.places)
        if n < 2:
            return Brackets((), ())
        spans, scores = [(places[0], places[-1] + 1)], [1.0]
        for (start, end), score in self._below(words, sentence, self._longest(max_words)):
            spans.append((places[start], places[end - 1] + 1))
            scores.append(score)
        return Brackets(tuple(spans), tuple(scores))

    def bracket_all(self, sentences: Iterable[Sentence], *, max_words: int = MAX_WORDS) -> list[Brackets]:
        """The brackets of many sentences; same arguments and errors as `bracket`."""
        return [self.bracket(words, tags, max_words=max_words) for words, tags in sentences]

    def is_cut(self, words: Sequence[str], tags: Sequence[str], *, max_words: int = MAX_WORDS) -> bool:
        """Whether `bracket` cuts a sentence into pieces."""
        longest = self._longest(max_words)
        return len(words) > longest and len(plain(words, tags).places) > longest

    def _longest(self, max_words: int) -> int:
        return min(max_words, _LONGEST_BY_METRIC) if self.span_model is None else max_words

    def _below(self, words: Sequence[str], sentence: Plain, longest: int) -> Iterator[tuple[tuple[int, int], float]]:
        """Brackets among the words of a sentence without the whole of it, with their scores."""
        n = len(sentence.places)
        if n <= longest:
            yield from zip(*self._tree(words, sentence), strict=True)
            return
        pieces = _pieces(sentence.segments, longest)
        for number, (start, end) in enumerate(pieces):
            if 0 < number < len(pieces) - 1:
                yield (start, n), 0.5
            if end - start > 1:
                yield (start, end), 0.5
                for (i, j), score in zip(*self._tree(*_part(words, sentence, start, end)), strict=True):
                    yield (start + i, start + j), score

    def _tree(self, words: Sequence[str], sentence: Plain) -> tuple[list[tuple[int, int]], list[float]]:
        segments = np.array(sentence.segments, dtype=np.int32)
        if self.span_model is not None:
            symbols = self.span_model.symbols.encode(words, sentence)
            return self.span_model.spans(symbols, segments, self.span_model.split(sentence, symbols))
        tags = np.array(sentence.universal, dtype=np.int32)
        spans, edges = self.metric.tree(tags, segments, heuristic_split(sentence))
        scores = 1 / (1 + np.exp(-np.clip(edges, -500, 500)))
        return [(i, j) for i, j in spans.tolist()], scores.tolist()

    def to_bytes(self) -> bytes:
        """The bracketer as msgpack with a checksum."""
        return pack_parts(self.metric, self.span_model, self.meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bracketer:
        """The bracketer that `to_bytes` wrote.

        RAISES (BracketerError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        return cls(*unpack_parts(data))


def _pieces(segments: Sequence[int], longest: int) -> list[tuple[int, int]]:
    """Stretches of at most `longest` words, cut at the last punctuation in reach, if there is any."""
    cuts = cut_where([False, *(before != after for before, after in pairwise(segments))], longest)
    return list(pairwise([0, *cuts, len(segments)]))


def _part(words: Sequence[str], sentence: Plain, start: int, end: int) -> tuple[Sequence[str], Plain]:
    """The words [start, end) of a sentence and the punctuation between them: tokens, and them as a sentence."""
    places = sentence.places[start:end]
    first, last = places[0], places[-1] + 1
    part = Plain(
        tuple(place - first for place in places),
        sentence.universal[start:end],
        sentence.segments[start:end],
        sentence.tokens[first:last],
    )
    return words[first:last], part
