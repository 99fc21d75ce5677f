"""stdin, stdout and stderr, which may be closed, full or a terminal: errors that name them, and nothing that harms."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO, Any


def open_closed() -> None:
    """Give what Python has no stream for, as it was closed, the null device, so that no other file gets its number.

    stdout is then one that cannot be written to, and stderr one that nobody reads; stdin is still None.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            os.set_inheritable(descriptor, True)  # as those of streams are: worker processes have them too
            if name != "stdin":
                setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8"))


def stdin() -> IO[bytes]:
    """Return stdin; raise ValueError if it is closed."""
    if sys.stdin is None:
        raise ValueError("stdin is closed: name a file, or give the command something to read")
    return sys.stdin.buffer


@contextmanager
def careful_stdout() -> Iterator[None]:
    """Name stdout in its errors within the block, and send a terminal no control characters."""
    stream = sys.stdout
    with redirect_stdout(_Careful(stream)):
        yield
        sys.stdout.flush()


class _Careful:
    """A stream of text, but for `write` and `flush`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _naming_stdout():
            return self._stream.write(_visible(text) if self._is_terminal else text)

    def flush(self) -> None:
        with _naming_stdout():
            self._stream.flush()


def _visible(text: str) -> str:
    from spacy_lpcfg.pictures.visible import visible_lines

    return visible_lines(text)


@contextmanager
def _naming_stdout() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = "stdout"
        raise


def settle(stream: Any) -> None:
    """Have a stream that failed swallow what it still holds, which Python would try to write again when it ends."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
