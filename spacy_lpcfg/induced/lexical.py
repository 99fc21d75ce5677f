"""Simple PCFGs whose terminals are frequent words, and the tags of all other words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.induced.simple_pcfg import SimplePCFG, expect
from spacy_lpcfg.trees.tree import Tree

Tagged = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence, and their tags."""
_AT_ONCE = 6_000  # sum of the squared lengths of the sentences of a batch; larger charts leave the cache


class Vocabulary(NamedTuple):
    """Ids of the terminals of a grammar: frequent words, tags of all other words, and one id for unknown tags.

    words (dict of str to int): Ids of the frequent words in lower case, from 0.
    tags (dict of str to int): Ids of the tags, from `len(words)`.
    """

    words: dict[str, int]
    tags: dict[str, int]

    @classmethod
    def of(cls, trees: Sequence[Tree], n_words: int) -> Vocabulary:
        """Return the vocabulary of the `n_words` most frequent words of trees, and of all tags of the trees."""
        counts = Counter(word.lower() for tree in trees for word in tree.words)
        words = [word for word, _ in counts.most_common(n_words)]
        return cls.listed(words, sorted({tag for tree in trees for tag in tree.tags}))

    @classmethod
    def listed(cls, words: Sequence[str], tags: Sequence[str]) -> Vocabulary:
        """Create a vocabulary from lists of words and tags, whose ids follow the order of the lists."""
        ids = {word: number for number, word in enumerate(words)}
        return cls(ids, {tag: number for number, tag in enumerate(tags, len(words))})

    @property
    def size(self) -> int:
        """The number of ids, including the one for unknown tags."""
        return len(self.words) + len(self.tags) + 1

    def encode(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """Return the terminal of each word, int64 (n_words,): its own id, or if it is not frequent the id of its tag.

        A tag that is unknown has the last id, `size - 1`.

        words, tags (sequence of str, (n_words,)): The words of a sentence, and their tags.
        RAISES (ValueError): If the numbers of words and tags differ.
        """
        if len(words) != len(tags):
            raise ValueError(f"Expected a tag for each word, got {len(words)} words and {len(tags)} tags.")
        unknown = self.size - 1
        pairs = zip(words, tags, strict=True)
        return np.array([self.words.get(word.lower(), self.tags.get(tag, unknown)) for word, tag in pairs])


@dataclass(frozen=True, eq=False)
class LexicalPCFG:
    """A simple PCFG (`SimplePCFG`) with the vocabulary of its terminals.

    vocabulary (Vocabulary): The ids of words and tags as terminals of the grammar.
    pcfg (SimplePCFG): A grammar over these ids.
    """

    vocabulary: Vocabulary
    pcfg: SimplePCFG

    def posteriors(self, sentences: Sequence[Tagged]) -> list[np.ndarray]:
        """Compute the posterior probabilities of the spans of sentences.

        sentences (sequence of (words, tags)): Sentences of two words or more.
        RETURNS (list of float64 (n + 1, n + 1)): For each sentence of n words, the posterior of the span [i, j) at
            i, j; 0 for spans of less than two words.
        RAISES (ValueError): If the numbers of words and tags differ, or if the probability of a sentence of hundreds of
            words underflows.
        """
        encoded = [self.vocabulary.encode(*sentence) for sentence in sentences]
        posteriors: dict[int, np.ndarray] = {}
        for batch in batches(encoded):
            ids = np.array([encoded[number] for number in batch])
            free = np.ones((len(batch), ids.shape[1] + 1, ids.shape[1] + 1))
            posteriors.update(zip(batch, expect(self.pcfg, ids, free)[0], strict=True))
        return [posteriors[number] for number in range(len(encoded))]


def batches(sentences: Sequence[np.ndarray]) -> Iterator[list[int]]:
    """Yield batches of sentences of equal length, as lists of their indices, short sentences first.

    sentences (sequence of int64 (n_words,)): Ids of the words of each sentence.
    """
    by_length: dict[int, list[int]] = {}
    for number, words in enumerate(sentences):
        by_length.setdefault(len(words), []).append(number)
    for n_words, numbers in sorted(by_length.items()):
        size = 1 + _AT_ONCE // n_words**2
        yield from (numbers[start : start + size] for start in range(0, len(numbers), size))
