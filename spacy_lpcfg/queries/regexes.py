"""Regular expressions of users, with limits on memory and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from time import process_time

import regex

from spacy_lpcfg.checks import shown

MAX_SIZE = 1_000_000
"""Limit on the length of a regular expression once counted repeats, such as a{20}, are written out."""
MAX_SECONDS, MAX_SECONDS_EACH = 1.0, 1e-4
"""Limit on the CPU seconds of a search: a fixed allowance, and an additional one for each string."""


def compile_regex(text: str) -> regex.Pattern[str]:
    """Compile a regular expression; one whose counted repeats would take too much memory is refused.

    text (str): The expression, in the syntax of the library `regex`, which extends that of Python's `re`.
    RAISES (ValueError): If it is invalid, or if written out its counted repeats, such as a{20}, exceed `MAX_SIZE`
        characters.
    """
    counts = (int(n[:9]) for braces in regex.findall(r"\{[^{}]*\}", text) for n in regex.findall(r"[0-9]+", braces))
    if len(text) * prod(max(n, 1) for n in counts) > MAX_SIZE:
        raise ValueError(f"its counted repeats make it longer than {MAX_SIZE:,} characters")
    try:
        return regex.compile(text)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def search_all(pattern: regex.Pattern[str], strings: Iterable[str]) -> Iterator[regex.Match[str] | None]:
    """Yield the first match of a regular expression in each string, or None where it does not match.

    RAISES (ValueError): If the search takes more CPU time than `MAX_SECONDS` and `MAX_SECONDS_EACH` allow.
    """
    end = process_time() + MAX_SECONDS
    for string in strings:
        end += MAX_SECONDS_EACH
        try:
            yield pattern.search(string, timeout=max(end - process_time(), MAX_SECONDS_EACH))
        except TimeoutError as error:
            raise ValueError(
                f"Expected a regular expression that needs little time, but {shown(pattern.pattern)} took too long at "
                f"{shown(string)}: repeat nothing that has repeats or alternatives itself, a+ and not (a+)+ or (a|a)*."
            ) from error
