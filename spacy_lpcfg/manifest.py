"""Folders that may be replaced: those that hold nothing but what was saved there, as a manifest among the files tells.

The manifest is a JSON object. It has the path of each entry below the folder, with the SHA-256 of a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from spacy_lpcfg.files import PathLike

MANIFEST = "saved-by-spacy-lpcfg.json"
_ADVICE = "name another folder, or replace this one with all that it holds by --force"
_FOLDER = "folder"  # stands for the SHA-256 of a folder
_LARGEST = 10_000_000  # bytes of a manifest
_CHUNK = 1 << 20
_MOUNTS = "/proc/self/mountinfo"  # of Linux; the fifth field is the place, in which blanks are octal escapes
_ESCAPED = re.compile(r"\\([0-7]{3})")


def write_manifest(folder: PathLike) -> None:
    """Write into a folder what it holds now."""
    found = {name: _content(entry) for name, entry in _entries(os.fspath(folder))}
    (Path(folder) / MANIFEST).write_text(json.dumps(found, indent=1), encoding="utf-8")


def why_kept(path: PathLike, *, force: bool = False) -> str | None:
    """Why a folder may not be replaced, as the end of a sentence that begins with the folder; None if it may.

    Nothing at the path may be replaced, and so may an empty folder. A link stands for the folder that it points to.

    path (path): of the folder, which may be missing
    force (bool): whether the folder may hold anything; that it can be moved is still asked
    RAISES (OSError): If the folder cannot be read.
    """
    target = os.path.realpath(path)
    if not os.path.isdir(target):
        return None
    return _why_fixed(target) or (None if force else _what_is_foreign(target))


def _why_fixed(target: str) -> str | None:
    """Why a folder cannot give its name to another one."""
    with suppress(FileNotFoundError):  # of a working folder that was removed
        here = Path.cwd()
        if any(os.path.samefile(target, folder) for folder in (here, *here.parents)):
            return "is the working folder or holds it: name another folder, such as one in it"
    if os.path.ismount(target):
        return "is where a disk is mounted: name a folder in it"
    below = os.path.join(target, "")
    mount = next((each for each in _mounts() if each == target or each.startswith(below)), None)
    return mount and f"is or holds {mount!r}, where a disk is mounted: name another folder, such as one in it"


def _mounts() -> list[str]:
    """Where something is mounted, which includes folders of the same disk; nothing where the system does not tell."""
    try:
        lines = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [_ESCAPED.sub(lambda code: chr(int(code[1], 8)), line.split(" ")[4]) for line in lines]


def _what_is_foreign(target: str) -> str | None:
    """The first entry that is not in the manifest, or is not as it stands there."""
    known = _read_manifest(os.path.join(target, MANIFEST))
    for name, entry in _entries(target):
        if name == MANIFEST and known:
            continue
        if name not in known:
            return f"holds {name!r}, which was not saved there by this package: {_ADVICE}"
        if _content(entry) != known[name]:
            return f"holds {name!r}, which has changed since it was saved: {_ADVICE}"
    return None


def _read_manifest(path: str) -> dict[str, str]:
    """What the manifest says; nothing if there is no whole one."""
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
        return {}
    try:
        known = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _entries(folder: str, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All entries below a folder by their paths with slashes, in order; no link is followed."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        yield above + entry.name, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, f"{above}{entry.name}/")


def _content(entry: os.DirEntry[str]) -> str | None:
    """The SHA-256 of a file; what stands for that of a folder; None for a link, a pipe or a device."""
    if not entry.is_file(follow_symlinks=False):
        return _FOLDER if entry.is_dir(follow_symlinks=False) else None
    digest = hashlib.sha256()
    with open(entry.path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
