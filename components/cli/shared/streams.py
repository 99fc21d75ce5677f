"""The standard streams stdin, stdout and stderr, for cases in which they are closed, full or a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO, Any


def open_closed() -> None:
    """Open the null device in place of each closed standard stream, so that no other file gets its file descriptor.

    Afterwards, writing to a closed stdout raises OSError, output to a closed stderr is discarded, and a closed
    `sys.stdin` remains None.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            os.set_inheritable(descriptor, True)  # as those of streams are: worker processes have them too
            if name != "stdin":
                setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8"))


def stdin() -> IO[bytes]:
    """Return stdin as a binary stream.

    RAISES (ValueError): If stdin is closed.
    """
    if sys.stdin is None:
        raise ValueError("stdin is closed: name a file, or give the command something to read")
    return sys.stdin.buffer


@contextmanager
def careful_stdout() -> Iterator[None]:
    """Wrap `sys.stdout` in the block: OSErrors name "stdout", and on a terminal control characters are escaped."""
    stream = sys.stdout
    with redirect_stdout(_Careful(stream)):
        yield
        sys.stdout.flush()


class _Careful:
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
    from spacy_lpcfg.visible import visible_lines

    return visible_lines(text)


@contextmanager
def _naming_stdout() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = "stdout"
        raise


def settle(stream: Any) -> None:
    """Flush a stream, or discard its buffer if that fails: Python would otherwise fail again at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
