"""Files and folders that appear when they are complete: whatever ends the writing leaves the old ones or the new ones.

They are written beside their place, under a name that no other process takes, forced to the disk, and then given the
name of the old ones in one step. What a process that was killed has left beside a place is removed by the next one that
writes there (not on Windows, where one cannot ask whether a process lives).
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import platform
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from gzip import GzipFile
from itertools import count
from pathlib import Path
from typing import IO, TypeAlias, cast

PathLike: TypeAlias = str | os.PathLike[str]

_HOST = hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:6]  # folders may be shared by machines
_NUMBERS = count()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_AT_CURRENT_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def write_atomically(path: PathLike, data: bytes) -> None:
    """Write a file that takes the place of an old one only when it is whole."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: PathLike, *, check: Callable[[Path], None] | None = None) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when the block succeeds, and leaves no trace otherwise.

    A link stays: what it points to is replaced. So does a device or a pipe, which is written to. The permissions of a
    file that is replaced are those of the new one from its first byte on.

    check (callable or None): called with the new file when it is complete; if it raises, what is at `path` stays
    RAISES (OSError): Of the name `path`, where the disk is full.
    """
    with _naming(path), _replacing(os.path.realpath(path), check) as file:
        yield file


@contextmanager
def _replacing(target: str, check: Callable[[Path], None] | None) -> Iterator[IO[bytes]]:
    if is_device(target):
        with open(target, "wb") as device:
            yield device
        return
    temporary = _beside(target)
    mode = _permissions(target)
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode & 0o700)) as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if check is not None:
            check(Path(temporary))
        os.replace(temporary, target)
        _force_to_disk(os.path.dirname(target))
    finally:
        with suppress(FileNotFoundError):
            os.remove(temporary)


@contextmanager
def replacing_folder(path: PathLike, *, check: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """An empty folder to fill, that takes the place of `path` when the block succeeds, and else leaves no trace.

    Linux exchanges the names of the old and the new folder in one step. Elsewhere there is a moment at which neither
    has the name: a process killed in it leaves the old one beside the place, and the next that writes there brings it
    back.

    The new folder has the permissions of the old one, and its files those of files of the same names in the old one.

    check (callable or None): called with the new folder when it is complete; if it raises, what is at `path` stays
    RAISES (NotADirectoryError): If there is something else than a folder at `path`, which stays. (OSError): Of the name
        `path`, where the disk is full.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isdir(target):
        raise NotADirectoryError(errno.ENOTDIR, "Expected a folder, or nothing, where a folder is to be", str(path))
    with _naming(path), _replacing_folder(target, check) as folder:
        yield folder


@contextmanager
def _replacing_folder(target: str, check: Callable[[Path], None] | None) -> Iterator[Path]:
    temporary = _beside(target)
    try:
        os.mkdir(temporary, 0o700 if os.path.isdir(target) else 0o777)  # nobody looks in before it has its permissions
        yield Path(temporary)
        for folder, _, names in os.walk(temporary, topdown=False):
            for name in (*names, ""):
                path = os.path.join(folder, name)
                _force_to_disk(path)
                mode = _permissions(os.path.join(target, os.path.relpath(path, temporary)))
                if mode is not None:
                    os.chmod(path, mode)
        if check is not None:
            check(Path(temporary))
        _put_in_place(temporary, target)
        _force_to_disk(os.path.dirname(target))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _naming(path: PathLike) -> Iterator[None]:
    """Errors of a full disk, which come without a name, or with that of a file beside, get this one."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            error.filename = os.fspath(path)
        raise


@contextmanager
def gzipping(file: IO[bytes], *, is_zipped: bool) -> Iterator[IO[bytes]]:
    """Yield a stream that writes to a file, compressed if asked for; the same content always gives the same bytes."""
    if not is_zipped:
        yield file
        return
    with GzipFile("", "wb", fileobj=file, mtime=0) as stream:
        yield cast(IO[bytes], stream)


def is_device(path: PathLike) -> bool:
    """Whether a path is there and neither file nor folder, such as /dev/null or a pipe."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _permissions(path: str) -> int | None:
    """The permissions of a file or folder; None where there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _put_in_place(new: str, target: str) -> None:
    """Rename a folder; the one that has the name already is removed, or keeps it if anything fails."""
    if not os.path.exists(target):
        os.rename(new, target)
    elif not _exchange(new, target):
        old = new.removesuffix(".tmp") + ".old"
        os.rename(target, old)
        try:
            os.rename(new, target)
        except OSError:
            os.rename(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: str, other: str) -> bool:
    """Exchange two names in one step, where the system can; whether it did."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return rename(_AT_CURRENT_FOLDER, names[0], _AT_CURRENT_FOLDER, names[1], _EXCHANGE) == 0


def _beside(target: str) -> str:
    """A new name beside a file or folder; what killed processes left there is removed, or brought back."""
    folder, name = os.path.split(target)
    ours = re.compile(rf"{re.escape(name)}\.{_HOST}-(\d+)-\d+\.(tmp|old)")
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            found = ours.fullmatch(entry.name)
            if found and not _is_running(int(found[1])):
                if found[2] == "old" and not os.path.exists(target):
                    os.rename(entry.path, target)
                else:
                    _remove(entry)
    return f"{target}.{_HOST}-{os.getpid()}-{next(_NUMBERS)}.tmp"


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.remove(entry.path)


def _is_running(process: int) -> bool:
    """Whether there may be a process of that number on this machine."""
    if os.name != "posix":
        return True  # signal 0 would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or a number that none has
        return True
    return True


def _force_to_disk(path: str) -> None:
    """Have the system write a file or folder out, where it can be told to."""
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
