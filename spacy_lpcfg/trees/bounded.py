"""Limits on what a parser of any model may take for one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import thread_time
from typing import Any

import numpy as np

from spacy_lpcfg.trees.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.trees.distribution import ListedDistribution
from spacy_lpcfg.trees.parse import (
    OUT_OF_TIME,
    SEGMENTED,
    UNCONSTRAINED,
    Analysis,
    Distribution,
    Parse,
    Posteriors,
    check_input,
    with_given,
)
from spacy_lpcfg.trees.pieces import cuts_of, joined
from spacy_lpcfg.trees.tree import Tree

Tags = Sequence[str | None]


class BoundedParser:
    """A parser that parses longer sentences in pieces; any number of threads may share one if they may share `parser`.

    parser (object): of any model.
    max_words (int): a sentence of more words is cut into pieces of at most so many, where possible at punctuation, and
        their trees stand side by side below one bracket. Time and memory are those of its pieces, one after the other.
    max_seconds (float or None): CPU seconds of the thread after which the words of a cut sentence that are left get no
        brackets, and the tags that `likely_tags` of the parser looks up, or given ones. The clock is looked at before
        each piece, so that a sentence may take one piece longer; one of no more than `max_words` always gets its tree.
        None for no limit, which alone makes the same trees on all machines.
    RAISES (ValueError): On a limit of less than a word, or than 0 seconds.

    Methods and arguments are those of `parser`. Of a sentence that is cut, `posteriors` has the one tree's, there is no
    distribution over trees, and surprisals and log-probabilities of words are nan.
    """

    def __init__(self, parser: Any, *, max_words: int, max_seconds: float | None = None) -> None:
        check_bounds(max_words, max_seconds)
        self.parser = parser
        self.max_words = max_words
        self.max_seconds = max_seconds

    def parse(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        *,
        constraints: Constraints = NO_CONSTRAINTS,
        **settings: Any,
    ) -> Parse:
        """The tree of a sentence; of status "segmented" if it was cut, "out-of-time" if part of it has no brackets.

        constraints (Constraints): a cut sentence is parsed without regard to them, and is of status "unconstrained"
            unless its tree satisfies them.
        RAISES (ValueError): As of the parser.
        """
        if len(words) <= self.max_words:
            return self.parser.parse(words, tags, constraints=constraints, **settings)
        check_input(words, tags)
        constraints.check(len(words))
        parses, is_late = self._parse_pieces(words, tags, settings)
        parse = joined(words, parses, _commonest_root(parses), OUT_OF_TIME if is_late else SEGMENTED)
        return parse if constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def _parse_pieces(
        self, words: Sequence[str], tags: Tags | None, settings: dict[str, Any]
    ) -> tuple[list[Parse], bool]:
        """Parses side by side over all words, and whether there was too little time for some of them."""
        begin, start = thread_time(), 0
        parses: list[Parse] = []
        for end in [*cuts_of(words, self.max_words), len(words)]:
            if start and self.max_seconds is not None and thread_time() - begin >= self.max_seconds:
                given = None if tags is None or settings.get("tag_weight") == 1 else tags[start:]
                return [*parses, self._without_brackets(words[start:], given)], True
            piece = words[start:end], None if tags is None else tags[start:end]
            parses.append(self.parser.parse(*piece, **settings))
            start = end
        return parses, False

    def _without_brackets(self, words: Sequence[str], tags: Tags | None) -> Parse:
        """Given or likely tags, of score 0, and nothing else: what there is always time for."""
        own = with_given(self.parser.likely_tags(words), tags)
        no_scores = np.zeros(0, np.float32), np.zeros(len(words), np.float32)
        return Parse(words, own, [], *no_scores, float("nan"), OUT_OF_TIME)

    def posteriors(self, words: Sequence[str], tags: Tags | None = None, **settings: Any) -> Posteriors:
        """Probabilities of brackets and tags."""
        if len(words) <= self.max_words:
            return self.parser.posteriors(words, tags, **settings)
        return Posteriors.of(self.parse(words, tags, **settings))

    def distribution(self, words: Sequence[str], tags: Tags | None = None, **settings: Any) -> Distribution:
        """P(tree | words)."""
        if len(words) <= self.max_words:
            return self.parser.distribution(words, tags, **settings)
        return ListedDistribution(())

    def n_best(self, words: Sequence[str], tags: Tags | None = None, *, n: int, **settings: Any) -> list[Analysis]:
        """The n most probable trees."""
        return self.parser.n_best(words, tags, n=n, **settings) if len(words) <= self.max_words else []

    def states(self, words: Sequence[str], tags: Tags | None = None, **settings: Any) -> list[Any]:
        """State vectors of the constituents of the tree."""
        return self.parser.states(words, tags, **settings) if len(words) <= self.max_words else []

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Bits of each word and of the end, float64 (n_words + 1,)."""
        return self.parser.surprisal(words) if len(words) <= self.max_words else np.full(len(words) + 1, np.nan)

    def log_probability(self, words: Sequence[str]) -> float:
        """ln P(words) in nats."""
        return self.parser.log_probability(words) if len(words) <= self.max_words else np.nan

    def tree_log_probability(self, tree: Tree) -> float:
        """ln P(tree, words) in nats; that of a long sentence too, of which the tree leaves little to search."""
        return self.parser.tree_log_probability(tree)


def check_bounds(max_words: int, max_seconds: float | None = None) -> None:
    """RAISES (ValueError): On a limit of less than a word, or than 0 seconds."""
    if max_words < 1 or (max_seconds is not None and not max_seconds >= 0):
        raise ValueError(
            f"Expected max_words of at least 1, and max_seconds of at least 0 or None for no limit; got {max_words} "
            f"and {max_seconds}."
        )


def _commonest_root(parses: Sequence[Parse]) -> str:
    """The label that most pieces have on top; "S" if none has any."""
    roots = Counter(parse.spans[0][2] for parse in parses if parse.spans)
    return max(roots, key=roots.__getitem__, default="S")
