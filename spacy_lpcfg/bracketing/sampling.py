"""A sample of the sentences of a stream."""

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
    """At most `size` sentences, each with the same probability (reservoir sampling), in the order of the stream.

    lengths (container of int): numbers of words, without punctuation, that are wanted.
    """
    rng = np.random.default_rng(seed)
    kept: list[tuple[int, Sentence]] = []
    n_seen = n_read = 0
    for words, tags in sentences:
        n_read += 1
        if progress is not None and n_read % 10_000 == 0:
            progress("sample", n_read)
        sentence = split_compounds(tuple(words), tuple(tags))
        if len(plain(*sentence).places) not in lengths:
            continue
        if len(kept) < size:
            kept.append((n_seen, sentence))
        elif (place := int(rng.integers(n_seen + 1))) < size:
            kept[place] = (n_seen, sentence)
        n_seen += 1
    return [sentence for _, sentence in sorted(kept, key=lambda pair: pair[0])]
