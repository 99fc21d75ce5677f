"""Word classes: groups of distributionally similar words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

OTHER = 0
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Classes of distributionally similar words; a word that is not listed has the class `OTHER` (0).

    words (tuple[str, ...], (n_words,)): The words with a class, sorted, with every digit replaced by 0.
    classes (int32, (n_words,)): The class of each word, from 1 on.
    """

    words: tuple[str, ...]
    classes: np.ndarray
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", dict(zip(self.words, self.classes.tolist(), strict=False)))

    @property
    def n_classes(self) -> int:
        """The number of classes, `OTHER` included."""
        return 1 + int(self.classes.max(initial=OTHER))

    def of(self, word: str) -> int:
        """Return the class of a word, or else the class of its lower-case form; `OTHER` if neither has a class."""
        plain = plain_form(word)
        return self._index.get(plain) or self._index.get(plain.lower(), OTHER)


def plain_form(word: str) -> str:
    """Return a word with every digit replaced by 0, as in `WordClasses.words`."""
    return _DIGIT.sub("0", word)
