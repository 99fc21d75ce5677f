"""Inputs of commands: files, stdin or texts, and the kinds of what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import typer

from spacy_lpcfg.components.cli.shared.files import STDIN, ZIPPED, check_input_or_text, is_text, read_lines
from spacy_lpcfg.components.cli.shared.options import BRACKETED, Input, Tags


class Source(NamedTuple):
    """An input of a command.

    file (str): The name of a file, "-" for stdin, or a text.
    kind (str): The kind of its contents.
    tags (str or None): Where tags come from; None for the default of the kind of input.
    is_guessed (bool): Whether `kind` is a guess.
    dialect (str or None): The dialect of trees; None for the one that a file looks like.
    is_told (bool): Whether to log what the dialect changes.
    """

    file: str
    kind: Input
    tags: Tags | None = None
    is_guessed: bool = False
    dialect: str | None = None
    is_told: bool = True

    @property
    def name(self) -> str:
        """The name of the file in error messages."""
        return "<stdin>" if self.file == STDIN else "<text>" if is_text(self.file) else self.file

    def lines(self) -> Iterator[str]:
        """Yield the lines of the source, without their ends."""
        return iter(self.file.split("\n")) if is_text(self.file) else read_lines(self.file)


class InputKind(NamedTuple):
    """A kind of input.

    expected (str): A description for the message that there is nothing to parse.
    suffixes (tuple of str): Ends of the names of files in folders that hold it.
    tags (str or None): Where tags come from unless an option says; None as the pipeline is set.
    """

    expected: str
    suffixes: tuple[str, ...]
    tags: Tags | None = None


_TEXTS = (".txt", ".txt.gz")
KINDS: dict[Input, InputKind] = {
    "text": InputKind("text, a document a line", _TEXTS),
    "tokens": InputKind("a sentence a line, its words separated by blanks", _TEXTS, "model"),
    "tagged": InputKind("a sentence a line, as word/TAG separated by blanks", (".tagged", ".tagged.gz"), "given"),
    "trees": InputKind(BRACKETED, (), "model"),  # with the suffixes of `spacy_lpcfg.trees.formats`
    "spacy": InputKind("Docs", (".spacy",)),
}


def suffixes_of(kind: Input) -> tuple[str, ...]:
    """Return the ends of the names of those files of a folder that hold input of a kind."""
    from spacy_lpcfg.trees.formats.table import suffixes_of_trees

    if kind == "trees":
        return tuple(suffix + end for suffix in suffixes_of_trees() for end in ("", ZIPPED))
    return KINDS[kind].suffixes


def kind_by_name(file: str) -> Input | None:
    """Return what a file holds by its name, Docs or trees; None if the name does not say."""
    kinds: tuple[Input, ...] = () if is_text(file) else ("spacy", "trees")
    return next((kind for kind in kinds if file.endswith(suffixes_of(kind))), None)


def kind_said(kind: Input | None, dialect: str | None) -> Input | None:
    """Return the kind of input that options ask for; trees if they name a dialect, None if they name nothing.

    RAISES (BadParameter): If a dialect is named for an input other than trees.
    """
    if dialect is not None and kind not in (None, "trees"):
        raise typer.BadParameter(f"{kind} has no dialect, only trees have", param_hint="--dialect")
    return kind if dialect is None else "trees"


def check_usage(file: str, kind: Input | None, tags: Tags | None = None) -> None:
    """Raise BadParameter if an input cannot be read, or has no tags to be given."""
    check_input_or_text(file)
    if is_text(file) and kind == "spacy":
        raise typer.BadParameter("a text holds no Docs: name a .spacy file", param_hint="FILE")
    if kind == "tokens" and tags == "given":
        raise typer.BadParameter("tokens have no tags: use --input tagged or --input trees", param_hint="--tags")
