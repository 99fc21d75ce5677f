"""Checks of learners' settings, when these are made."""

from __future__ import annotations

from math import isfinite
from numbers import Real

from spacy_lpcfg.checks import shown


def check_at_least(least: float, **settings: float) -> None:
    """RAISES (ValueError): For a setting that is no number, infinite, or less."""
    for name, value in settings.items():
        if not (isinstance(value, Real) and isfinite(value) and value >= least):
            raise ValueError(f"Expected {name} of at least {least:g}, got {shown(value)}.")


def check_shares(**settings: float) -> None:
    """RAISES (ValueError): For a setting that is no number of 0 to 1."""
    for name, value in settings.items():
        if not (isinstance(value, Real) and 0 <= value <= 1):
            raise ValueError(f"Expected {name} to be a share of 0 to 1, got {shown(value)}.")
