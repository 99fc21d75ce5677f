"""What is remembered of texts: so many of them, and none that is long, so that memory is bounded in bytes too."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")

LONGEST = 100
"""The most characters of a word or tag that anything is remembered of."""


def is_remembered(text: str) -> bool:
    """Whether a cache may keep a text; of longer ones all is found anew each time."""
    return len(text) <= LONGEST


def remembered(n: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """A decorator for functions of one or several texts, that keeps the last n results for texts that are not long."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        cached = lru_cache(maxsize=n)(function)

        @wraps(cached)
        def ask(*texts: str) -> Result:
            return (cached if all(map(is_remembered, texts)) else function)(*texts)

        return ask

    return decorate
