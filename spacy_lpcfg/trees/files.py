"""A treebank in files, each of them a shard: what learns from it reads each file where it is counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from spacy_lpcfg.trees.brackets import BrokenFileError, PathLike, TreebankError, read_lines
from spacy_lpcfg.trees.formats import DIALECTS, PENN, first_lines, looks_like
from spacy_lpcfg.trees.reading import checked_dialect, dialect_of, read_trees
from spacy_lpcfg.trees.tree import Tree

SUFFIXES = (".mrg", ".mrg.gz")
"""Of files that this package writes."""


@dataclass(frozen=True)
class TreeFiles:
    """The trees of files, anew at every iteration; learners read several files in parallel.

    paths (tuple of str): bracketed files, gzipped or not, in their order. On a cluster all machines have them there.
    on_error (callable or None): see `read_trees`; called where the learner runs.
    on_read (callable or None): called there with each file and the number of its trees, whenever it was read.
    dialect (str or None): see `read_trees`.
    on_dropped (callable or None): called before `on_read` with each file and what its dialect left out, by name.
    coarse_tags (bool): see `read_trees`.
    """

    paths: tuple[str, ...]
    on_error: Callable[[TreebankError], None] | None = None
    on_read: Callable[[str, int], None] | None = None
    dialect: str | None = None
    on_dropped: Callable[[str, Counter[str]], None] | None = None
    coarse_tags: bool = False

    @classmethod
    def of(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        on_error: Callable[[TreebankError], None] | None = None,
        on_read: Callable[[str, int], None] | None = None,
        dialect: str | None = None,
        on_dropped: Callable[[str, Counter[str]], None] | None = None,
        coarse_tags: bool = False,
    ) -> TreeFiles:
        """The files of paths; the dialect is that which they all look like, if none is said.

        paths (path or iterable of paths): files; folders, of which all files below them that the dialect knows count,
            sorted; patterns as for `glob`, sorted.
        RAISES (FileNotFoundError): As of `files_of`.
            (TreebankError): For files of several dialects. (ValueError): For a dialect that is none.
        """
        files = tuple(treebank_files(paths, dialect))
        return cls(files, on_error, on_read, dialect or shared_dialect(files), on_dropped, coarse_tags)

    def __iter__(self) -> Iterator[Tree]:
        for path in self.paths:
            n_trees, dropped = 0, Counter[str]()
            settings: dict[str, Any] = {"dialect": self.dialect, "dropped": dropped, "coarse_tags": self.coarse_tags}
            for tree in read_trees(path, on_error=self.on_error, **settings):
                n_trees += 1
                yield tree
            if self.on_dropped is not None:
                self.on_dropped(path, dropped)
            if self.on_read is not None:
                self.on_read(path, n_trees)


def suffixes_of(dialect: str | None = None) -> tuple[str, ...]:
    """Return the ends of names of files in folders that a dialect reads, or that any does, gzipped or not."""
    dialects = DIALECTS.values() if dialect is None else [DIALECTS[dialect]]
    suffixes = dict.fromkeys(suffix for form in dialects for suffix in form.in_folders)
    return tuple(suffix + end for suffix in suffixes for end in ("", ".gz"))


def treebank_files(
    paths: PathLike | Iterable[PathLike], dialect: str | None = None, others: tuple[str, ...] = ()
) -> Iterator[str]:
    """The files of paths, as for `TreeFiles.of`; of a folder those with a name that the dialect knows.

    dialect (str or None): None for any; then files of a folder that look like no treebank are left out.
    others (tuple of str): ends of names of files that count too.
    RAISES (FileNotFoundError): As `files_of`. (ValueError): For an unknown dialect.
    """
    suffixes = suffixes_of(checked_dialect(dialect)) + others
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        found = [*files_of(path, suffixes)]
        if os.path.isdir(path) and dialect is None:
            found = [file for file in found if file.endswith(SUFFIXES + others) or _is_treebank(file)] or found
        yield from found


def _is_treebank(file: str) -> bool:
    try:
        return looks_like("".join(first_lines(read_lines(file)))) is not None
    except TreebankError:  # told when it is read
        return True


def shared_dialect(files: Iterable[str]) -> str:
    """The dialect that files look like.

    RAISES (TreebankError): For files of several, or one that cannot be read.
    """
    first: dict[str, str] = {}
    for file in files:
        first.setdefault(dialect_of(file), file)
        if len(first) > 1:
            (one, at), (other, there) = first.items()
            raise BrokenFileError(
                f"Expected files of one dialect, but this looks like {DIALECTS[other].contents}, and {at} like "
                f"{DIALECTS[one].contents}. Name the files of one of them, or say which dialect they have.",
                there,
                1,
            )
    return next(iter(first), PENN)


def files_of(paths: PathLike | Iterable[PathLike], suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[str]:
    """The files of paths, which are files, folders or patterns as for `TreeFiles.of`.

    suffixes (tuple of str): of the files of a folder that count.
    RAISES (FileNotFoundError): For a path that is nothing of these, or where no file is, and for a link to nothing.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        yield from _files(os.fspath(path), suffixes)


def _files(path: str, suffixes: tuple[str, ...]) -> list[str]:
    if os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).rglob("*") if file.name.endswith(suffixes))
        what = f"files that end in {' or '.join(suffixes)} in the folder"
        _check_links(found)
    elif os.path.exists(path):
        return [path]
    else:
        found = sorted(file for file in glob(path, recursive=True) if os.path.isfile(file))
        what = "a file, a folder, or files of the pattern"
    if not found:
        raise FileNotFoundError(f"Expected {what} {path!r}, found none. Check the path, or name the files themselves.")
    return found


def _check_links(files: list[str]) -> None:
    for file in files:
        if not os.path.exists(file):
            raise FileNotFoundError(f"The link {file!r} points to nothing: mend it, or remove it from its folder.")
