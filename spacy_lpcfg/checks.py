"""Checks of numbers that are asked for, and how a message shows a value that was not expected."""

from __future__ import annotations

from operator import index
from typing import Any

MOST_SHOWN = 80


def shown(value: object) -> str:
    """The repr of a value for a message; of a long one the first `MOST_SHOWN` characters and how many there are."""
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        return f"{value[:MOST_SHOWN]!r}... of {len(value):,} characters"
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of more than some thousand digits
        return f"{type(value).__name__} of too many digits to show"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... of {len(text):,} characters"


def check_whole(least: int, **settings: Any) -> None:
    """RAISES (ValueError): For a setting that is no whole number, or a truth value, or less."""
    for name, value in settings.items():
        if not (_is_whole(value) and value >= least):
            raise ValueError(f"Expected {name} to be a whole number of at least {least}, got {shown(value)}.")


def _is_whole(value: Any) -> bool:
    try:
        index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)
