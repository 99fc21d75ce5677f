"""A file that one process writes again and again, with a lock so that it overwrites no content of other processes."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path

from spacy_lpcfg.storage.files import PathLike, replacing

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class OwnedFile:
    """A file that only this process writes, until it calls `close` or ends.

    Ownership is a lock on a second file, with the suffix `.lock`, which the system releases when the process ends.

    path (path): The path of the file.
    resume (bool): Whether the file may exist already; `write` then replaces its content.
    RAISES (ValueError): If the file exists and `resume` is False, or if another process owns it.
    """

    def __init__(self, path: PathLike, *, resume: bool = False) -> None:
        self.path = Path(path)
        lock = f"{os.path.realpath(path)}.lock"
        number = _locked(lock)
        if number is None:
            raise ValueError(f"{path} is being written by another process: end it, or name another file.")
        self.close = weakref.finalize(self, _unlock, number, lock)
        self._content = self._read()
        if self._content is not None and not resume:
            self.close()
            raise ValueError(f"{path} exists: name another file, or resume it.")

    def write(self, data: bytes) -> None:
        """Replace the content of the file atomically; a file that was removed is written anew.

        RAISES (ValueError): If the file has other content than this object read or wrote last.
            (OSError): If it cannot be written.
        """
        with replacing(self.path, check=lambda _: self._check()) as file:
            file.write(data)
        self._content = data

    def _check(self) -> None:
        if self._read() not in (None, self._content):
            raise ValueError(
                f"{self.path} holds something else than what was written to it last, and stays as it is: move it away, "
                "and save again, or start again and resume it."
            )

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None


def _locked(path: str) -> int | None:
    """Open and lock the lock file at `path`; return its descriptor, or None if another process has locked it."""
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(number)
            return None
        except OSError:  # a file system without locks: foreign content is still detected
            return number
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), os.stat(path)):
                return number
        os.close(number)  # the previous owner has just removed it


def _unlock(number: int, path: str) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            os.close(number)
            os.remove(path)
        else:
            os.remove(path)
            os.close(number)
