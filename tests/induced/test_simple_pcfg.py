"""Simple PCFGs against sums over derivations, one by one."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from spacy_lpcfg.induced.simple_pcfg import SimplePCFG, expect

M, V = 2, 3
Production = tuple[int, int, int]  # a state, and its children as columns of `left` and `right`


def derivations(
    words: list[int], start: int, end: int, state: int
) -> Iterator[tuple[list[Production], list[tuple[int, int]]]]:
    """Yield the productions and spans of every derivation of words [start, end) from a state."""
    for split in range(start + 1, end):
        halves = []
        for i, j in ((start, split), (split, end)):
            if j - i == 1:
                halves.append([(M + words[i], [], [])])
            else:
                halves.append([(child, *below) for child in range(M) for below in derivations(words, i, j, child)])
        for (left, *of_left), (right, *of_right) in product(*halves):
            productions = [(state, left, right), *of_left[0], *of_right[0]]
            yield productions, [(start, end), *of_left[1], *of_right[1]]


def slowly(grammar: SimplePCFG, words: list[int], weights: np.ndarray):
    total, posteriors = 0.0, np.zeros_like(weights)
    root, left, right = (np.zeros_like(values) for values in grammar)
    for state in range(M):
        for productions, spans in derivations(words, 0, len(words), state):
            weight = grammar.root[state] * np.prod([weights[span] for span in spans])
            weight *= np.prod([grammar.left[a, b] * grammar.right[a, c] for a, b, c in productions])
            total += weight
            root[state] += weight
            for a, b, c in productions:
                left[a, b] += weight
                right[a, c] += weight
            for span in spans:
                posteriors[span] += weight
    return posteriors / total, root / total, left / total, right / total, np.log(total)


@pytest.mark.parametrize("n_words", [2, 3, 5])
def test_simple_pcfg_expects_what_derivations_add_up_to(n_words):
    draw = np.random.default_rng(n_words)
    grammar = SimplePCFG.random(M, np.array([3.0, 1.0, 2.0]), seed=1, noise=1.0)
    words = draw.integers(V, size=(2, n_words))
    weights = np.exp(draw.normal(size=(2, n_words + 1, n_words + 1)))
    posteriors, counts = expect(grammar, words, weights)
    by_hand = [slowly(grammar, words[k].tolist(), weights[k]) for k in range(2)]
    np.testing.assert_allclose(posteriors, [one[0] for one in by_hand], atol=1e-12)
    for found, *expected in zip(counts, *(one[1:] for one in by_hand), strict=True):
        np.testing.assert_allclose(found, sum(expected), atol=1e-12)


def test_simple_pcfg_iterations_never_lower_the_likelihood():
    draw = np.random.default_rng(0)
    words, weights = draw.integers(V, size=(20, 6)), np.ones((20, 7, 7))
    grammar, before = SimplePCFG.random(3, np.ones(V), seed=0), -np.inf
    for _ in range(10):
        _, counts = expect(grammar, words, weights)
        assert counts.log_likelihood > before
        grammar, before = counts.maximize(0.0), counts.log_likelihood
    for values in grammar:
        np.testing.assert_allclose(values.sum(axis=-1), 1)


def test_simple_pcfg_refuses_sentences_beyond_floats():
    grammar = SimplePCFG.random(M, np.ones(V), seed=0)
    with pytest.raises(ValueError, match="shorter"):
        expect(grammar, np.zeros((1, 400), int), np.full((1, 401, 401), 1e-9))
