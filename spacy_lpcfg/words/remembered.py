"""Caches for functions of words and tags; limits on the number and length of the cached texts bound the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial, update_wrapper
from typing import Generic, TypeVar

Result = TypeVar("Result")

LONGEST = 100
"""The greatest length, in characters, of a word or tag whose results are cached."""


def is_remembered(text: str) -> bool:
    """Return whether a text is short enough to be cached."""
    return len(text) <= LONGEST


class Remembered(Generic[Result]):
    """A function of one or several texts that caches its results for the `n` most recently used arguments.

    Texts of more than `LONGEST` characters are not cached.

    function (callable): The function.
    n (int): The size of the cache.
    """

    def __init__(self, function: Callable[..., Result], n: int) -> None:
        self._function = function
        self._cached = lru_cache(maxsize=n)(function)
        update_wrapper(self, function)

    def __call__(self, *texts: str) -> Result:
        return (self._cached if all(map(is_remembered, texts)) else self._function)(*texts)

    def map(self, texts: Iterable[str]) -> list[Result]:
        """Return the function's result for each text, as a list; the function must take a single text."""
        return [(self._cached if len(text) <= LONGEST else self._function)(text) for text in texts]


def remembered(n: int) -> Callable[[Callable[..., Result]], Remembered[Result]]:
    """Return a decorator that caches the results of a function of texts for the n most recently used arguments."""
    return partial(Remembered, n=n)


class WordCache(dict[tuple[str, bool], Result]):
    """A cache of values by (word, whether the word opens its sentence); a full cache is emptied.

    max_words (int): Maximum number of entries.
    """

    def __init__(self, max_words: int) -> None:
        self.max_words = max_words

    def add(self, word: str, sentence_initial: bool, value: Result) -> Result:
        """Cache the value of a word, unless the word is longer than `LONGEST`, and return the value."""
        if is_remembered(word):
            if len(self) >= self.max_words:
                self.clear()
            self[word, sentence_initial] = value
        return value
