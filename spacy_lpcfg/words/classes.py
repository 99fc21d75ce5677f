"""Words by their classes, and what classes tell of the tags of words that a treebank does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

OTHER = 0
_DIGIT = re.compile(r"\d")
_PRIOR = 10.0  # words of each tag that have classes as all words do


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Classes of words that stand in like places of a text; class `OTHER` is of all words that are not among them.

    words (tuple[str, ...]): (n_words,), sorted; with 0 for every digit.
    classes (int32, (n_words,)): of each, from 1 on.
    """

    words: tuple[str, ...]
    classes: np.ndarray
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", dict(zip(self.words, self.classes.tolist(), strict=False)))

    @property
    def n_classes(self) -> int:
        """How many there are, `OTHER` among them."""
        return 1 + int(self.classes.max(initial=OTHER))

    def of(self, word: str) -> int:
        """The class of a word, or else of its lower case."""
        plain = plain_form(word)
        return self._index.get(plain) or self._index.get(plain.lower(), OTHER)

    def shares(self, words: Iterable[tuple[str, int]], n_tags: int) -> np.ndarray:
        """P(class | tag), smoothed towards P(class), float32 (n_classes, n_tags); the sum over classes is 1.

        words (iterable of (str, int)): distinct words with tags, by which those of unknown words are estimated.
        """
        counts = np.zeros((self.n_classes, n_tags))
        for word, tag in words:
            counts[self.of(word), tag] += 1
        of_all = counts.sum(axis=1, keepdims=True) + 1 / self.n_classes
        smoothed = counts + _PRIOR * of_all / of_all.sum()
        return (smoothed / smoothed.sum(axis=0)).astype(np.float32)

    def fit_shares(self, shares: np.ndarray, n_tags: int) -> bool:
        """Whether stored classes and shares belong together: those of all classes, or none of no words."""
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
    """A word as classes know it: digits are alike."""
    return _DIGIT.sub("0", word)
