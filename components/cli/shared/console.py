"""Messages of commands besides their results: errors, warnings, progress bars."""

from __future__ import annotations

import logging
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from itertools import chain, islice
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.streams import careful_stdout, settle

if TYPE_CHECKING:
    from spacy_lpcfg.trees.errors import OnError

Item = TypeVar("Item")

BAD_DATA = 1
INTERRUPTED = 130  # that of a process that Ctrl-C ends
_TOO_MUCH: dict[type[BaseException], str] = {
    MemoryError: "this takes more memory than there is; ask for less. ",
    OverflowError: "a number is too large; give a smaller one. ",
}
_EXPECTED = (ValueError, OverflowError, MemoryError, OSError, ImportError)
_SKIP_BAD = " Or use --skip-bad, which leaves out broken trees and counts them."
_MOST_TOLD = 100  # broken trees
_PATIENCE = 2.0  # seconds after which one wants to know that something goes on


# Messages ----------------------------------------------------------------------------------------


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command to print errors and warnings as one line each on stderr, instead of tracebacks.

    The exit code is 1 for an error of files, data or models, and 130 after Ctrl-C. Exceptions of other types are bugs,
    and are not caught.
    """

    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> None:
        interrupted = Event()
        try:
            with _plain_warnings(), _noticing(interrupted), careful_stdout():
                command(*args, **kwargs)
        except BrokenPipeError:  # the program that reads our output has seen enough
            settle(sys.stdout)
        except (KeyboardInterrupt, Exception) as error:
            # a library makes an error of its own of an interrupt in the middle of its import
            if interrupted.is_set() or isinstance(error, KeyboardInterrupt):
                settle(sys.stdout)
                log("Error: interrupted")
                raise typer.Exit(INTERRUPTED) from None
            if not isinstance(error, _EXPECTED):
                raise
            settle(sys.stdout)
            log(f"Error: {_TOO_MUCH.get(type(error), '')}{message_of(error, skip_bad=kwargs.get('skip_bad'))}")
            raise typer.Exit(BAD_DATA) from error

    return reporting


def message_of(error: BaseException, *, skip_bad: bool | None) -> str:
    """Return the message of an error on one line; for a broken tree, with the advice to use --skip-bad.

    skip_bad (bool or None): The value of the command's --skip-bad, None if the command lacks it. The advice is given
        only for False.
    """
    hint = _SKIP_BAD if skip_bad is False and _is_broken_tree(error) else ""
    return one_line(error) + hint


def _is_broken_tree(error: BaseException) -> bool:
    """Return whether an error is about one broken tree, which --skip-bad would skip, rather than about a whole file."""
    from spacy_lpcfg.trees.errors import BrokenFileError, TreebankError

    return isinstance(error, TreebankError) and not isinstance(error, BrokenFileError)


def one_line(error: object) -> str:
    """Return the message of an error on one line: each run of white space becomes a blank."""
    return " ".join(str(error).split())


@contextmanager
def usage_errors(hint: str | None = None, *, kinds: tuple[type[Exception], ...] = (ValueError,)) -> Iterator[None]:
    """Convert exceptions in the block to BadParameter, which typer reports as wrong usage.

    hint (str or None): The option or argument that the message names.
    kinds (tuple of type): The types of exceptions to convert.
    """
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


@contextmanager
def _noticing(interrupted: Event) -> Iterator[None]:
    """Set `interrupted` on Ctrl-C in the block, since libraries may hide KeyboardInterrupt in other exceptions."""
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
    """Print each distinct warning in the block, and each log record of this package from WARNING on, as one line."""
    logger, handler = logging.getLogger("spacy_lpcfg"), _Telling(logging.WARNING)
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            log_once = cache(log)
            warnings.showwarning = lambda message, *_: log_once(f"Warning: {one_line(message)}")
            yield
    finally:
        logger.removeHandler(handler)


class _Telling(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(f"{record.levelname.capitalize()}: {self.format(record)}")


def log(message: str) -> None:
    """Write a message to stderr without disturbing a progress bar; discard it if stderr cannot be written to."""
    from tqdm import tqdm

    from spacy_lpcfg.visible import visible_lines

    try:
        tqdm.write(visible_lines(message), file=sys.stderr)
    except (OSError, ValueError):
        settle(sys.stderr)


def tell(message: str) -> None:
    """Print a message on stdout; if stdout cannot be written to, only warn, so that the command can still save."""
    try:
        print(message, flush=True)
    except BrokenPipeError:
        settle(sys.stdout)
    except (OSError, ValueError) as error:
        settle(sys.stdout)
        log(f"Warning: {one_line(error)}")


@contextmanager
def skipping_broken(is_asked: bool) -> Iterator[OnError]:
    """Yield an `on_error` callback that collects the errors of broken trees; log them at the end of the block.

    is_asked (bool): Whether broken trees are skipped; if not, None is yielded, so that readers raise the errors.
    """
    errors: list[Exception] = []
    yield errors.append if is_asked else None
    log_skipped(errors)


def log_skipped(errors: Sequence[Exception]) -> None:
    """Log the number of skipped trees, and the first `_MOST_TOLD` of their errors, one on each line."""
    if errors:
        log(f"{counted(len(errors), 'broken tree was', 'broken trees were')} skipped, the first at {errors[0]}")
    for error in errors[1:_MOST_TOLD]:
        log(f"skipped: {one_line(error)}")
    if len(errors) > _MOST_TOLD:
        log(f"and {len(errors) - _MOST_TOLD:,} more")


# Progress ----------------------------------------------------------------------------------------


def progress(items: Iterable[Item], unit: str, *, hidden: bool = False, total: int | None = None) -> Iterable[Item]:
    """Wrap items in a progress bar on stderr, shown after two seconds if stderr is a terminal.

    items (iterable): The items to iterate over.
    unit (str): The name of the items in the bar, in the plural.
    hidden (bool): Whether to suppress the bar.
    total (int or None): The number of items, from which the bar estimates the remaining time; None for `len(items)`, if
        it is known.
    """
    from tqdm import tqdm

    return tqdm(items, total=total, unit=f" {unit}", disable=hidden or None, leave=False, delay=_PATIENCE)


@contextmanager
def busy(what: str, n_steps: int | None = None, unit: str = "steps") -> Iterator[Callable[[int], None]]:
    """Show the elapsed time of the block on stderr, from two seconds on, if stderr is a terminal.

    what (str): The description of the work, as a participle such as "learning".
    n_steps (int or None): The number of steps, for a progress bar with the remaining time; None for the time alone.
    unit (str): The name of the steps in the bar, in the plural.
    YIELDS (callable): A function to call with the number of completed steps.
    """
    from tqdm import tqdm

    form = "{desc} {elapsed}" if n_steps is None else None
    told: dict[str, Any] = {"desc": what, "total": n_steps, "unit": f" {unit}", "bar_format": form}
    with tqdm(**told, disable=None, leave=False, delay=_PATIENCE) as bar:
        done = Event()
        if not bar.disable:
            clock = Thread(target=_tick, args=(bar, done), daemon=True)
            clock.start()
        try:
            yield lambda step: setattr(bar, "n", step)
        finally:
            done.set()
            if not bar.disable:
                clock.join()


def _tick(bar: Any, done: Event) -> None:
    seconds = _PATIENCE
    while not done.wait(seconds):
        bar.refresh()
        seconds = 1.0


def begun(items: Iterable[Item]) -> Iterator[Item]:
    """Compute the first item now, and return an iterator over all, so that an early error comes before any output."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    return chain(first, iterator)
