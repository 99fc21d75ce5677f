"""Vocabularies of frequent words and tags, and posteriors of many sentences at once."""

import numpy as np
import pytest

from spacy_lpcfg.induced.lexical import LexicalPCFG, Vocabulary
from spacy_lpcfg.induced.simple_pcfg import SimplePCFG, expect
from spacy_lpcfg.trees import parse_trees

TREES = list(parse_trees("(S (D The) (N cat)) (S (D the) (N dog) (V barks))"))


def test_vocabulary_has_frequent_words_and_all_tags():
    vocabulary = Vocabulary.of(TREES, 1)
    assert vocabulary.size == 5  # the, three tags, and unknown tags
    assert vocabulary.encode(["THE", "dog", "dog"], ["?", "N", "?"]).tolist() == [0, 2, 4]
    assert Vocabulary.listed(["the"], ["D", "N", "V"]) == vocabulary
    with pytest.raises(ValueError, match="a tag for each word, got 2 words and 1 tags"):
        vocabulary.encode(["a", "cat"], ["D"])


def test_posteriors_of_many_sentences_are_those_of_each():
    vocabulary = Vocabulary.of(TREES, 1)
    pcfg = SimplePCFG.random(3, np.ones(vocabulary.size), seed=0, noise=1.0)
    sentences = [(["x"] * n, ["D", "N", "V"][: n % 4] + ["N"] * (n - n % 4)) for n in (5, 2, 5, 3, 6)]
    sentences = [(words, tags[: len(words)]) for words, tags in sentences]
    together = LexicalPCFG(vocabulary, pcfg).posteriors(sentences)
    for (words, tags), posteriors in zip(sentences, together, strict=True):
        ids = vocabulary.encode(words, tags)[None]
        alone = expect(pcfg, ids, np.ones((1, len(words) + 1, len(words) + 1)))[0][0]
        np.testing.assert_allclose(posteriors, alone, atol=1e-12)
