"""Reservoir sampling of sentences."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

import numpy as np

from spacy_lpcfg.bracketing.sentences import Sentence, plain
from spacy_lpcfg.bracketing.tags import split_compounds


def sample(
    sentences: Iterable[Sentence],
    size: int,
    *,
    seed: int,
    lengths: Container[int],
    progress: Callable[[str, int], None] | None = None,
) -> list[Sentence]:
    """Draw a uniform random sample of at most `size` sentences (reservoir sampling), in the order of the stream.

    sentences (iterable of (words, tags)): The stream.
    size (int): Size of the sample.
    seed (int): Seed of the random choice.
    lengths (container of int): Accepted numbers of words, punctuation not counted; other sentences are skipped.
    progress (callable or None): Called with "sample" and the number of sentences read, after every 10,000.
    RETURNS (list of (words, tags)): The sentences, with tokens of compound tags split (`split_compounds`).
    """
    rng = np.random.default_rng(seed)
    reservoir: list[tuple[int, Sentence]] = []
    n_seen = n_read = 0
    for words, tags in sentences:
        n_read += 1
        if progress is not None and n_read % 10_000 == 0:
            progress("sample", n_read)
        sentence = split_compounds(tuple(words), tuple(tags))
        if len(plain(*sentence).positions) not in lengths:
            continue
        if len(reservoir) < size:
            reservoir.append((n_seen, sentence))
        elif (position := int(rng.integers(n_seen + 1))) < size:
            reservoir[position] = (n_seen, sentence)
        n_seen += 1
    return [sentence for _, sentence in sorted(reservoir, key=lambda pair: pair[0])]
