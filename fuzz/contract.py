"""Targets, and the bounds within which their checks have to end."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.choices import Choices, bytes_of

SECONDS = 10.0  # of processor time
MEMORY = 2**30  # bytes on top of what the process has
Case = Any
"""A value that JSON can hold, and people can read."""


class Target(NamedTuple):
    """Something that takes input from outside.

    case (callable): Function that makes an input of choices.
    check (callable): Function that tests an input, and raises unless the contract holds: the result is valid,
        or a documented error with a message that says where and what to do.
    seeds (callable): Function that returns bytes to begin with, of which `case` makes valid inputs.
    seconds (float): Processor time that a check may take.
    """

    case: Callable[[Choices], Case]
    check: Callable[[Case], None]
    seeds: Callable[[], Iterable[bytes]] = tuple
    seconds: float = SECONDS

    def run(self, data: bytes) -> None:
        """Check the case that bytes make."""
        self.replay(self.case(Choices(data)))

    def replay(self, case: Case) -> None:
        """Check a case."""
        with bounded(self.seconds):
            self.check(case)


class TooSlow(BaseException):
    """A check that takes too long; nothing that is tested may take it for an error of its own."""


@contextmanager
def bounded(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Run a block that raises TooSlow after so much processor time, and MemoryError where it wants too much.

    Where the system has no such limits, on Windows and partly on macOS, it has none. Kernels are not interrupted, but
    ended by the fuzzer's own limit of time.
    """
    with _time_limit(seconds), _memory_limit(memory):
        yield


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooSlow(f"This took more than {seconds} seconds of processor time.")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _memory_limit(memory: int) -> Iterator[None]:
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    in_use = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + memory, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def files(*texts: str) -> Iterator[list[Path]]:
    """Provide a temporary file for each text, with the bytes that `bytes_of` makes of it."""
    with tempfile.TemporaryDirectory(dir=_SHARED_MEMORY) as folder:
        paths = [Path(folder, f"file{i}") for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(bytes_of(text))
        yield paths


_SHARED_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def expect(holds: bool, what: str) -> None:
    """Raise AssertionError unless a condition holds."""
    if not holds:
        raise AssertionError(what)
