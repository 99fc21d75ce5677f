"""Gold brackets of sentences, and the trees that need no learning: baselines, and the upper bound for binary trees.

All trees are binary, over the words without punctuation, and are returned as the spans of two or more words in
pre-order: the whole sentence first, and no span for a sentence of one word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.binary_trees import Span, best_tree
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import plain
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.evaluation.unlabelled import UnlabelledScore, counted_brackets, score_brackets
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import remove_empty

LEFT_BRANCHING, RIGHT_BRANCHING = "left-branching", "right-branching"
INSIDE_TOP = "right-branching inside top"
RANDOM, UPPER_BOUND = "random trees", "best binary trees"


@dataclass(frozen=True)
class GoldSentence:
    """A sentence with its gold brackets.

    tagged (TaggedSentence): All tokens of the sentence, the input of the bracketer.
    keep (tuple of bool): Whether each token counts, as punctuation does not.
    gold (frozenset of (start, end)): Gold brackets of two or more words, with positions among the words that count.
    """

    tagged: TaggedSentence
    keep: tuple[bool, ...]
    gold: frozenset[Span]

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

    def score(self, spans: Iterable[Span]) -> UnlabelledScore:
        """Score brackets, with positions among the words that count."""
        return score_brackets(self.gold, spans, [True] * self.n_words)


def gold_sentences(trees: Iterable[Tree]) -> Iterator[GoldSentence]:
    """Yield the sentences of trees that have two or more words without punctuation."""
    return filter(None, map(GoldSentence.of, trees))


def baselines(seed: int = 0) -> dict[str, Callable[[GoldSentence], list[Span]]]:
    """Return the systems that learn nothing: branching and random trees, and the binary trees nearest to gold."""
    random = np.random.default_rng(seed)
    return {
        LEFT_BRANCHING: lambda gold: left_branching(gold.n_words),
        RIGHT_BRANCHING: lambda gold: right_branching(gold.n_words),
        INSIDE_TOP: lambda gold: right_branching_inside_top(gold.n_words, heuristic_split(plain(*gold.tagged))),
        RANDOM: lambda gold: random_branching(gold.n_words, random),
        UPPER_BOUND: lambda gold: upper_bound(gold.n_words, gold.gold),
    }


def left_branching(n_words: int) -> list[Span]:
    """Return the tree whose spans all begin with the first word."""
    return [(0, end) for end in range(n_words, 1, -1)]


def right_branching(n_words: int, start: int = 0) -> list[Span]:
    """Return the tree whose spans all end with the last word, over the words from `start` on."""
    return [(first, n_words) for first in range(start, n_words - 1)]


def right_branching_inside_top(n_words: int, split: int) -> list[Span]:
    """Return the tree of a top split with a right-branching tree on either side.

    n_words (int): Number of words in the sentence.
    split (int): Number of words in the first tree; 0 or `n_words` for one right-branching tree.
    """
    if not 0 < split < n_words:
        return right_branching(n_words)
    return [(0, n_words), *right_branching(split), *right_branching(n_words, split)]


def random_branching(n_words: int, random: np.random.Generator) -> list[Span]:
    """Draw a binary tree from the top, each split of a span being as likely, which makes balanced trees likelier."""
    spans: list[Span] = []
    stack = [(0, n_words)]
    while stack:
        start, end = stack.pop()
        if end - start > 1:
            spans.append((start, end))
            middle = int(random.integers(start + 1, end))
            stack += [(middle, end), (start, middle)]
    return spans


def upper_bound(n_words: int, gold: Iterable[Span]) -> list[Span]:
    """Return the binary tree with the most gold brackets; ties are broken by the leftmost split.

    n_words (int): Number of words in the sentence.
    gold (iterable of (start, end)): Half-open spans of its words.
    """
    weights = np.zeros((n_words + 1, n_words + 1))
    for start, end in set(gold):
        weights[start, end] = 1
    return best_tree(weights)


def oracle_split(n: int, gold: Iterable[Span]) -> int:
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
