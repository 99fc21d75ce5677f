"""Checks of settings and arguments, and the display of values and numbers in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from operator import index
from typing import Any, NamedTuple

MAX_SHOWN = 80


def shown(value: object) -> str:
    """Return the repr of a value for an error message, shortened to `MAX_SHOWN` characters."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return f"{value[:MAX_SHOWN]!r}... of {len(value):,} characters"
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of more than some thousand digits
        return f"{type(value).__name__} of too many digits to show"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... of {len(text):,} characters"


def counted(n: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun for a message, such as "1 tree" or "2,000 trees".

    several (str or None): The noun after any number but 1; None for `one` with an s.
    """
    return f"{n:,} {one if n == 1 else several or one + 's'}"


class Check(NamedTuple):
    """A condition on settings, with its description. Called with settings as keyword arguments, it checks them.

    expected (str): Description for the error message.
    holds (callable): Predicate on a value.
    hint (str): Advice that is added to the message if the value is a string.
    """

    expected: str
    holds: Callable[[Any], bool]
    hint: str = ""

    def __call__(self, **settings: Any) -> None:
        """Raise ValueError for the first setting that does not satisfy the condition."""
        for name, value in settings.items():
            if not self.holds(value):
                hint = self.hint if isinstance(value, str) else ""
                raise ValueError(f"Expected {name} to be {self.expected}, got {shown(value)}{hint}.")

    @property
    def optional(self) -> Check:
        """Return a check that accepts None too."""
        return Check(f"{self.expected}, or None", lambda value: value is None or self.holds(value), self.hint)


# Kinds of checks ---------------------------------------------------------------------------------


def number(description: str, holds: Callable[[Any], bool]) -> Check:
    """Return a check for a finite number (not a bool) that satisfies a condition.

    description (str): The condition in words, such as "from 0 to 1".
    holds (callable): The condition.
    """
    return Check(f"a number {description}", lambda value: _is_finite(value) and holds(value), _UNQUOTED)


def whole(minimum: int, maximum: int | None = None) -> Check:
    """Return a check for a whole number from `minimum` to `maximum`, both included; None for no maximum."""
    range_text = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum:,}"
    return Check(
        f"a whole number {range_text}",
        lambda value: _is_whole(value) and minimum <= value and (maximum is None or value <= maximum),
        _UNQUOTED,
    )


def at_least(minimum: float) -> Check:
    """Return a check for a finite number of at least `minimum`."""
    return number(f"of at least {minimum:g} and finite", lambda value: value >= minimum)


def one_of(*choices: str) -> Check:
    """Return a check for a string that is one of the choices."""
    return Check(f"one of {', '.join(map(repr, choices))}", lambda value: isinstance(value, str) and value in choices)


def instance_of(description: str, *kinds: type) -> Check:
    """Return a check for an instance of any of the classes `kinds`."""
    return Check(description, lambda value: isinstance(value, kinds))


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
BELOW_1 = number("of at least 0 and below 1", lambda value: 0 <= value < 1)
SHARE = number("from 0 to 1", lambda value: 0 <= value <= 1)
POSITIVE = number("above 0 and finite", lambda value: value > 0)
COUNT = whole(1)
SEED = whole(0)


# Checks of arguments -----------------------------------------------------------------------------


def check_one_of(what: str, value: str, choices: Iterable[str], defaults: Mapping[str, Any] | None = None) -> None:
    """Check that a name is one of the choices; if not, the message suggests the nearest one.

    what (str): The noun for the name in the message, such as "a learner".
    value (str): The name.
    choices (iterable of str): The allowed names, at least one.
    defaults (mapping or None): The default value of each choice, if choices are settings; the message shows it.
    RAISES (ValueError): If `value` is not one of the choices.
    """
    names = list(choices)
    if value not in names:
        near = get_close_matches(str(value), names, 1, cutoff=0.0)[0]
        default = f" (default: {shown(defaults[near])})" if defaults else ""
        raise ValueError(
            f"Expected {what}, got {shown(value)}. The nearest is {near!r}{default} of {', '.join(names)}."
        )


def make_tuples(settings: object, *names: str) -> None:
    """Convert the named fields of a frozen dataclass to tuples, in place.

    A field may be a list, as in configs, or a mapping, of which the values are taken.

    RAISES (ValueError): If a field is a string.
    """
    for name in names:
        values = getattr(settings, name)
        if isinstance(values, str):
            raise ValueError(f"Expected {name} to be a list, got {values!r}: put it into brackets.")
        object.__setattr__(settings, name, tuple(values.values() if isinstance(values, Mapping) else values))
