"""Active learning by uncertainty sampling: the sentences to correct next, without near duplicates."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from math import ceil

_SIMILAR = 0.75  # least Jaccard index of the words of near duplicates
_DIGIT = re.compile(r"\d")


def most_in_doubt(
    sentences: Sequence[Sequence[str]], entropies: Sequence[float | None], n: int | None = None
) -> list[int]:
    """Return the indices of the sentences most worth correcting, the most uncertain first.

    Sentences are ranked by entropy per word (Hwa 2000, "Sample selection for statistical grammar induction"). A
    sentence is left out as a near duplicate of a sentence ranked higher if the Jaccard index of their sets of words is
    at least 0.75; words are compared in lower case and with all digits alike.

    sentences (sequence of sequence of str): The words of each sentence, at least one.
    entropies (sequence of float or None): The entropy of each sentence's trees in bits, as in the `entropies` of
        parsing components. Sentences without an entropy (None, nan or negative) are left out.
    n (int or None): The maximum number of sentences; None for all.
    RAISES (ValueError): If there are not as many entropies as sentences.
    """
    doubts = {
        i: entropy / len(words)
        for i, (words, entropy) in enumerate(zip(sentences, entropies, strict=True))
        if entropy is not None and entropy >= 0
    }
    ranked = sorted(doubts, key=lambda i: -doubts[i])
    vocabularies = {i: frozenset(_DIGIT.sub("0", word.lower()) for word in sentences[i]) for i in ranked}
    distinct = _DistinctSets(vocabularies.values())
    chosen: list[int] = []
    for i in ranked:
        if len(chosen) == n:
            break
        if distinct.add(vocabularies[i]):
            chosen.append(i)
    return chosen


class _DistinctSets:
    """Collection of sets of words, any two of which have a Jaccard index below `_SIMILAR`.

    Similar sets share one of their few rarest words (prefix filtering), so that a set is compared with few others.

    expected (iterable of frozenset of str): All sets that may be added; their words are counted to find the rare ones.
    """

    def __init__(self, expected: Iterable[frozenset[str]]) -> None:
        self._counts = Counter(chain.from_iterable(expected))
        self._with_rare: dict[str, list[frozenset[str]]] = defaultdict(list)

    def add(self, words: frozenset[str]) -> bool:
        """Add a set unless it is similar to a set in the collection; return whether it was added."""
        n_rare = len(words) - ceil(_SIMILAR * len(words)) + 1
        rare = sorted(words, key=lambda word: (self._counts[word], word))[:n_rare]
        candidates = chain.from_iterable(self._with_rare[word] for word in rare)
        if any(len(words & other) >= _SIMILAR * len(words | other) for other in candidates):
            return False
        for word in rare:
            self._with_rare[word].append(words)
        return True
