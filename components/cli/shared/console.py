"""Messages of commands beside their results: errors, warnings, progress bars."""

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
    """Return the message of an error on one line, with the advice to skip a broken tree.

    skip_bad (bool or None): Whether the command skips broken trees; None if it cannot.
    """
    hint = _SKIP_BAD if skip_bad is False and _is_broken_tree(error) else ""
    return one_line(error) + hint


def _is_broken_tree(error: BaseException) -> bool:
    """Return whether an error is of one broken tree, which --skip-bad leaves out."""
    from spacy_lpcfg.trees.errors import BrokenFileError, TreebankError

    return isinstance(error, TreebankError) and not isinstance(error, BrokenFileError)


def one_line(error: object) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())


@contextmanager
def usage_errors(hint: str | None = None, *, kinds: tuple[type[Exception], ...] = (ValueError,)) -> Iterator[None]:
    """Report errors of the given kinds in the block as BadParameter: wrong usage, without a traceback.

    hint (str or None): The option or argument that the message names.
    kinds (tuple of type): Classes of the errors that are reported.
    """
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


@contextmanager
def _noticing(interrupted: Event) -> Iterator[None]:
    """Set an event when Ctrl-C interrupts the block, since a library may turn that into an error of its own."""
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
    """Log each warning in the block once, and all that the library logs, as a line each."""
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
    """Write a message to stderr, beside any progress bar; drop it if stderr cannot be written to."""
    from tqdm import tqdm

    from spacy_lpcfg.visible import visible_lines

    try:
        tqdm.write(visible_lines(message), file=sys.stderr)
    except (OSError, ValueError):
        settle(sys.stderr)


def tell(message: str) -> None:
    """Print a message on stdout; if that cannot be written to, only warn, so that a command goes on to save."""
    try:
        print(message, flush=True)
    except BrokenPipeError:
        settle(sys.stdout)
    except (OSError, ValueError) as error:
        settle(sys.stdout)
        log(f"Warning: {one_line(error)}")


@contextmanager
def skipping_broken(is_asked: bool) -> Iterator[OnError]:
    """Provide what is called with the error of each broken tree in the block, and log these errors at its end.

    is_asked (bool): Whether broken trees are skipped; if not, None is provided, so that their errors are raised.
    """
    errors: list[Exception] = []
    yield errors.append if is_asked else None
    log_skipped(errors)


def log_skipped(errors: Sequence[Exception]) -> None:
    """Log the number of broken trees that were left out, and each of them, up to `_MOST_TOLD`, on a line."""
    if errors:
        log(f"{counted(len(errors), 'broken tree was', 'broken trees were')} skipped, the first at {errors[0]}")
    for error in errors[1:_MOST_TOLD]:
        log(f"skipped: {one_line(error)}")
    if len(errors) > _MOST_TOLD:
        log(f"and {len(errors) - _MOST_TOLD:,} more")


# Progress ----------------------------------------------------------------------------------------


def progress(items: Iterable[Item], unit: str, *, hidden: bool = False, total: int | None = None) -> Iterable[Item]:
    """Return the items, counted by a bar on stderr if that is a terminal and they take some seconds.

    items (iterable): The items.
    unit (str): Name of the items, in the plural.
    hidden (bool): Whether to show no bar in any case.
    total (int or None): The number of items, with which the bar says how long the rest will take.
    """
    from tqdm import tqdm

    return tqdm(items, total=total, unit=f" {unit}", disable=hidden or None, leave=False, delay=_PATIENCE)


@contextmanager
def busy(what: str, n_steps: int | None = None, unit: str = "steps") -> Iterator[Callable[[int], None]]:
    """Show the seconds that the block has taken on stderr, if that is a terminal.

    what (str): The work, as a participle such as "learning".
    n_steps (int or None): The number of steps, with which the time that is left is told as well.
    unit (str): Name of the steps, in the plural.
    YIELDS (callable): Function that takes the number of steps that are done.
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
    """Return the items after making the first of them, so that its errors come before any output."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    return chain(first, iterator)
