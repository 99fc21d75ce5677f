"""What the settings of the components may be; see `LearnedPipe`, which checks them whenever one is assigned."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

from spacy_lpcfg.grammar.parts import is_temperature
from spacy_lpcfg.isbn.parser import MOST


class Check(NamedTuple):
    """What a setting is expected to be.

    expected (str): as the error says it
    holds (callable): whether a value is so
    """

    expected: str
    holds: Callable[[Any], bool]

    def __call__(self, name: str, value: Any) -> None:
        """RAISES (ValueError): If the value is another."""
        if not self.holds(value):
            raise ValueError(f"Expected {name} to be {self.expected}, got {value!r:.80}.")

    @property
    def optional(self) -> Check:
        """The same, or None."""
        return Check(f"{self.expected}, or None", lambda value: value is None or self.holds(value))


def one_of(*choices: str) -> Check:
    """One of some words."""
    return Check(f"one of {', '.join(map(repr, choices))}", lambda value: isinstance(value, str) and value in choices)


def number(which: str, holds: Callable[[Any], bool], kind: type = Real) -> Check:
    """A number; spaCy lets numbers in quotes pass."""
    return Check(f"a number, without quotes, {which}", lambda value: isinstance(value, kind) and holds(value))


def instance_of(which: str, *kinds: type) -> Check:
    """An object of one of some classes."""
    return Check(which, lambda value: isinstance(value, kinds))


TEXT = Check("a text that is not empty", lambda value: isinstance(value, str) and value != "")
FLAG = Check("true or false", lambda value: isinstance(value, bool))
FUNCTION = Check("a function", callable)
SHARE = number("from 0 to 1", lambda value: 0 <= value <= 1)
TEMPERATURE = number("above 0 and finite", is_temperature)
SECONDS = number("of at least 0", lambda value: value >= 0)
MEGABYTES = number("above 0", lambda value: value > 0)
COUNT = number("whole and at least 1", lambda value: value >= 1, Integral)
SEED = number("whole and at least 0", lambda value: value >= 0, Integral)
BREADTH = number(f"whole and from 1 to {MOST:,}", lambda value: 1 <= value <= MOST, Integral)
