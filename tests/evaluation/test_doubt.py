"""The sentences most in doubt: their order, and near duplicates."""

from __future__ import annotations

import random
from math import nan

from spacy_lpcfg.evaluation.doubt import most_in_doubt


def test_doubt_ranks_by_entropy_per_word_without_near_duplicates():
    sentences = [
        ["He", "saw", "her", "duck"],
        ["It", "rained"],
        ["it", "Rained"],
        ["Add", "100", "g", "of", "flour"],
        ["Add", "250", "g", "of", "sugar"],
        ["Add", "250", "g", "of", "flour", "now"],
    ]
    assert most_in_doubt(sentences, [4, 1, 8, 1, 3, 2]) == [2, 0, 4, 5]
    assert most_in_doubt(sentences, [4, 1, 8, 1, 3, 2], 2) == [2, 0]


def test_doubt_leaves_out_sentences_without_an_entropy():
    assert most_in_doubt([["a"], ["b"], ["c"], ["d"]], [None, nan, -1.0, 0.0]) == [3]


def test_doubt_finds_the_near_duplicates_that_comparing_all_pairs_finds():
    generator = random.Random(0)
    sentences = [generator.choices("abcdefghi", k=generator.randint(1, 9)) for _ in range(300)]
    entropies = [float(len(words) * (300 - i)) for i, words in enumerate(sentences)]
    kept: list[set[str]] = []
    for words in map(set, sentences):
        if all(len(words & other) < 0.75 * len(words | other) for other in kept):
            kept.append(words)
    assert [set(sentences[i]) for i in most_in_doubt(sentences, entropies)] == kept
