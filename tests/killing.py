"""Stop a process that parses a file, in the middle of it, whatever started it."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread


@contextmanager
def first_writer_killed(folder: Path) -> Iterator[Event]:
    """Within, the first process that begins to write a file in a folder is killed; the event says whether one was."""
    killed, done = Event(), Event()
    watcher = Thread(target=_watch, args=(folder, killed, done), daemon=True)
    watcher.start()
    try:
        yield killed
    finally:
        done.set()
        watcher.join()


def as_from_a_terminal() -> None:
    """Put a new process into a group of its own, open to Ctrl-C, which tests in the background are not."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _watch(folder: Path, killed: Event, done: Event) -> None:
    while not done.is_set() and not killed.is_set():
        for process in writers(folder):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                killed.set()
                return
        time.sleep(0.001)


def writers(folder: Path) -> list[int]:
    """The processes that write files there, by the names of what is beside these."""
    found = (re.fullmatch(r".*\.[0-9a-f]{6}-(\d+)-\d+\.tmp", path.name) for path in folder.rglob("*.tmp"))
    return [int(name[1]) for name in found if name]
