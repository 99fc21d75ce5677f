"""A bracketer beside everything that it has to beat, on the same sentences and by the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from spacy_lpcfg.bracketing.baselines.branching import (
    left_branching,
    random_branching,
    right_branching,
    right_branching_inside_top,
    upper_bound,
)
from spacy_lpcfg.bracketing.baselines.ccm import CCM
from spacy_lpcfg.bracketing.bracketer import Brackets
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.bracketing.top import top_split
from spacy_lpcfg.evaluation.unlabelled import (
    LENGTHS,
    Bracket,
    UnlabelledScore,
    UnlabelledTotals,
    counted_brackets,
    score_brackets,
    unlabelled_totals,
)
from spacy_lpcfg.trees import Tree, remove_empty

ALL = "all"
BRACKETER = "spectral_bracketer"
LIMITS: dict[str, int | None] = {**{str(length): length for length in LENGTHS}, ALL: None}
"""Limits of sentence length by name, in words that are no punctuation."""

Spans = Sequence[Bracket]


class Progress(Protocol):
    """Shows how far one has come: called with an iterable and a name for its items, gives what to go through."""

    def __call__(self, items: Iterable[Any], unit: str) -> Iterable[Any]: ...


Bracketing = Callable[[Sequence[str], Sequence[str]], Brackets]
"""From words and tags to brackets."""
Table = dict[str, dict[str, UnlabelledTotals]]
"""Scores by system and by limit of length."""


@dataclass(frozen=True)
class GoldSentence:
    """A sentence and its gold brackets.

    tagged (TaggedSentence): all its tokens, as the bracketer gets them.
    keep (tuple of bool): whether each is a word that counts, and no punctuation.
    gold (frozenset of (start, end)): brackets of two or more words, over the words that count.
    """

    tagged: TaggedSentence
    keep: tuple[bool, ...]
    gold: frozenset[Bracket]

    @classmethod
    def of(cls, tree: Tree) -> GoldSentence | None:
        """The sentence of a tree; None if fewer than two of its words count."""
        rest = remove_empty(tree)
        if rest is None:
            return None
        tagged = TaggedSentence.of(rest)
        keep = tuple(not is_punctuation(tag, word) for word, tag in zip(*tagged, strict=True))
        gold = counted_brackets(((start, end) for start, end, _ in rest.spans()), keep)
        return cls(tagged, keep, gold) if sum(keep) > 1 else None

    @property
    def n_words(self) -> int:
        """How many words count."""
        return sum(self.keep)

    @property
    def tags(self) -> list[str]:
        """The tags of the words that count."""
        return [tag for tag, kept in zip(self.tagged.tags, self.keep, strict=True) if kept]

    def score(self, spans: Iterable[Bracket]) -> UnlabelledScore:
        """The score of brackets over the words that count."""
        return score_brackets(self.gold, spans, [True] * self.n_words)


def gold_sentences(trees: Iterable[Tree]) -> Iterator[GoldSentence]:
    """The sentences of trees in which two or more words count."""
    return filter(None, map(GoldSentence.of, trees))


def compare(
    bracket: Bracketing | None,
    golds: Sequence[GoldSentence],
    *,
    text: Iterable[TaggedSentence] = (),
    seed: int = 0,
    progress: Progress = lambda items, unit: items,
) -> Table:
    """Score a bracketer, and beside it what needs no learning, the upper bound, and CCM.

    bracket (callable or None): `Bracketer.bracket`, or what takes and gives the same; None leaves it out.
    golds (sequence of GoldSentence): The sentences. Only the scores and the upper bound look at their brackets.
    text (iterable of TaggedSentence): Sentences from whose tags CCM learns, beside those to be scored.
    seed (int): Of the random trees.
    progress (callable): Called with an iterable and a name for its items; gives what to go through instead.
    RETURNS (Table): Scores by system (`left_branching`, `right_branching`, `random`, `right_branching_inside_top`,
        `upper_bound`, `ccm`, `spectral_bracketer`) and by limit of length ("10", "20", "40", "all").
    RAISES (ValueError): If there are no sentences.
    """
    if not golds:
        raise ValueError("Expected trees of at least two words that are no punctuation, got none.")
    table = {name: _totals(golds, map(tree_of, golds)) for name, tree_of in _baselines(seed).items()}
    table["ccm"] = _ccm_totals(golds, [_kept_tags(*sentence) for sentence in text], progress)
    if bracket is not None:
        spans = (_counted(bracket(*gold.tagged), gold) for gold in progress(golds, "sentences"))
        table[BRACKETER] = _totals(golds, spans)
    return table


def _baselines(seed: int) -> dict[str, Callable[[GoldSentence], Spans]]:
    random = np.random.default_rng(seed)
    return {
        "left_branching": lambda sentence: left_branching(sentence.n_words),
        "right_branching": lambda sentence: right_branching(sentence.n_words),
        "random": lambda sentence: random_branching(sentence.n_words, random),
        "right_branching_inside_top": lambda sentence: right_branching_inside_top(
            sentence.n_words, top_split(*sentence.tagged) or 0
        ),
        "upper_bound": lambda sentence: upper_bound(sentence.n_words, sentence.gold),
    }


def _counted(brackets: Brackets, sentence: GoldSentence) -> Spans:
    return list(counted_brackets(brackets.spans, sentence.keep))


def _totals(golds: Sequence[GoldSentence], bracketings: Iterable[Spans]) -> dict[str, UnlabelledTotals]:
    scores = [gold.score(spans) for gold, spans in zip(golds, bracketings, strict=True)]
    return {name: unlabelled_totals(scores, limit) for name, limit in LIMITS.items()}


def _ccm_totals(
    golds: Sequence[GoldSentence], text: Sequence[list[str]], progress: Progress
) -> dict[str, UnlabelledTotals]:
    """By limit of length, after learning from the sentences up to that limit, since longer ones do harm.

    The model of the largest limit brackets all others, too.
    """
    totals = {}
    model = None
    tags = [*(gold.tags for gold in golds), *text]
    for name, limit in LIMITS.items():
        short = [sentence for sentence in tags if limit is not None and 1 < len(sentence) <= limit]
        if short:
            model = CCM().fit(short, progress=partial(progress, unit=f"iterations of CCM up to {limit} words"))
        counted = [gold for gold in golds if limit is None or gold.n_words <= limit]
        scores = [gold.score(model.bracket(gold.tags) if model else []) for gold in counted]
        totals[name] = unlabelled_totals(scores)
    return totals


def _kept_tags(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    return [tag for word, tag in zip(words, tags, strict=True) if not is_punctuation(tag, word)]
