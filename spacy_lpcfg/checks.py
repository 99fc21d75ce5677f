"""Checks of settings and other arguments, and how a message shows a value that was not expected."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Real
from operator import index
from typing import Any, NamedTuple

MAX_SHOWN = 80


def shown(value: object) -> str:
    """The repr of a value for a message; of a long one the first `MAX_SHOWN` characters and how many there are."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return f"{value[:MAX_SHOWN]!r}... of {len(value):,} characters"
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of more than some thousand digits
        return f"{type(value).__name__} of too many digits to show"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... of {len(text):,} characters"


class Check(NamedTuple):
    """What a setting is expected to be.

    expected (str): as the error says it
    holds (callable): whether a value is so
    hint (str): what to do about a text in place of a number
    """

    expected: str
    holds: Callable[[Any], bool]
    hint: str = ""

    def __call__(self, **settings: Any) -> None:
        """RAISES (ValueError): For the first setting that is something else."""
        for name, value in settings.items():
            if not self.holds(value):
                hint = self.hint if isinstance(value, str) else ""
                raise ValueError(f"Expected {name} to be {self.expected}, got {shown(value)}{hint}.")

    @property
    def optional(self) -> Check:
        """The same, or None."""
        return Check(f"{self.expected}, or None", lambda value: value is None or self.holds(value), self.hint)


# Kinds of checks ---------------------------------------------------------------------------------


def number(which: str, holds: Callable[[Any], bool]) -> Check:
    """A number that is finite and no truth value."""
    return Check(f"a number {which}", lambda value: _is_finite(value) and holds(value), _UNQUOTED)


def whole(minimum: int, maximum: int | None = None) -> Check:
    """A whole number of at least `minimum`, and of at most `maximum` unless that is None."""
    which = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum:,}"
    return Check(
        f"a whole number {which}",
        lambda value: _is_whole(value) and minimum <= value and (maximum is None or value <= maximum),
        _UNQUOTED,
    )


def at_least(minimum: float) -> Check:
    """A finite number of at least `minimum`."""
    return number(f"of at least {minimum:g} and finite", lambda value: value >= minimum)


def one_of(*choices: str) -> Check:
    """One of some words."""
    return Check(f"one of {', '.join(map(repr, choices))}", lambda value: isinstance(value, str) and value in choices)


def instance_of(which: str, *kinds: type) -> Check:
    """An object of one of some classes."""
    return Check(which, lambda value: isinstance(value, kinds))


def _is_finite(value: Any) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an int beyond all floats
        return True


def _is_whole(value: Any) -> bool:
    try:
        index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


_UNQUOTED = "; write numbers without quotes"
TEXT = Check("a text that is not empty", lambda value: isinstance(value, str) and value != "")
FLAG = Check("true or false", lambda value: isinstance(value, bool))
FUNCTION = Check("a function", callable)
SHARE = number("from 0 to 1", lambda value: 0 <= value <= 1)
POSITIVE = number("above 0 and finite", lambda value: value > 0)
COUNT = whole(1)
SEED = whole(0)


# Checks of arguments -----------------------------------------------------------------------------


def check_whole(minimum: int, **settings: Any) -> None:
    """RAISES (ValueError): For a setting that is no whole number, or a truth value, or less."""
    whole(minimum)(**settings)


def check_at_least(minimum: float, **settings: Any) -> None:
    """RAISES (ValueError): For a setting that is no number, infinite, or less."""
    at_least(minimum)(**settings)


def check_shares(**settings: Any) -> None:
    """RAISES (ValueError): For a setting that is no number from 0 to 1."""
    SHARE(**settings)
