"""Count how often a sentence enters each module on its way from `lpcfg_parser` to its spans.

    python scripts/module_visits.py [TEXT]

Parses a text twice by en-fast, the English model of one grammar, and traces the second pass, in which what is
remembered of words is there. A visit is a call from one module of the package to a function of another. Properties and
the constructors and methods of the values that travel along and of caches (`VALUES`) are no visits, as they hand
nothing on. A return upwards is a visit to a module that is still at work further up the stack. Calls by spaCy itself
and by compiled functions are not counted.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from types import FrameType
from typing import Any, NamedTuple

import spacy
from spacy.language import Language

PACKAGE = "spacy_lpcfg."
VALUES = (
    "parsing.query",
    "parsing.constraints",
    "parsing.result",
    "chart.settings",
    "words.remembered",
    "components.made_once",
)
TEXT = "The ferry that my sister missed was the last one."


class Visits(NamedTuple):
    """What a trace found.

    visits (Counter): calls into each module from another one.
    upwards (list of (str, str)): the calling module and the function, for modules that were still at work.
    """

    visits: Counter[str]
    upwards: list[tuple[str, str]]


def main() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    found = trace(nlp, sys.argv[1] if len(sys.argv) > 1 else TEXT)
    for module, n in found.visits.most_common():
        print(f"{n:3}  {module}")
    for caller, function in found.upwards:
        print(f"upwards: {caller} -> {function}")
    print(f"{len(found.visits)} modules, at most {max(found.visits.values())} visits, {len(found.upwards)} upwards")


def trace(nlp: Language, text: str) -> Visits:
    """The visits of the last component of a pipeline to a text."""
    name, pipe = nlp.pipeline[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nlp(text)
        doc = nlp(text, disable=[name])
    stack: list[str | None] = []
    found = Visits(Counter(), [])

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and stack:
            stack.pop()
        elif event == "call":
            _enter(frame, stack, found)

    sys.setprofile(note)
    try:
        doc = pipe(doc)
        next(iter(doc.spans[pipe.spans_key]))
    finally:
        sys.setprofile(None)
    return found


def _enter(frame: FrameType, stack: list[str | None], found: Visits) -> None:
    module = _module(frame)
    at_work = [each for each in stack if each]
    if module and at_work and at_work[-1] != module and not _is_accessor(frame):
        found.visits[module] += 1
        if module in at_work:
            found.upwards.append((at_work[-1], f"{module}.{frame.f_code.co_name}"))
    stack.append(module)


def _module(frame: FrameType) -> str | None:
    """The module of the package that a function is in, unless it is one of values."""
    name = str(frame.f_globals.get("__name__", ""))
    own = name.removeprefix(PACKAGE)
    return own if name.startswith(PACKAGE) and own not in VALUES and frame.f_code.co_filename != "<string>" else None


def _is_accessor(frame: FrameType) -> bool:
    """Whether a function is a property of its object."""
    code = frame.f_code
    owner = type(frame.f_locals.get(code.co_varnames[0])) if code.co_argcount == 1 else None
    found = getattr(owner, code.co_name, None) if owner else None
    return isinstance(found, property) or type(found).__name__ == "cached_property"


if __name__ == "__main__":
    main()
