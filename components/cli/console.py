"""Input and output of all commands: errors as messages, progress bars, reading lines, writing whole files."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from itertools import chain, count, islice
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from typing import IO, Any, TypeVar

import typer

from spacy_lpcfg.components.cli.streams import careful_stdout, settle, stdin
from spacy_lpcfg.storage import files

Item = TypeVar("Item")

STDIN = "-"
ZIPPED = ".gz"
BAD_DATA = 1
INTERRUPTED = 130  # that of a process that Ctrl-C ends
LONGEST_JSON = 2**24
"""The most characters of an object of JSON, of which each may take forty bytes when it is read."""
_TOO_MUCH: dict[type[BaseException], str] = {
    MemoryError: "this takes more memory than there is; ask for less. ",
    OverflowError: "a number is too large; give a smaller one. ",
}
_SKIP_BAD = " Or use --skip-bad, which leaves out broken trees and counts them."
_ONE_WORD_PATH = re.compile(r"\S*[/\\]\S*|\S+\.[A-Za-z]\w{0,6}")
_FILE_NAME = re.compile(r".*\.(mrg|txt|spacy|jsonl?|tsv|gz|parsed)", re.DOTALL)
_PATIENCE = 2.0  # seconds after which one wants to know that something goes on


# Messages ----------------------------------------------------------------------------------------


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that errors are one line on stderr, and the code is 1 where files, data or models are bad.

    Code 130 where it was interrupted. Warnings are one line each as well.
    """

    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> None:
        interrupted = Event()
        try:
            with _plain_warnings(), _noticing(interrupted), careful_stdout():
                command(*args, **kwargs)
        except BrokenPipeError:  # the program that reads our output has seen enough
            settle(sys.stdout)
        except (KeyboardInterrupt, ValueError, OverflowError, MemoryError, OSError, ImportError) as error:
            settle(sys.stdout)
            # numpy, for one, makes errors of its own of an interrupt
            if interrupted.is_set() or isinstance(error, KeyboardInterrupt):
                log("Error: interrupted")
                raise typer.Exit(INTERRUPTED) from None
            hint = _SKIP_BAD if _is_broken_tree(error) and kwargs.get("skip_bad") is False else ""
            log(f"Error: {_TOO_MUCH.get(type(error), '')}{one_line(error)}{hint}")
            raise typer.Exit(BAD_DATA) from error

    return reporting


def _is_broken_tree(error: BaseException) -> bool:
    """Return whether an error is of one broken tree, which --skip-bad leaves out."""
    from spacy_lpcfg.trees.brackets import BrokenFileError, TreebankError

    return isinstance(error, TreebankError) and not isinstance(error, BrokenFileError)


def one_line(error: object) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())


@contextmanager
def _noticing(interrupted: Event) -> Iterator[None]:
    """Note Ctrl-C in the block before it is raised, if it is raised at all."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return

    def note(*_: Any) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Tell by `log` of warnings in the block, and of those that the library logs."""
    logger, handler = logging.getLogger("spacy_lpcfg"), _Telling(logging.WARNING)
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: log(f"Warning: {one_line(message)}")
            yield
    finally:
        logger.removeHandler(handler)


class _Telling(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(f"{record.levelname.capitalize()}: {self.format(record)}")


def log(message: str) -> None:
    """Say what is not a result, on stderr, beside any progress bar; if nobody can read it, it is not said."""
    from tqdm import tqdm

    from spacy_lpcfg.pictures.visible import visible_lines

    try:
        tqdm.write(visible_lines(message), file=sys.stderr)
    except (OSError, ValueError):
        settle(sys.stderr)


def tell(message: str) -> None:
    """Print what is no result: a command that saves what it has learned goes on if stdout cannot be written to."""
    try:
        print(message, flush=True)
    except BrokenPipeError:
        settle(sys.stdout)
    except (OSError, ValueError) as error:
        settle(sys.stdout)
        log(f"Warning: {one_line(error)}")


def log_skipped(errors: Sequence[Exception]) -> None:
    """Say how many broken trees were left out."""
    if errors:
        log(f"{len(errors)} broken trees were skipped, the first at {errors[0]}")


# Progress ----------------------------------------------------------------------------------------


def progress(items: Iterable[Item], unit: str, *, hidden: bool = False, total: int | None = None) -> Iterable[Item]:
    """Return the items, counted by a bar on stderr if that is a terminal and they take some seconds.

    items (iterable): what is gone through.
    unit (str): what to call one of them.
    hidden (bool): whether to do without the bar in any case.
    total (int or None): how many there are, if the bar cannot see: then it says how long the rest will take.
    """
    from tqdm import tqdm

    return tqdm(items, total=total, unit=f" {unit}", disable=hidden or None, leave=False, delay=_PATIENCE)


@contextmanager
def progress_of_steps() -> Iterator[Callable[[str, int], None]]:
    """Return a callback for the name of a step and how far it has come; each step has a bar on stderr in turn."""
    from tqdm import tqdm

    bars: dict[str, tqdm] = {}

    def tell(step: str, n: int) -> None:
        if step not in bars:
            for bar in bars.values():
                bar.close()
            bars[step] = tqdm(desc=step, unit="", disable=None, leave=False, delay=_PATIENCE)
        bars[step].update(n - bars[step].n)

    try:
        yield tell
    finally:
        for bar in bars.values():
            bar.close()


@contextmanager
def busy(what: str, n_steps: int | None = None, unit: str = "steps") -> Iterator[Callable[[int], None]]:
    """Count the seconds that the block takes, on stderr if that is a terminal.

    what (str): what is being done.
    n_steps (int or None): how many steps that has, if it is known: the time that is left is told as well.
    unit (str): what steps are called.
    YIELDS (callable): takes how many steps are done.
    """
    from tqdm import tqdm

    form = "{desc} {elapsed}" if n_steps is None else None
    with tqdm(
        desc=what, total=n_steps, unit=f" {unit}", bar_format=form, disable=None, leave=False, delay=_PATIENCE
    ) as bar:

        def reach(step: int) -> None:
            bar.n = step

        if bar.disable:
            yield reach
            return
        done = Event()
        clock = Thread(target=_tick, args=(bar, done), daemon=True)
        clock.start()
        try:
            yield reach
        finally:
            done.set()
            clock.join()


def _tick(bar: Any, done: Event) -> None:
    seconds = _PATIENCE
    while not done.wait(seconds):
        bar.refresh()
        seconds = 1.0


def begun(items: Iterable[Item]) -> Iterator[Item]:
    """Return the same items once the first is made, so that its errors are told before any output."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    return chain(first, iterator)


# Files -------------------------------------------------------------------------------------------


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, plain or compressed with gzip, or of stdin for "-", without their ends.

    RAISES (TreebankError): With file and line, where it is not UTF-8, or damaged.
    """
    from spacy_lpcfg.trees import brackets

    lines = brackets.decode_lines(stdin(), path) if path == STDIN else brackets.read_lines(path)
    for line in lines:
        yield line.rstrip("\r\n")


def check_input(path: str, hint: str = "FILE") -> None:
    """Raise BadParameter unless an input is a file, or "-" for stdin, and ValueError if stdin is closed."""
    if path == STDIN:
        stdin()
        return
    if Path(path).is_dir():
        raise typer.BadParameter(f"{path!r} is a folder: name a file in it", param_hint=hint)
    if not Path(path).exists():
        raise typer.BadParameter(f"there is no file {path!r}", param_hint=hint)


def is_text(source: str) -> bool:
    """Return whether an argument is a text: neither "-" for stdin, nor the name of a file or folder that exists."""
    return source != STDIN and not os.path.exists(source)


def looks_like_path(source: str) -> bool:
    """Return whether an argument is one word that names a file, by a slash or an ending."""
    return _ONE_WORD_PATH.fullmatch(source) is not None


def check_input_or_text(source: str, hint: str = "FILE") -> None:
    """Check an input that may also be a text; log it if the text could be the name of a file.

    RAISES (BadParameter): For one word that looks like a path where nothing is, and for what is not UTF-8.
    """
    if not is_text(source):
        return check_input(source, hint)
    if looks_like_path(source):
        raise typer.BadParameter(
            f"there is no file {source!r}; if it is a text, give it by stdin, as -", param_hint=hint
        )
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise typer.BadParameter("the text is not UTF-8", param_hint=hint) from error
    if len(source.split()) == 1 or _FILE_NAME.fullmatch(source):
        log(f"There is no file {source!r}: it is taken for a text")


def check_output(
    path: Path | None, hint: str = "--output", *, inputs: Iterable[str | Path] = (), force: bool = False
) -> None:
    """Refuse a file that cannot be written, that is read, or that is there already.

    path (Path or None): the file; None is stdout
    inputs (iterable of str or Path): what the command reads: files, - for stdin, folders with all that is in them
    force (bool): whether a file that is there may be replaced, if it is not read
    RAISES (BadParameter): If the file is refused.
    """
    if path is None or files.is_device(path):
        return
    if path.is_dir():
        raise typer.BadParameter(f"'{path}' is a folder: name a file", param_hint=hint)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder '{path.parent}' for '{path.name}'", param_hint=hint)
    if not os.access(path.parent, os.W_OK):
        raise typer.BadParameter(f"the folder '{path.parent}' cannot be written to", param_hint=hint)
    if path.exists() and any(is_within(path, source) for source in inputs):
        raise typer.BadParameter(f"'{path}' is read, and would be replaced: name another file", param_hint=hint)
    if path.exists() and not force:
        raise typer.BadParameter(f"'{path}' exists: name another file, or use --force", param_hint=hint)


def is_within(path: Path, source: str | Path) -> bool:
    """Return whether a path where something is lies in a folder, or is that folder or file itself; - is stdin."""
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
    """Open a file that appears when the block succeeds and leaves no trace otherwise; stdout for None.

    force (bool): whether it may replace a file
    RAISES (ValueError): If a file has appeared there that may not be replaced. The new one is then beside it.
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
    """Open a file as `replacing` does, for text in UTF-8, which is compressed if the name ends in `.gz`."""
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
