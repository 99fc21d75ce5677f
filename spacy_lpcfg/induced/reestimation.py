"""Re-estimation of a PCFG from unlabelled automatic trees: EM over all trees of a text, started near the given ones.

A simple PCFG learns from the words by the inside-outside algorithm. Each span of a given tree has a weight, at first so
large that few other trees count, and in the end 1 (structural annealing, Smith and Eisner 2006). So the given trees
only decide which of its many local optima the likelihood reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from spacy_lpcfg.checks import COUNT, POSITIVE, at_least, make_tuples, whole
from spacy_lpcfg.induced.lexical import LexicalPCFG, Vocabulary, batches
from spacy_lpcfg.induced.simple_pcfg import SimplePCFG, expect
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Reestimation:
    """Learner of a simple PCFG from unlabelled automatic trees, by EM with structural annealing.

    In structural annealing, the spans of the given trees have a weight that falls from stage to stage.

    n_states (int): Number of states of the grammar.
    n_words (int): Number of frequent words that are terminals of the grammar; other words are replaced by their tags.
    max_words (int): Sentences of more than `max_words` words are left out.
    strengths (sequence of float): Natural logarithm of the weight of the given spans at each stage, 0 or more; 0
        ignores the given trees.
    n_iterations (int): Iterations of EM at each strength.
    prior (float): Pseudo-count of each state in the M step, see `Counts.maximize`.
    seed (int): Seed of the grammar from which EM starts.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 32
    n_words: int = 300
    max_words: int = 25
    strengths: Sequence[float] = (8.0, 3.0, 1.0, 0.0)
    n_iterations: int = 5
    prior: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        COUNT(n_states=self.n_states, n_iterations=self.n_iterations)
        whole(0)(n_words=self.n_words, seed=self.seed)
        whole(3)(max_words=self.max_words)
        POSITIVE(prior=self.prior)
        make_tuples(self, "strengths")
        if not self.strengths:
            raise ValueError("Expected at least one of strengths, got none: take (0,) to ignore the given trees.")
        for strength in self.strengths:
            at_least(0)(strengths=strength)

    def fit(self, trees: Sequence[Tree]) -> LexicalPCFG:
        """Learn a grammar from trees.

        trees (sequence of Tree): Trees with words and tags; their labels are not read.
        RAISES (ValueError): If no sentence has from 3 to `max_words` words.
        """
        vocabulary = Vocabulary.of(trees, self.n_words)
        short = [tree for tree in trees if 3 <= len(tree.words) <= self.max_words]
        if not short:
            raise ValueError(f"Expected sentences of 3 to {self.max_words} words to learn from, got none.")
        sentences = [vocabulary.encode(tree.words, tree.tags) for tree in short]
        numbers = list(batches(sentences))
        words = [np.array([sentences[number] for number in batch]) for batch in numbers]
        given = [_is_given([short[number] for number in batch]) for batch in numbers]
        word_counts = np.bincount(np.concatenate(sentences), minlength=vocabulary.size) + 1.0
        grammar = SimplePCFG.random(self.n_states, word_counts, self.seed)
        for strength in self.strengths:
            for _ in range(self.n_iterations):
                counts = (
                    expect(grammar, ids, np.exp(strength * is_given))[1]
                    for ids, is_given in zip(words, given, strict=True)
                )
                grammar = reduce(add, counts).maximize(self.prior)
        return LexicalPCFG(vocabulary, grammar)


def _is_given(trees: Sequence[Tree]) -> np.ndarray:
    """Return a mask of the spans of two words or more that are in the tree of each sentence.

    trees (sequence of Tree): Trees of n words each.
    RETURNS (float64, (n_trees, n + 1, n + 1)): At i, j 1 for a span [i, j) of the tree, else 0.
    """
    n_words = len(trees[0].words)
    is_given = np.zeros((len(trees), n_words + 1, n_words + 1))
    for row, tree in enumerate(trees):
        for start, end, _ in tree.spans():
            is_given[row, start, end] = end - start > 1
    return is_given
