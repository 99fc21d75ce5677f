"""Tree patterns of a command: from an argument, options or a file, each with a name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared.console import usage_errors
from spacy_lpcfg.components.cli.shared.files import read_lines

if TYPE_CHECKING:
    from spacy_lpcfg.queries import TreePattern

_NAMED = re.compile(r"((?:[\w-][\w.-]*)(?: [\w-][\w.-]*)*):\s+(\S.*)")
_BOTH = (
    "{name!r} is a file here: is it what to search for, or what to search? Say -e {name!r} FILE for the pattern, or "
    "-e PATTERN {name!r} for the file"
)


class NamedPattern(NamedTuple):
    """A tree pattern with the name under which its matches are reported; several patterns may have the same name."""

    name: str
    pattern: TreePattern


def patterns_and_files(
    arguments: Sequence[str], expressions: Sequence[str], file: Path | None
) -> tuple[list[NamedPattern], list[str]]:
    """Return the patterns of a search command, and the files to search.

    arguments (sequence of str): The files; if there are neither `expressions` nor `file`, the pattern and then the
        files.
    expressions (sequence of str): Values of -e: `name: pattern`, or a `pattern` alone, whose text is its name.
    file (Path or None): The value of --patterns: a file with a pattern, in the same form, on each line.
    RAISES (BadParameter): If no file follows the pattern, if the pattern is also the name of an existing file, or if a
        pattern is malformed.
    """
    if expressions or file is not None:
        patterns = [_pattern(text, "-e") for text in expressions]
        return patterns + ([] if file is None else [*_patterns_of_file(file)]), [*arguments]
    first, *files = arguments
    if os.path.exists(first):
        raise typer.BadParameter(_BOTH.format(name=first), param_hint="PATTERN")
    pattern = _pattern(first, "PATTERN")
    if not files:
        raise typer.BadParameter("name a file, or a text, after the pattern", param_hint="FILE")
    return [pattern], files


def _patterns_of_file(file: Path) -> Iterator[NamedPattern]:
    """Yield the patterns of a file, one per line; empty lines and lines that begin with # are skipped.

    RAISES (BadParameter): If the file has no pattern, or a pattern is malformed.
    """
    is_empty = True
    for number, line in enumerate(read_lines(str(file)), start=1):
        if line.strip() and not line.startswith("#"):
            is_empty = False
            yield _pattern(line.strip(), f"--patterns {file}:{number}")
    if is_empty:
        message = f"there is no pattern in '{file}': expected a line such as 'objects: NP > VP'"
        raise typer.BadParameter(message, param_hint="--patterns")


def _pattern(text: str, hint: str) -> NamedPattern:
    from spacy_lpcfg.queries import PatternError, TreePattern

    named = _NAMED.fullmatch(text)
    name, pattern = (named[1], named[2]) if named else (text, text)
    with usage_errors(hint, kinds=(PatternError,)):
        return NamedPattern(name, TreePattern(pattern))
