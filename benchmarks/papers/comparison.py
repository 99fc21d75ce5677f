"""Compare a bracketer with its baselines, on the same sentences and by the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.branching import (
    left_branching,
    random_branching,
    right_branching,
    right_branching_inside_top,
    upper_bound,
)
from benchmarks.papers.ccm_model import CCM
from spacy_lpcfg.bracketing.bracketer import Brackets
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import plain
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.evaluation.unlabelled import (
    LENGTHS,
    Bracket,
    UnlabelledScore,
    UnlabelledTotals,
    counted_brackets,
    score_brackets,
    unlabelled_totals,
)
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import remove_empty

ALL = "all"
BRACKETER = "spectral_bracketer"
RIGHT_BRANCHING, INSIDE_TOP = "right-branching", "right-branching inside top"
RANDOM, UPPER_BOUND = "random trees", "best binary trees"
LIMITS: dict[str, int | None] = {**{str(length): length for length in LENGTHS}, ALL: None}
"""Limits of sentence length by name, in words without punctuation."""

Spans = Sequence[Bracket]


Bracketing = Callable[[Sequence[str], Sequence[str]], Brackets]
"""A function from words and tags to brackets."""
Table = dict[str, dict[str, UnlabelledTotals]]
"""Scores by system and by limit of sentence length."""


@dataclass(frozen=True)
class GoldSentence:
    """A sentence with its gold brackets.

    tagged (TaggedSentence): All tokens of the sentence, the input of the bracketer.
    keep (tuple of bool): Whether each token counts, as punctuation does not.
    gold (frozenset of (start, end)): Gold brackets of two or more words, with positions among the words that count.
    """

    tagged: TaggedSentence
    keep: tuple[bool, ...]
    gold: frozenset[Bracket]

    @classmethod
    def of(cls, tree: Tree) -> GoldSentence | None:
        """Convert a gold tree; return None if fewer than two of its words count."""
        stripped = remove_empty(tree)
        if stripped is None:
            return None
        tagged = TaggedSentence.of(stripped)
        keep = tuple(not is_punctuation(tag, word) for word, tag in zip(*tagged, strict=True))
        gold = counted_brackets(((start, end) for start, end, _ in stripped.spans()), keep)
        return cls(tagged, keep, gold) if sum(keep) > 1 else None

    @property
    def n_words(self) -> int:
        """Number of words that count."""
        return sum(self.keep)

    @property
    def tags(self) -> list[str]:
        """Tags of the words that count."""
        return [tag for tag, counts in zip(self.tagged.tags, self.keep, strict=True) if counts]

    def score(self, spans: Iterable[Bracket]) -> UnlabelledScore:
        """Score brackets, with positions among the words that count."""
        return score_brackets(self.gold, spans, [True] * self.n_words)


def gold_sentences(trees: Iterable[Tree]) -> Iterator[GoldSentence]:
    """Yield the sentences of trees that have two or more words without punctuation."""
    return filter(None, map(GoldSentence.of, trees))


def compare(
    bracket: Bracketing | None,
    golds: Sequence[GoldSentence],
    *,
    text: Iterable[TaggedSentence] = (),
    seed: int = 0,
) -> Table:
    """Score a bracketer, the trees of `baselines`, and CCM.

    bracket (callable or None): `Bracketer.bracket` or a function of the same signature; None for baselines only.
    golds (sequence of GoldSentence): The test sentences.
    text (iterable of TaggedSentence): Sentences from whose tags CCM learns, in addition to the test sentences.
    seed (int): Seed of the random trees.
    RETURNS (Table): Scores by system and by limit of length ("10", "20", "40", "all").
    RAISES (ValueError): If there are no sentences.
    """
    if not golds:
        raise ValueError("Expected trees of at least two words without punctuation, got none.")
    table = {name: _totals(golds, map(tree_of, golds)) for name, tree_of in baselines(seed).items()}
    table["CCM"] = _ccm_totals(golds, [_kept_tags(*sentence) for sentence in text])
    if bracket is not None:
        spans = (_counted(bracket(*gold.tagged), gold) for gold in golds)
        table[BRACKETER] = _totals(golds, spans)
    return table


def baselines(seed: int = 0) -> dict[str, Callable[[GoldSentence], Spans]]:
    """Return the systems that learn nothing: branching and random trees, and the binary trees nearest to gold."""
    random = np.random.default_rng(seed)
    return {
        "left-branching": lambda gold: left_branching(gold.n_words),
        RIGHT_BRANCHING: lambda gold: right_branching(gold.n_words),
        INSIDE_TOP: lambda gold: right_branching_inside_top(gold.n_words, heuristic_split(plain(*gold.tagged))),
        RANDOM: lambda gold: random_branching(gold.n_words, random),
        UPPER_BOUND: lambda gold: upper_bound(gold.n_words, gold.gold),
    }


def _counted(brackets: Brackets, sentence: GoldSentence) -> Spans:
    return list(counted_brackets(brackets.spans, sentence.keep))


def _totals(golds: Sequence[GoldSentence], bracketings: Iterable[Spans]) -> dict[str, UnlabelledTotals]:
    scores = [gold.score(spans) for gold, spans in zip(golds, bracketings, strict=True)]
    return {name: unlabelled_totals(scores, limit) for name, limit in LIMITS.items()}


def _ccm_totals(golds: Sequence[GoldSentence], text: Sequence[list[str]]) -> dict[str, UnlabelledTotals]:
    """Score CCM by limit of length, each time learned from the sentences up to that limit, since longer ones do harm.

    The model of the largest limit is used for sentences of any length.
    """
    totals = {}
    model = None
    tags = [*(gold.tags for gold in golds), *text]
    for name, limit in LIMITS.items():
        short = [sentence for sentence in tags if limit is not None and 1 < len(sentence) <= limit]
        if short:
            model = CCM().fit(short)
        counted = [gold for gold in golds if limit is None or gold.n_words <= limit]
        scores = [gold.score(model.bracket(gold.tags) if model else []) for gold in counted]
        totals[name] = unlabelled_totals(scores)
    return totals


def oracle_split(n: int, gold: Iterable[tuple[int, int]]) -> int:
    """Return the top split that agrees best with a gold tree; 0 for less than two words.

    The best split crosses the fewest gold spans; among these, it has the most gold spans as halves; among these, it is
    the first.

    n (int): Number of words without punctuation.
    gold (iterable of (int, int)): Spans of the gold tree over these words.
    """
    spans = {(start, end) for start, end in gold if 1 < end - start < n}

    def quality(split: int) -> tuple[int, int]:
        cut = sum(start < split < end for start, end in spans)
        return -cut, ((0, split) in spans) + ((split, n) in spans)

    return max(range(1, n), key=quality, default=0)


def _kept_tags(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    return [tag for word, tag in zip(words, tags, strict=True) if not is_punctuation(tag, word)]
