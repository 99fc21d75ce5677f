"""Files that commands read and write: lines of text, checks of inputs and outputs, and atomic writing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import IO

import typer

from spacy_lpcfg.components.cli.shared.console import log, usage_errors
from spacy_lpcfg.components.cli.shared.streams import stdin
from spacy_lpcfg.storage import files

STDIN = "-"
ZIPPED = ".gz"
LONGEST_JSON = 2**24
"""Maximum number of characters of a JSON object; reading it may take forty bytes of memory for each character."""
_ONE_WORD_PATH = re.compile(r"\S*[/\\]\S*|\S+\.[A-Za-z]\w{0,6}")
_TRAIN = r"(.*-)?train"  # also as Universal Dependencies has it, de_gsd-ud-train.conllu
_FILE_NAME = re.compile(r".*\.(mrg|txt|spacy|jsonl?|tsv|gz|parsed)", re.DOTALL)


def training_files(paths: Sequence[Path], dialect: str | None, others: tuple[str, ...] = ()) -> list[Path]:
    """Return the training files at paths.

    If a folder has files or folders called `train`, only they are taken; other parts, such as `dev`, are for
    evaluation.

    paths (sequence of Path): Files, folders or `glob` patterns.
    dialect (str or None): The dialect of the treebanks to take from folders; None for all dialects.
    others (tuple of str): Suffixes of further files to take from folders.
    RAISES (BadParameter): If a path or pattern has no files.
    """
    from spacy_lpcfg.trees.files import suffixes_of, treebank_files

    suffixes = suffixes_of(dialect) + others
    with usage_errors(kinds=(FileNotFoundError,)):
        parts = [_training_part(path, suffixes) for path in paths]
        return [Path(file) for part in parts for file in treebank_files(part, dialect, others)]


def _training_part(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files and folders called `train` in a folder; if there are none, or for a file, [path]."""
    if not path.is_dir():
        return [path]
    named = [part for part in sorted(path.iterdir()) if re.fullmatch(_TRAIN, part.name.split(".")[0])]
    return [part for part in named if any(file.name.endswith(suffixes) for file in (part, *part.rglob("*")))] or [path]


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, which may be gzipped, or of stdin for "-", without line breaks.

    RAISES (TreebankError): If the file is not UTF-8, or its compression is damaged; the error names file and line.
    """
    from spacy_lpcfg.trees import lines

    for line in lines.decode_lines(stdin(), path) if path == STDIN else lines.read_lines(path):
        yield line.rstrip("\r\n")


def check_input(path: str, hint: str = "FILE") -> None:
    """Check that an input is an existing file, or "-" for stdin.

    hint (str): The argument that the message names.
    RAISES (BadParameter): If the path is a folder or does not exist.
    RAISES (ValueError): If the path is "-" and stdin is closed.
    """
    if path == STDIN:
        stdin()
        return
    if Path(path).is_dir():
        raise typer.BadParameter(f"{path!r} is a folder: name a file in it", param_hint=hint)
    if not Path(path).exists():
        raise typer.BadParameter(f"there is no file {path!r}", param_hint=hint)


def is_text(source: str) -> bool:
    """Return whether an argument is the text to process, not "-" for stdin or an existing file or folder."""
    return source != STDIN and not os.path.exists(source)


def looks_like_path(source: str) -> bool:
    """Return whether an argument looks like a path: a single word with a slash, backslash or suffix."""
    return _ONE_WORD_PATH.fullmatch(source) is not None


def check_input_or_text(source: str) -> None:
    """Check an argument that is a file, "-" for stdin, or a text to process.

    Log a note if the argument is taken for a text, but is a single word, or ends in a suffix such as .txt.

    RAISES (BadParameter): If the argument is a folder, is a single word with a slash, backslash or suffix but no
        file, or is not UTF-8.
    RAISES (ValueError): If the argument is "-" and stdin is closed.
    """
    if not is_text(source):
        return check_input(source)
    if looks_like_path(source):
        raise typer.BadParameter(
            f"there is no file {source!r}; if it is a text, give it by stdin, as -", param_hint="FILE"
        )
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise typer.BadParameter("the text is not UTF-8", param_hint="FILE") from error
    if len(source.split()) == 1 or _FILE_NAME.fullmatch(source):
        log(f"There is no file {source!r}: it is taken for a text")


def check_output(path: Path | None, *, inputs: Iterable[str | Path] = (), force: bool = False) -> None:
    """Check that an output file can be written, and replaces neither an input nor, without `force`, an existing file.

    path (Path or None): The output file; None for stdout. Stdout and devices always pass.
    inputs (iterable of str or Path): The files and folders that the command reads; "-" for stdin.
    force (bool): Whether an existing file may be replaced if it is no input.
    RAISES (BadParameter): If the check fails.
    """
    if path is None or files.is_device(path):
        return
    is_there = path.exists()
    if path.is_dir():
        message = f"'{path}' is a folder: name a file"
    elif not path.parent.is_dir():
        message = f"there is no folder '{path.parent}' for '{path.name}'"
    elif not os.access(path.parent, os.W_OK):
        message = f"the folder '{path.parent}' cannot be written to"
    elif is_there and any(is_within(path, source) for source in inputs):
        message = f"'{path}' is read, and would be replaced: name another file"
    elif is_there and not force:
        message = f"'{path}' exists: name another file, or use --force"
    else:
        return
    raise typer.BadParameter(message, param_hint="--output")


def is_within(path: Path, source: str | Path) -> bool:
    """Return whether an existing path is the file `source`, or lies below the folder `source`.

    source (str or Path): A file or folder, which need not exist; "-" for the file that stdin reads.
    """
    if str(source) == STDIN:
        try:
            return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
        except (OSError, ValueError, AttributeError):  # stdin is closed, or no file
            return False
    if not os.path.exists(source):
        return False
    return os.path.samefile(source, path) or path.resolve().is_relative_to(os.path.realpath(source))


@contextmanager
def replacing(path: Path | None, *, force: bool) -> Iterator[IO[bytes]]:
    """Open a binary file for atomic writing: the file appears at `path` only if the block succeeds.

    path (Path or None): The file; None for stdout.
    force (bool): Whether an existing file may be replaced.
    RAISES (ValueError): If a file exists at `path` at the end of the block, without `force`. The new file is then saved
        beside it, under a name with a number.
    """
    if path is None:
        yield sys.stdout.buffer
        return

    def check(new: Path) -> None:
        if path.exists():
            beside = next(
                candidate for n in count(1) if not os.path.lexists(candidate := path.with_stem(f"{path.stem}-{n}"))
            )
            new.rename(beside)
            raise ValueError(f"'{path}' has appeared meanwhile, and stays. What was to be written is in '{beside}'")

    with files.replacing(path, check=None if force else check) as file:
        yield file


@contextmanager
def writing(path: Path | None, *, force: bool) -> Iterator[IO[str]]:
    """Open a UTF-8 text file for atomic writing; arguments and errors as for `replacing`.

    A file whose name ends in `.gz` is compressed.
    """
    if path is None:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        return
    is_zipped = path.suffix == ZIPPED and not files.is_device(path)
    with replacing(path, force=force) as file, files.gzipping(file, is_zipped=is_zipped) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="\n")
        yield text
        text.detach()  # the file is not ours to close
