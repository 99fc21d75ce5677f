"""What is remembered of texts: so many of them, and none that is long, so that memory is bounded in bytes too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial, update_wrapper
from typing import Generic, TypeVar

Result = TypeVar("Result")

LONGEST = 100
"""The most characters of a word or tag that anything is remembered of."""


def is_remembered(text: str) -> bool:
    """Whether a cache may keep a text; of longer ones all is found anew each time."""
    return len(text) <= LONGEST


class Remembered(Generic[Result]):
    """A function of one or several texts, which keeps the last n results for texts that are not long."""

    def __init__(self, function: Callable[..., Result], n: int) -> None:
        self._function = function
        self._cached = lru_cache(maxsize=n)(function)
        update_wrapper(self, function)

    def __call__(self, *texts: str) -> Result:
        return (self._cached if all(map(is_remembered, texts)) else self._function)(*texts)

    def each(self, texts: Iterable[str]) -> list[Result]:
        """The results for texts one by one."""
        return [(self._cached if len(text) <= LONGEST else self._function)(text) for text in texts]


def remembered(n: int) -> Callable[[Callable[..., Result]], Remembered[Result]]:
    """A decorator that makes a function a `Remembered` one."""
    return partial(Remembered, n=n)
