"""Word classes, and the distribution of classes given a tag for words that a treebank does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

OTHER = 0
_DIGIT = re.compile(r"\d")
_PRIOR = 10.0  # pseudo-counts that each tag gets from the distribution of classes over all words


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Classes of distributionally similar words; words without a class have class `OTHER`.

    words (tuple[str, ...], (n_words,)): Words with a class, sorted, with every digit replaced by 0.
    classes (int32, (n_words,)): The class of each word, from 1 on.
    """

    words: tuple[str, ...]
    classes: np.ndarray
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", dict(zip(self.words, self.classes.tolist(), strict=False)))

    @property
    def n_classes(self) -> int:
        """Number of classes, `OTHER` included."""
        return 1 + int(self.classes.max(initial=OTHER))

    def of(self, word: str) -> int:
        """Return the class of a word, or of its lower-case form if the word has none."""
        plain = plain_form(word)
        return self._index.get(plain) or self._index.get(plain.lower(), OTHER)

    def shares(self, words: Iterable[tuple[str, int]], n_tags: int) -> np.ndarray:
        """Return P(class | tag), smoothed towards P(class), float32 (n_classes, n_tags); columns sum to 1.

        words (iterable of (str, int)): Distinct words with their tags, from which the distribution is estimated.
        """
        counts = np.zeros((self.n_classes, n_tags))
        for word, tag in words:
            counts[self.of(word), tag] += 1
        of_all = counts.sum(axis=1, keepdims=True) + 1 / self.n_classes
        smoothed = counts + _PRIOR * of_all / of_all.sum()
        return (smoothed / smoothed.sum(axis=0)).astype(np.float32)

    def is_consistent(self, shares: np.ndarray, n_tags: int) -> bool:
        """Return whether stored classes and their `shares` are valid: for every class, or empty without words."""
        n_words = len(self.words)
        return (
            isinstance(shares, np.ndarray)
            and self.classes.dtype == np.int32
            and self.classes.shape == (n_words,)
            and bool(np.all(self.classes > OTHER))
            and shares.dtype == np.float32
            and (shares.shape == (self.n_classes, n_tags) or (n_words == 0 and shares.shape == (0, 0)))
            and bool(np.all(np.isfinite(shares)) and np.all(shares > 0))
        )


NO_CLASSES = WordClasses((), np.zeros(0, dtype=np.int32))


def plain_form(word: str) -> str:
    """Return the form under which classes know a word: with 0 for every digit."""
    return _DIGIT.sub("0", word)
