"""Open files, and write files and folders atomically: an interruption leaves either the old or the new content.

Content is written to a temporary file or folder beside the target, forced to the disk, and renamed in one step.
Temporary files of killed processes are removed by the next process that writes to the same target (not on Windows,
where one cannot ask whether a process is running).
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
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import IO, TypeAlias, cast

PathLike: TypeAlias = str | os.PathLike[str]

_HOST = hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:6]  # folders may be shared by machines
_NUMBERS = count()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_AT_CURRENT_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def open_file(path: PathLike) -> BufferedReader:
    """Open a regular file for reading bytes; the models and treebanks that the package reads are opened by it.

    RAISES (ValueError): If the path is a pipe or a device, which might block or be endless.
        (OSError): If the file cannot be opened.
    """
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115
    try:
        check_regular(path, os.fstat(file.fileno()))
    except ValueError:
        file.close()
        raise
    return file


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking, even a pipe without a writer, and return its descriptor."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_regular(path: PathLike, status: os.stat_result) -> None:
    """Raise ValueError, with the path in the message, unless `status` is the status of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"Expected a file, got '{os.fspath(path)}', a pipe or a device: save it to a file first.")


def write_atomically(path: PathLike, data: bytes) -> None:
    """Write data to a file, which is replaced atomically; see `replacing`."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: PathLike, *, check: Callable[[Path], None] | None = None) -> Iterator[IO[bytes]]:
    """Context manager: open a temporary file that replaces the file `path` if the block succeeds, and else is removed.

    Symbolic links are followed; devices and pipes are written to directly. From its first byte on, the new file has the
    permissions of the old one.

    path (path): The file to replace, which may be missing.
    check (callable or None): Called with the path of the complete new file; if it raises an error, `path` is not
        replaced.
    RAISES (OSError): If the disk is full, with `path` as the file name in the error; or as for `open`.
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
    """Context manager: make a temporary folder that replaces `path` if the block succeeds, and else is removed.

    On Linux the names of the old and the new folder are exchanged in one step. Elsewhere there is a moment at which
    neither has the name: if the process is killed then, the next process that writes to `path` restores the old folder.

    The new folder gets the permissions of the old one, and so does each file in it that the old folder has under the
    same name.

    path (path): The folder to replace, which may be missing.
    check (callable or None): Called with the path of the complete new folder; if it raises an error, `path` is not
        replaced.
    RAISES (NotADirectoryError): If `path` exists and is not a folder.
        (OSError): If the disk is full, with `path` as the file name in the error; or if the folder cannot be made.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isdir(target):
        raise NotADirectoryError(errno.ENOTDIR, "Expected a folder, or a path at which nothing is", str(path))
    with _naming(path), _replacing_folder(target, check) as folder:
        yield folder


@contextmanager
def _replacing_folder(target: str, check: Callable[[Path], None] | None) -> Iterator[Path]:
    temporary = _beside(target)
    try:
        os.mkdir(temporary, 0o700 if os.path.isdir(target) else 0o777)  # private until its permissions are set
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
    """Set the file name of disk-full errors to `path`; otherwise they name no file, or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            error.filename = os.fspath(path)
        raise


@contextmanager
def gzipping(file: IO[bytes], *, is_zipped: bool) -> Iterator[IO[bytes]]:
    """Context manager: yield a stream that writes to `file`, compressed if `is_zipped`.

    The same content always gives the same bytes, since no time is stored.
    """
    if not is_zipped:
        yield file
        return
    with GzipFile("", "wb", fileobj=file, mtime=0) as stream:
        yield cast(IO[bytes], stream)


def is_device(path: PathLike) -> bool:
    """Return whether a path exists and is neither file nor folder, such as /dev/null or a pipe."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _permissions(path: str) -> int | None:
    """Return the permissions of a file or folder; None if it does not exist."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _put_in_place(new: str, target: str) -> None:
    """Move the folder `new` to `target`, and remove the old folder there; if anything fails, the old folder stays."""
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
    """Exchange the names of two files or folders atomically, if the system can; return whether it did."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return rename(_AT_CURRENT_FOLDER, names[0], _AT_CURRENT_FOLDER, names[1], _EXCHANGE) == 0


def _beside(target: str) -> str:
    """Return a new temporary path beside a file or folder; first remove temporary files of killed processes there."""
    clear_unfinished(target)
    return f"{target}.{_HOST}-{os.getpid()}-{next(_NUMBERS)}.tmp"


def clear_unfinished(target: str) -> None:
    """Remove the temporary files of killed processes beside `target`; restore a folder that they were replacing."""
    folder, name = os.path.split(target)
    ours = re.compile(rf"{re.escape(name)}\.{_HOST}-(\d+)-\d+\.(tmp|old)")
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            match = ours.fullmatch(entry.name)
            if match and not _is_running(int(match[1])):
                if match[2] == "old" and not os.path.exists(target):
                    os.rename(entry.path, target)
                else:
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.remove(entry.path)


def _is_running(process: int) -> bool:
    """Return whether a process with the given id may be running; True if the system does not tell."""
    if os.name != "posix":
        return True  # signal 0 would terminate the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # the process of another user, or an impossible id
        return True
    return True


def _force_to_disk(path: str) -> None:
    """Flush a file or folder to the disk if the system supports it."""
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
