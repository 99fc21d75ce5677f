"""The names of learners, which mean the same in configs, in commands and in the project.

`learners.NAMED` has what makes them. Nothing slow is imported here, so that commands start fast.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any

from spacy_lpcfg.checks import shown


class Method(str, Enum):
    """What `spacy-lpcfg learn lpcfg` learns by."""

    pivot = "pivot"
    spectral = "spectral"
    clusters = "clusters"
    em = "em"
    split_merge = "split-merge"
    pcfg = "pcfg"
    ensemble = "ensemble"
    distil = "distil"


class Preset(str, Enum):
    """What `spacy-lpcfg learn combined` learns by."""

    fast = "fast"
    balanced = "balanced"
    accurate = "accurate"


class TeacherName(str, Enum):
    """What parses the raw text that `distil` learns from."""

    ensemble = "ensemble"
    balanced = "balanced"
    accurate = "accurate"


FROM_TEXT = (Method.distil.value, Preset.fast.value)
"""The learners that cannot do without raw text."""
WITH_TEXT = (*FROM_TEXT, Preset.balanced.value, Preset.accurate.value)
"""The learners that have use for raw text."""


def check_text(name: str, *, is_given: bool) -> None:
    """RAISES (ValueError): If a learner lacks the raw text that it learns from, or gets one and has no use for it."""
    if is_given and name not in WITH_TEXT:
        raise ValueError(f"Expected no text, for which {name!r} has no use, only {', '.join(WITH_TEXT)}; got one.")
    if not is_given and name in FROM_TEXT:
        raise ValueError(f"Expected a text, a sentence a line, from which {name!r} learns too; got none.")


def check_one_of(what: str, value: str, choices: Iterable[str], defaults: Mapping[str, Any] | None = None) -> None:
    """RAISES (ValueError): For another value, with the choice that is nearest, and all that there are.

    defaults (mapping or None): of choices that are settings
    """
    names = list(choices)
    if value not in names:
        near = get_close_matches(str(value), names, 1, cutoff=0.0)[0]
        default = f" (default: {shown(defaults[near])})" if defaults else ""
        raise ValueError(
            f"Expected {what}, got {shown(value)}. The nearest is {near!r}{default} of {', '.join(names)}."
        )
