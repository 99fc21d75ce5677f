"""One tree of what several parsers think of a sentence: minimum Bayes risk over the mean of their posteriors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from spacy_lpcfg.trees.consensus import consensus
from spacy_lpcfg.trees.parse import GLUED, PARSED, Parse, Posteriors

BRACKET_COST = 0.45


class Source(Protocol):
    """A parser that knows the posteriors of its brackets."""

    def posteriors(self, words: Sequence[str], tags: Sequence[str | None] | None = None) -> Posteriors: ...


class CombinedParser:
    """Parses sentences by what several parsers think of them.

    sources (sequence of Source): parsers, by any models of the same labels and tags.
    weights (sequence of float): how much each counts; they sum to 1.
    bracket_cost (float): a bracket less likely than this is better left out; more of it for precision, less for recall.
    RAISES (ValueError): On another number of weights, or such as are no shares.
    """

    def __init__(
        self, sources: Sequence[Source], weights: Sequence[float], *, bracket_cost: float = BRACKET_COST
    ) -> None:
        if len(weights) != len(sources) or not sources or min(weights) < 0 or not np.isclose(sum(weights), 1):
            raise ValueError(f"Expected a share for each of {len(sources)} parsers, got {list(weights)}.")
        self._sources = sources
        self._weights = weights
        self._bracket_cost = bracket_cost

    def posteriors(self, words: Sequence[str], tags: Sequence[str | None] | None = None) -> Posteriors:
        """The mean of the parsers' posteriors; arguments as of `parse`."""
        return mean([source.posteriors(words, tags) for source in self._sources], self._weights)

    def parse(self, words: Sequence[str], tags: Sequence[str | None] | None = None) -> Parse:
        """The tree of least expected loss.

        words (sequence of str): in the treebank's spelling; at least one.
        tags (sequence of str or None): given tags, None where there is none; None for the parsers' own.
        RAISES (ValueError): If there are no words, or other tags than words. Never because of what they are.
        """
        found = self.posteriors(words, tags)
        spans = consensus(found.brackets, len(words), cost=self._bracket_cost)
        own = [max(of_word, key=of_word.__getitem__) for of_word in found.tags]
        is_parsed = any(p > 0 for (start, end, _), p in found.brackets.items() if (start, end) == (0, len(words)))
        return Parse(
            words=words,
            tags=own if tags is None else [given or tag for given, tag in zip(tags, own)],
            spans=spans,
            span_scores=np.array([found.brackets[span] for span in spans], dtype=np.float32),
            tag_scores=np.array([of_word[tag] for of_word, tag in zip(found.tags, own)], dtype=np.float32),
            log_probability=float("nan"),
            status=PARSED if is_parsed else GLUED,
        )


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
