"""A warning if a text is not in the language that a model was learned from."""

from __future__ import annotations

from collections.abc import Container, Iterable

from spacy.util import logger

_FEWEST = 40  # bytes of words in UTF-8, so that a word of Japanese weighs more than one of English
_MOST = 1000  # after which the words before count less and less
_HINT = (
    "%s: most words of this text are unknown to the model (of language %r), so its trees are likely to be wrong. Give "
    "it text in the language and of the kind that it was learned from, or another model. This is said once."
)


class UnknownWords:
    """A counter of unknown words, which logs one warning when more than half of the recent text is unknown."""

    def __init__(self) -> None:
        self._n_bytes = self._n_unknown = 0
        self._is_said = False

    def count(self, words: Iterable[str], known: Container[str], name: str, lang: str) -> None:
        """Count the known and the unknown words of a text; log the warning if most are unknown.

        words (iterable of str): The words. Only words of letters alone are counted, weighted by their bytes in UTF-8.
        known (container of str): The words of the model. A word is also known if its lower-case form is.
        name (str): The name of the component, for the warning.
        lang (str): The code of its pipeline's language, for the warning.
        """
        if self._is_said:
            return
        for word in words:
            if word.isalpha():
                n_bytes = len(word.encode())
                self._n_bytes += n_bytes
                self._n_unknown += n_bytes * (word not in known and word.lower() not in known)
        if self._n_bytes >= _FEWEST and 2 * self._n_unknown > self._n_bytes:
            self._is_said = True
            logger.warning(_HINT, name, lang)
        if self._n_bytes > _MOST:
            self._n_bytes //= 2
            self._n_unknown //= 2
