"""Re-estimation of trees that nobody annotated: EM over all trees of a text, which begins near the given ones.

A simple PCFG learns from the words by the inside-outside algorithm. Each span of a given tree has a weight, at first
one that few other trees outweigh, in the end none (structural annealing, Smith and Eisner 2006). So the given trees
only decide in which of its many local optima the likelihood ends. Several such grammars differ by their random start.
The new trees are those of minimum Bayes risk by the mean of their posteriors (Shayegh et al. 2024, "Ensemble
distillation for unsupervised constituency parsing").
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

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
        """Return the spans of a new binary tree for each sentence, in pre-order; those of its own if it is too long.

        trees (sequence of Tree): Trees with words and tags; their labels are not read.
        RAISES (ValueError): If no sentence has from 3 to `max_words` words.
        """
        sentences = self._encoded(trees)
        given = [_spans(tree) for tree in trees]
        first = self.n_grammars * self.seed
        grammars = [self._learn(sentences, given, seed) for seed in range(first, first + self.n_grammars)]
        new = given.copy()
        for numbers in _batches(sentences, 2, self.max_parsed):
            words, weights = _batch(sentences, given, numbers, 0.0)
            posteriors = sum(expect(grammar, words, weights)[0] for grammar in grammars)
            for number, of_sentence in zip(numbers, np.asarray(posteriors), strict=True):
                new[number] = best_tree(of_sentence)
        return new

    def _encoded(self, trees: Sequence[Tree]) -> list[list[int]]:
        """Return the ids of the words, or of the tags of words that are not frequent."""
        counts = Counter(word.lower() for tree in trees for word in tree.words)
        frequent = {word for word, _ in counts.most_common(self.n_words)}
        ids: dict[tuple[bool, str], int] = {}
        return [
            [
                ids.setdefault((True, word.lower()) if word.lower() in frequent else (False, tag), len(ids))
                for word, tag in zip(tree.words, tree.tags, strict=True)
            ]
            for tree in trees
        ]

    def _learn(self, sentences: Sequence[Sequence[int]], given: Sequence[Sequence[Span]], seed: int) -> SimplePCFG:
        batches = list(_batches(sentences, 3, self.max_words))
        if not batches:
            raise ValueError(f"Expected sentences of 3 to {self.max_words} words to learn from, got none.")
        counts = np.bincount(np.concatenate([np.array(words) for words in sentences])) + 1.0
        grammar = SimplePCFG.random(self.n_states, counts, seed)
        for strength in self.strengths:
            for _ in range(self.n_iterations):
                expected = (expect(grammar, *_batch(sentences, given, batch, strength))[1] for batch in batches)
                grammar = reduce(add, expected).maximize(self.prior)
        return grammar


def _spans(tree: Tree) -> list[Span]:
    """Return the distinct spans of two or more words of a tree, in pre-order."""
    spans = {(start, end) for start, end, _ in tree.spans() if end - start > 1}
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _batches(sentences: Sequence[Sequence[int]], shortest: int, longest: int) -> Iterator[list[int]]:
    """Yield the numbers of sentences of the same length, a batch at a time."""
    by_length: dict[int, list[int]] = {}
    for number, words in enumerate(sentences):
        if shortest <= len(words) <= longest:
            by_length.setdefault(len(words), []).append(number)
    for n_words, numbers in sorted(by_length.items()):
        size = 1 + _AT_ONCE // n_words**2
        yield from (numbers[start : start + size] for start in range(0, len(numbers), size))


def _batch(
    sentences: Sequence[Sequence[int]], given: Sequence[Sequence[Span]], numbers: Sequence[int], strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the words and the weights of the spans of sentences of the same length, as `expect` takes them."""
    words = np.array([sentences[number] for number in numbers])
    weights = np.ones((len(numbers), words.shape[1] + 1, words.shape[1] + 1))
    for row, number in enumerate(numbers):
        starts, ends = np.array(given[number]).T
        weights[row, starts, ends] = np.exp(strength)
    return words, weights
