"""Learning of word classes from raw text."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from spacy_lpcfg.words.brown import cluster, neighbours
from spacy_lpcfg.words.classes import OTHER, WordClasses, plain_form


def learn_classes(
    text: Iterable[Sequence[str]],
    n_classes: int,
    *,
    min_count: int = 3,
    vocabulary_size: int = 30_000,
    n_sweeps: int = 10,
) -> WordClasses:
    """Cluster the frequent words of a text by the exchange algorithm.

    A capitalized first word of a sentence is lower-cased if the lower-case form is more frequent within sentences.

    text (iterable of sequences of str): The words of each sentence.
    n_classes (int): Number of classes, `OTHER` not counted.
    min_count (int): Words that occur less often than this get no class.
    vocabulary_size (int): Maximum number of words with a class; the most frequent ones are clustered.
    n_sweeps (int): Maximum number of sweeps of the exchange algorithm, which ends earlier when no word moves.
    RAISES (ValueError): If there are fewer frequent words than classes, or fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError(f"Expected at least 2 classes of words, got {n_classes}.")
    sentences = _read(text)
    counts = Counter(word for sentence in sentences for word in sentence)
    frequent = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    words = sorted(word for _, word in frequent[:vocabulary_size])
    if len(words) < n_classes:
        raise ValueError(
            f"Expected at least {n_classes} different words that occur {min_count} times or more, for as many "
            f"classes; got {len(words)} in {len(sentences)} sentences. Give more text, a sentence a line, or want "
            "fewer classes."
        )
    ids = {word: i for i, word in enumerate(words)}
    flat = np.array([ids.get(word, len(words)) for sentence in sentences for word in sentence])
    counts_of_pairs = neighbours(flat, np.cumsum([0, *map(len, sentences)]), len(words) + 1)
    classes, _ = cluster(counts_of_pairs, n_classes, n_sweeps)
    return WordClasses(tuple(words), classes[: len(words)] + np.int32(OTHER + 1))


def _read(text: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the sentences with plain word forms, and first words in lower case if they are mostly so elsewhere."""
    sentences = [[plain_form(word) for word in sentence] for sentence in text if len(sentence)]
    within = Counter(word for sentence in sentences for word in sentence[1:])
    for sentence in sentences:
        lower = sentence[0].lower()
        if within[lower] > within[sentence[0]]:
            sentence[0] = lower
    return sentences
