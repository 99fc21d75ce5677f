"""Text that no picture trips over."""

from __future__ import annotations

import re

_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """The text with U+FFFD for each character that XML cannot hold, or that a terminal takes for a command.

    These are control characters, line separators, marks that turn the direction of what follows, and halves of
    surrogate pairs.
    """
    return _NOT_SHOWN.sub("\ufffd", text)


def visible_lines(text: str) -> str:
    """As `visible`, but with the tabs and the ends of lines that are in the text."""
    return _NOT_SHOWN.sub(lambda found: found[0] if found[0] in "\t\n" else "\ufffd", text)
