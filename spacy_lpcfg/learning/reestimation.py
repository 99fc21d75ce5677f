"""Re-estimation of trees that nobody annotated: EM over all trees of a text, which begins near the given ones.

A simple PCFG learns from the words by the inside-outside algorithm. Each span of a given tree has a weight, at first
one that few other trees outweigh, in the end none (structural annealing, Smith and Eisner 2006). So the given trees
only decide in which of its many local optima the likelihood ends. Several such grammars differ by their random start.
The new trees are those of minimum Bayes risk by the mean of their posteriors (Shayegh et al. 2024, "Ensemble
distillation for unsupervised constituency parsing").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.blocks import make_tuples
from spacy_lpcfg.bracketing.baselines.binary_trees import Span, best_tree
from spacy_lpcfg.checks import check_at_least, check_whole
from spacy_lpcfg.learning.simple_pcfg import SimplePCFG, expect
from spacy_lpcfg.trees.tree import Tree

_AT_ONCE = 6_000  # squared lengths of the sentences of a batch, added up; larger charts leave the cache


@dataclass(frozen=True)
class Reestimation:
    """Settings of the re-estimation of trees.

    n_grammars (int): Grammars whose posteriors are averaged.
    n_states (int): States of each grammar.
    n_words (int): So many of the most frequent words stand for themselves, other words for their tag.
    max_words (int): Sentences of more words are not learned from.
    max_parsed (int): Sentences of more words keep the tree that they have.
    strengths (sequence of float): How strongly the given trees hold, one after the other: logarithms of the weights of
        their spans.
    n_iterations (int): Iterations of EM at each strength.
    prior (float): See `Counts.maximize`.
    seed (int): Seed of the start of the first grammar.
    RAISES (ValueError): If a setting is out of range.
    """

    n_grammars: int = 3
    n_states: int = 32
    n_words: int = 300
    max_words: int = 25
    max_parsed: int = 60
    strengths: Sequence[float] = (8.0, 3.0, 1.0, 0.0)
    n_iterations: int = 5
    prior: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(1, n_grammars=self.n_grammars, n_states=self.n_states, n_iterations=self.n_iterations)
        check_whole(0, n_words=self.n_words, seed=self.seed)
        check_whole(2, max_words=self.max_words, max_parsed=self.max_parsed)
        check_at_least(0, prior=self.prior)
        make_tuples(self, "strengths")
        if not self.strengths:
            raise ValueError("Expected at least one of strengths, got none: (0,) is for trees that do not count.")
        for strength in self.strengths:
            check_at_least(0, strengths=strength)

    def spans(self, trees: Sequence[Tree]) -> list[list[Span]]:
        """Return the spans of a new tree for each sentence, in pre-order; those of its own if it is too long.

        Arguments and errors as for `fit`.
        """
        learned = self.fit(trees)
        return [
            learned.spans(tree.words, tree.tags) if len(tree.words) <= self.max_parsed else _spans(tree)
            for tree in trees
        ]

    def fit(self, trees: Sequence[Tree]) -> SimplePCFGs:
        """Learn from trees.

        trees (sequence of Tree): Trees with words and tags; their labels are not read.
        RAISES (ValueError): If no sentence has from 3 to `max_words` words.
        """
        vocabulary = _Vocabulary.of(trees, self.n_words)
        sentences = [vocabulary.encode(tree.words, tree.tags) for tree in trees]
        batches = list(_batches(sentences, self.max_words))
        if not batches:
            raise ValueError(f"Expected sentences of 3 to {self.max_words} words to learn from, got none.")
        words = [np.array([sentences[number] for number in batch]) for batch in batches]
        given = [_is_given([trees[number] for number in batch]) for batch in batches]
        word_counts = np.bincount(np.concatenate(sentences), minlength=vocabulary.size) + 1.0
        first = self.n_grammars * self.seed
        grammars = [
            self._learn(words, given, SimplePCFG.random(self.n_states, word_counts, seed))
            for seed in range(first, first + self.n_grammars)
        ]
        return SimplePCFGs(vocabulary, tuple(grammars))

    def _learn(self, words: Sequence[np.ndarray], given: Sequence[np.ndarray], grammar: SimplePCFG) -> SimplePCFG:
        """Run EM from a grammar, on the words of batches, and on which of their spans are given."""
        for strength in self.strengths:
            for _ in range(self.n_iterations):
                counts = (
                    expect(grammar, ids, np.exp(strength * is_given))[1]
                    for ids, is_given in zip(words, given, strict=True)
                )
                grammar = reduce(add, counts).maximize(self.prior)
        return grammar


class _Vocabulary(NamedTuple):
    """Ids of frequent words in lower case, and of tags of all other words; the last id is for unknown tags."""

    words: dict[str, int]
    tags: dict[str, int]

    @classmethod
    def of(cls, trees: Sequence[Tree], n_words: int) -> _Vocabulary:
        counts = Counter(word.lower() for tree in trees for word in tree.words)
        words = {word: number for number, (word, _) in enumerate(counts.most_common(n_words))}
        tags = sorted({tag for tree in trees for tag in tree.tags})
        return cls(words, {tag: number for number, tag in enumerate(tags, len(words))})

    @property
    def size(self) -> int:
        return len(self.words) + len(self.tags) + 1

    def encode(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """Return the ids of a sentence's words, int64 (n_words,).

        RAISES (ValueError): If the numbers of words and tags differ.
        """
        if len(words) != len(tags):
            raise ValueError(f"Expected a tag for each word, got {len(words)} words and {len(tags)} tags.")
        unknown = self.size - 1
        pairs = zip(words, tags, strict=True)
        return np.array([self.words.get(word.lower(), self.tags.get(tag, unknown)) for word, tag in pairs])


@dataclass(frozen=True, eq=False)
class SimplePCFGs:
    """Simple PCFGs that choose brackets together.

    vocabulary (_Vocabulary): Their words.
    grammars (tuple of SimplePCFG): One or more.
    """

    vocabulary: _Vocabulary
    grammars: tuple[SimplePCFG, ...]

    def spans(self, words: Sequence[str], tags: Sequence[str]) -> list[Span]:
        """Return the spans of two or more words, in pre-order, of the binary tree with the largest sum of posteriors.

        RAISES (ValueError): If the numbers of words and tags differ, or for hundreds of words, see `expect`.
        """
        if len(words) < 2:
            return []
        ids = self.vocabulary.encode(words, tags)[None]
        free = np.ones((1, len(words) + 1, len(words) + 1))
        posteriors = [expect(grammar, ids, free)[0][0] for grammar in self.grammars]
        return best_tree(np.sum(posteriors, axis=0))


def _spans(tree: Tree) -> list[Span]:
    """Return the distinct spans of two or more words of a tree, in pre-order."""
    spans = {(start, end) for start, end, _ in tree.spans() if end - start > 1}
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _batches(sentences: Sequence[np.ndarray], longest: int) -> Iterator[list[int]]:
    """Yield the numbers of sentences of 3 or more words and of the same length, a batch at a time."""
    by_length: dict[int, list[int]] = {}
    for number, words in enumerate(sentences):
        if 3 <= len(words) <= longest:
            by_length.setdefault(len(words), []).append(number)
    for n_words, numbers in sorted(by_length.items()):
        size = 1 + _AT_ONCE // n_words**2
        yield from (numbers[start : start + size] for start in range(0, len(numbers), size))


def _is_given(trees: Sequence[Tree]) -> np.ndarray:
    """Return whether each span is in the tree of its sentence, for n words each, float64 (n_trees, n + 1, n + 1)."""
    n_words = len(trees[0].words)
    is_given = np.zeros((len(trees), n_words + 1, n_words + 1))
    for row, tree in enumerate(trees):
        starts, ends = np.array(_spans(tree)).reshape(-1, 2).T
        is_given[row, starts, ends] = 1
    return is_given
