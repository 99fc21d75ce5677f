"""Learn word classes from raw text."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from spacy_lpcfg.words.brown import cluster, neighbours
from spacy_lpcfg.words.classes import OTHER, WordClasses, plain_form

_MIN_COUNT = 3  # words that occur less often get no class
_MOST_WORDS = 30_000  # with a class, the most frequent ones


def learn_classes(text: Iterable[Sequence[str]], n_classes: int) -> WordClasses:
    """Learn classes of the most frequent words of a text, by Brown clustering with the exchange algorithm.

    Every digit is first replaced by 0, and the first word of a sentence is lower-cased if its lower-case form is more
    frequent within sentences. Words that then occur three times or more get a class, but at most 30,000 of them.

    text (iterable of sequences of str): The words of each sentence.
    n_classes (int): Number of classes, `OTHER` not counted.
    RAISES (ValueError): If fewer words occur three times than there are classes, or `n_classes` is less than 2.
    """
    if n_classes < 2:
        raise ValueError(f"Expected at least 2 classes of words, got {n_classes}.")
    sentences = _read(text)
    counts = Counter(word for sentence in sentences for word in sentence)
    frequent = sorted((-count, word) for word, count in counts.items() if count >= _MIN_COUNT)
    words = sorted(word for _, word in frequent[:_MOST_WORDS])
    if len(words) < n_classes:
        raise ValueError(
            f"Expected at least {n_classes} different words that occur {_MIN_COUNT} times or more, for as many "
            f"classes; got {len(words)} in {len(sentences)} sentences. Give more text, a sentence a line, or want "
            "fewer classes."
        )
    ids = {word: i for i, word in enumerate(words)}
    flat = np.array([ids.get(word, len(words)) for sentence in sentences for word in sentence])
    counts_of_pairs = neighbours(flat, np.cumsum([0, *map(len, sentences)]), len(words) + 1)
    classes, _ = cluster(counts_of_pairs, n_classes)
    return WordClasses(tuple(words), classes[: len(words)] + np.int32(OTHER + 1))


def _read(text: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the sentences, with digits and first words changed as in `learn_classes`, without empty sentences."""
    sentences = [[plain_form(word) for word in sentence] for sentence in text if len(sentence)]
    within = Counter(word for sentence in sentences for word in sentence[1:])
    for sentence in sentences:
        lower = sentence[0].lower()
        if within[lower] > within[sentence[0]]:
            sentence[0] = lower
    return sentences
