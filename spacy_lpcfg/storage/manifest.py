"""Manifests of saved folders, so that no folder with files that this package did not save is replaced.

A manifest is a JSON object that maps the path of each file in the folder to its SHA-256, of each subfolder to "folder",
and of any other entry, such as a link, to null.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from spacy_lpcfg.storage.files import PathLike

MANIFEST = "saved-by-spacy-lpcfg.json"
_ADVICE = "name another folder, or replace this one with all that it holds by --force"
_FOLDER = "folder"  # entered for folders instead of a SHA-256
_MAX_BYTES = 10_000_000  # of a manifest
_CHUNK = 1 << 20
_MOUNTS = "/proc/self/mountinfo"  # of Linux; the fifth field is the mount point, with blanks as octal escapes
_ESCAPED = re.compile(r"\\([0-7]{3})")


def write_manifest(folder: PathLike) -> None:
    """Write the manifest of the current content of a folder to the file `MANIFEST` in it.

    RAISES (OSError): If a file cannot be read or written.
    """
    digests = {name: _digest(entry) for name, entry in _entries(os.fspath(folder))}
    (Path(folder) / MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")


def reason_not_replaceable(path: PathLike, *, force: bool = False) -> str | None:
    """Return the reason why a folder may not be replaced, as the end of a sentence about the folder; None if it may.

    A folder may be replaced if it is missing or empty, or if its manifest lists all its files and none has changed, and
    if it can be renamed. Symbolic links are followed.

    path (path): The folder, which may be missing.
    force (bool): Whether a folder with other or changed files may be replaced too, if it can be renamed.
    RAISES (OSError): If the folder cannot be read.
    """
    target = os.path.realpath(path)
    if not os.path.isdir(target):
        return None
    return _reason_not_renamable(target) or (None if force else _reason_not_ours(target))


def _reason_not_renamable(target: str) -> str | None:
    with suppress(FileNotFoundError):  # if the working folder was removed
        here = Path.cwd()
        if any(os.path.samefile(target, folder) for folder in (here, *here.parents)):
            return "is the working folder or holds it: name another folder, such as one in it"
    if os.path.ismount(target):
        return "is where a disk is mounted: name a folder in it"
    below = os.path.join(target, "")
    mount = next((point for point in _mounts() if point == target or point.startswith(below)), None)
    return mount and f"is or holds {mount!r}, where a disk is mounted: name another folder, such as one in it"


def _mounts() -> list[str]:
    """Return all mount points, bind mounts included; [] if the system does not list them."""
    try:
        lines = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [_ESCAPED.sub(lambda code: chr(int(code[1], 8)), line.split(" ")[4]) for line in lines]


def _reason_not_ours(target: str) -> str | None:
    """Return a message about the first entry that is new or changed since the manifest; None if no entry is."""
    known = _read_manifest(os.path.join(target, MANIFEST))
    for name, entry in _entries(target):
        if name == MANIFEST and known:
            continue
        if name not in known:
            return f"holds {name!r}, which was not saved there by this package: {_ADVICE}"
        if _digest(entry) != known[name]:
            return f"holds {name!r}, which has changed since it was saved: {_ADVICE}"
    return None


def _read_manifest(path: str) -> dict[str, str]:
    """Return the entries of a manifest; {} if the file is missing, a link, too large or malformed."""
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
        return {}
    try:
        known = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _entries(folder: str, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (relative path, entry) of all entries below a folder, sorted by name; links are not followed."""
    with os.scandir(folder) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    for entry in entries:
        yield above + entry.name, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, f"{above}{entry.name}/")


def _digest(entry: os.DirEntry[str]) -> str | None:
    """Return the SHA-256 of a file, `_FOLDER` for a folder, and None for a link, a pipe or a device."""
    if not entry.is_file(follow_symlinks=False):
        return _FOLDER if entry.is_dir(follow_symlinks=False) else None
    sha = hashlib.sha256()
    with open(entry.path, "rb") as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
    return sha.hexdigest()
