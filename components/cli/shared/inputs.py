"""Inputs of commands: files, stdin or texts, and the kind of their contents (text, words, trees or Docs)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import typer

from spacy_lpcfg.components.cli.shared.files import STDIN, ZIPPED, check_input_or_text, is_text, read_lines
from spacy_lpcfg.components.cli.shared.options import BRACKETED, Input, Tags


class Source(NamedTuple):
    """An input of a command: a file, stdin or a text, and how to read it.

    file (str): The path of a file, "-" for stdin, or the text itself.
    kind (str): The kind of input, a key of `KINDS`.
    tags (str or None): The source of tags, "given" or "model"; None for the default of `kind`.
    is_guessed (bool): Whether `kind` was recognized, rather than given by an option.
    dialect (str or None): The dialect of trees; None to recognize it.
    is_told (bool): Whether to log the dialect of trees, and the number of items removed from them.
    """

    file: str
    kind: Input
    tags: Tags | None = None
    is_guessed: bool = False
    dialect: str | None = None
    is_told: bool = True

    @property
    def name(self) -> str:
        """The name of the input in messages: the file, or <stdin> or <text>."""
        return "<stdin>" if self.file == STDIN else "<text>" if is_text(self.file) else self.file

    def lines(self) -> Iterator[str]:
        """Yield the lines of the input without line breaks; errors as for `read_lines`."""
        return iter(self.file.split("\n")) if is_text(self.file) else read_lines(self.file)


class InputKind(NamedTuple):
    """The properties of a kind of input.

    expected (str): A description of the contents, for the error about an empty input.
    suffixes (tuple of str): The suffixes of the files to take from a folder.
    tags (str or None): The default source of tags, "given" or "model"; None for the setting of the pipeline.
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
    """Return the suffixes of files with a kind of input, with and without .gz where files may be compressed."""
    from spacy_lpcfg.trees.formats.table import suffixes_of_trees

    if kind == "trees":
        return tuple(suffix + end for suffix in suffixes_of_trees() for end in ("", ZIPPED))
    return KINDS[kind].suffixes


def is_json(file: str) -> bool:
    """Return whether the suffix of a file is that of JSON, gzipped or not."""
    return file.removesuffix(ZIPPED).endswith((".jsonl", ".json"))


def kind_by_name(file: str) -> Input | None:
    """Return "spacy" or "trees" for a file with a suffix of Docs or treebanks; None for any other file or a text."""
    kinds: tuple[Input, ...] = () if is_text(file) else ("spacy", "trees")
    return next((kind for kind in kinds if file.endswith(suffixes_of(kind))), None)


def kind_said(kind: Input | None, dialect: str | None) -> Input | None:
    """Return the kind of input that the options --input and --dialect determine; a dialect implies "trees".

    kind (Input or None): The value of --input.
    dialect (str or None): The value of --dialect.
    RETURNS (Input or None): The kind; None if neither option is given.
    RAISES (BadParameter): If a dialect is given for an input other than trees.
    """
    if dialect is not None and kind not in (None, "trees"):
        raise typer.BadParameter(f"{kind} has no dialect, only trees have", param_hint="--dialect")
    return kind if dialect is None else "trees"


def check_usage(file: str, kind: Input | None, tags: Tags | None = None) -> None:
    """Check that an input can be read as a kind of input, with tags from a source.

    file (str): A file, "-" for stdin, or a text.
    kind (Input or None): The value of --input.
    tags (Tags or None): The value of --tags.
    RAISES (BadParameter): As in `check_input_or_text`; if `kind` is None for a file of JSON; if the input is a text,
        but `kind` is "spacy"; if `kind` is "tokens", which has no tags, but `tags` is "given".
    """
    check_input_or_text(file)
    if kind is None and not is_text(file) and is_json(file):
        message = f"'{file}' holds JSON: make a file of trees from it by `spacy-lpcfg convert`, or say --input text"
        raise typer.BadParameter(message, param_hint="FILE")
    if is_text(file) and kind == "spacy":
        raise typer.BadParameter("a text holds no Docs: name a .spacy file", param_hint="FILE")
    if kind == "tokens" and tags == "given":
        raise typer.BadParameter("tokens have no tags: use --input tagged or --input trees", param_hint="--tags")
