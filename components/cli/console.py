"""What the commands do alike: errors as messages, progress bars, lines in, files that appear when they are complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, TypeVar

import typer

Item = TypeVar("Item")

STDIN = "-"
BAD_DATA = 1


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The command, ending with a message and code 1 instead of a traceback where files or data are bad."""

    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:  # the program that reads our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (ValueError, OSError) as error:
            log(f"Error: {error}")
            raise typer.Exit(BAD_DATA) from error

    return reporting


def log(message: str) -> None:
    """Say what is not a result, on stderr."""
    typer.echo(message, err=True)


def log_skipped(errors: Sequence[Exception]) -> None:
    """Say how many broken trees were left out."""
    if errors:
        log(f"{len(errors)} broken trees were skipped, the first at {errors[0]}")


def progress(items: Iterable[Item], unit: str, *, hidden: bool = False) -> Iterable[Item]:
    """The items, counted by a bar on stderr if that is a terminal.

    items (iterable): what is gone through.
    unit (str): what to call one of them.
    hidden (bool): whether to do without the bar in any case.
    """
    from tqdm import tqdm

    return tqdm(items, unit=f" {unit}", disable=hidden or None, leave=False)


@contextmanager
def progress_of_steps() -> Iterator[Callable[[str, int], None]]:
    """A function to call with the name of a step and how far it has come; each step has a bar on stderr in turn."""
    from tqdm import tqdm

    bars: dict[str, tqdm] = {}

    def tell(step: str, n: int) -> None:
        if step not in bars:
            for bar in bars.values():
                bar.close()
            bars[step] = tqdm(desc=step, unit="", disable=None, leave=False)
        bars[step].update(n - bars[step].n)

    try:
        yield tell
    finally:
        for bar in bars.values():
            bar.close()


def read_lines(path: str) -> Iterator[str]:
    """The lines of a UTF-8 file, plain or compressed with gzip, or of stdin for "-", without their ends.

    RAISES (TreebankError): With file and line, where it is not UTF-8, or damaged.
    """
    from spacy_lpcfg.trees import brackets

    lines = brackets.decode_lines(sys.stdin.buffer, path) if path == STDIN else brackets.read_lines(path)
    for line in lines:
        yield line.rstrip("\r\n")


@contextmanager
def writing(path: Path | None) -> Iterator[IO[str]]:
    """A UTF-8 file that appears when the block succeeds and leaves no trace otherwise; stdout for None."""
    if path is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
