"""Replacement of characters that break pictures, pages and terminals."""

from __future__ import annotations

import re

_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """Replace each character that is not allowed in XML, or that a terminal may interpret as a command, by U+FFFD.

    Replaced are control characters, line separators, marks of text direction, and unpaired surrogates.
    """
    return _NOT_SHOWN.sub("\ufffd", text)


def visible_lines(text: str) -> str:
    """Replace characters as `visible` does, but keep tabs and newlines."""
    return _NOT_SHOWN.sub(lambda match: match[0] if match[0] in "\t\n" else "\ufffd", text)
