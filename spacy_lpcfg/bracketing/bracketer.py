"""The bracketer: the immutable result of learning, which predicts unlabelled brackets from words and tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.extensions.span_model import SpanModel
from spacy_lpcfg.bracketing.paper.metric_model import MetricModel
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import Plain, plain
from spacy_lpcfg.bracketing.storage import BracketerError, pack_parts, unpack_parts
from spacy_lpcfg.parsing.segmentation import cut_where
from spacy_lpcfg.storage.container import Stored
from spacy_lpcfg.trees.tree import Tree

__all__ = ["BRACKET", "MAX_WORDS", "SENTENCE", "Bracketer", "BracketerError", "Brackets", "bracketed_tree"]

SENTENCE, BRACKET = "S", "X"  # labels of trees of brackets; X is the Penn Treebank's for a constituent of unknown kind

MAX_WORDS = 400
_LONGEST_BY_METRIC = 60


class Brackets(NamedTuple):
    """The predicted brackets (unlabelled constituents) of a sentence.

    spans (tuple of (int, int)): Half-open spans of tokens in pre-order, the whole sentence first. A span has two or
        more words without punctuation, and neither begins nor ends with punctuation.
    scores (tuple of float): A score for each span, from 0 to 1: 1 for the whole sentence; 0.5 for the pieces of a long
        sentence and the spans that join them; otherwise the logistic function of the log-odds of the span's yield and
        context, or without a span model of the length of the edge above it.
    """

    spans: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]


def bracketed_tree(words: Sequence[str], tags: Sequence[str], spans: Iterable[tuple[int, int]]) -> Tree:
    """Build the tree of a bracketed sentence: S over the whole sentence, X over every other bracket.

    words, tags (sequence of str, (n_tokens,)): Tokens and their part-of-speech tags.
    spans (iterable of (start, end)): The brackets; the bracket over the whole sentence may be missing.
    RAISES (ValueError): If there are no words, or the numbers of words and tags differ.
    """
    inner = [(start, end, BRACKET) for start, end in spans if (start, end) != (0, len(words))]
    return Tree.from_spans(words, tags, [(0, len(words), SENTENCE), *inner])


@dataclass(frozen=True, eq=False)
class Bracketer(Stored):
    """A learned model that predicts unlabelled brackets of sentences.

    metric (MetricModel): Distances between words, whose minimal trees are the prediction if there is no span model.
    span_model (SpanModel or None): Scores of spans, learned from minimal trees; None to predict with `metric`.
    meta (dict): A record of how the bracketer was learned; strings, numbers and lists.
    """

    metric: MetricModel
    span_model: SpanModel | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def bracket(self, words: Sequence[str], tags: Sequence[str], *, max_words: int = MAX_WORDS) -> Brackets:
        """Predict the brackets of a sentence.

        words, tags (sequence of str, (n_tokens,)): Tokens and their part-of-speech tags.
        max_words (int): Sentences of more words (without punctuation) are cut into pieces, if possible at punctuation,
            which are joined in a right-branching tree. Without a span model the limit is at most 60 words. Time grows
            with the cube of a piece's length, and memory with the square.
        RETURNS (Brackets): The brackets; empty tuples if the sentence has less than two words without punctuation.
        RAISES (ValueError): If the numbers of words and tags differ.
        """
        sentence = plain(words, tags)
        positions, n = sentence.positions, len(sentence.positions)
        if n < 2:
            return Brackets((), ())
        spans, scores = [(positions[0], positions[-1] + 1)], [1.0]
        for (start, end), score in self._below(words, sentence, self._longest(max_words)):
            spans.append((positions[start], positions[end - 1] + 1))
            scores.append(score)
        return Brackets(tuple(spans), tuple(scores))

    def is_cut(self, words: Sequence[str], tags: Sequence[str], *, max_words: int = MAX_WORDS) -> bool:
        """Return whether `bracket`, with the same arguments, cuts a sentence into pieces."""
        longest = self._longest(max_words)
        return len(words) > longest and len(plain(words, tags).positions) > longest

    def _longest(self, max_words: int) -> int:
        return min(max_words, _LONGEST_BY_METRIC) if self.span_model is None else max_words

    def _below(self, words: Sequence[str], sentence: Plain, longest: int) -> Iterator[tuple[tuple[int, int], float]]:
        """Yield each bracket except for the whole sentence, as (start, end) among the words, with its score."""
        n = len(sentence.positions)
        if n <= longest:
            yield from zip(*self._tree(words, sentence), strict=True)
            return
        pieces = _pieces(sentence.segments, longest)
        for number, (start, end) in enumerate(pieces):
            if 0 < number < len(pieces) - 1:
                yield (start, n), 0.5
            if end - start > 1:
                yield (start, end), 0.5
                for (i, j), score in zip(*self._tree(*_slice(words, sentence, start, end)), strict=True):
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
        """Serialize the bracketer as msgpack with a checksum."""
        return pack_parts(self.metric, self.span_model, self.meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bracketer:
        """Deserialize a bracketer that `to_bytes` wrote.

        RAISES (BracketerError): If the bytes are damaged, inconsistent, of another format or not a bracketer.
        """
        return cls(*unpack_parts(data))


def _pieces(segments: Sequence[int], longest: int) -> list[tuple[int, int]]:
    """Cut a sentence into pieces of at most `longest` words, at the last punctuation within reach if there is any.

    segments (sequence of int): Segments of the words, as in `Plain`.
    RETURNS (list of (start, end)): The pieces, as half-open ranges of words.
    """
    cuts = cut_where([False, *(before != after for before, after in pairwise(segments))], longest)
    return list(pairwise([0, *cuts, len(segments)]))


def _slice(words: Sequence[str], sentence: Plain, start: int, end: int) -> tuple[Sequence[str], Plain]:
    """Return the words [start, end) of a sentence, with punctuation between them, as (tokens, `Plain`)."""
    positions = sentence.positions[start:end]
    first, last = positions[0], positions[-1] + 1
    piece = Plain(
        tuple(position - first for position in positions),
        sentence.universal[start:end],
        sentence.segments[start:end],
        sentence.tokens[first:last],
    )
    return words[first:last], piece
