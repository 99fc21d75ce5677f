"""Find treebank files in folders and by patterns; `TreeFiles` is a treebank of several files."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from spacy_lpcfg.checks import counted
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.errors import BrokenFileError, OnError, TreebankError
from spacy_lpcfg.trees.formats.table import DIALECTS, PENN, first_lines, looks_like
from spacy_lpcfg.trees.lines import UTF_8, read_lines
from spacy_lpcfg.trees.reading import checked_dialect, dialect_of, read_trees
from spacy_lpcfg.trees.tree import Tree

SUFFIXES = (".mrg", ".mrg.gz")
"""Suffixes of the treebank files that this package writes."""


@dataclass(frozen=True)
class TreeFiles:
    """The trees of several treebank files, read anew at every iteration; learners read the files in parallel.

    paths (tuple of str): Treebank files, gzipped or not, in order. On a cluster all machines need them at these paths.
    on_error (callable or None): Called, in the process that reads the file, with the error of each malformed tree,
        which is skipped; None raises the error.
    on_read (callable or None): Called, in the process that reads the file, with the path of each file that has been
        read and the number of its trees.
    dialect (str or None): The format of the files, one of `DIALECTS`; None to recognize it for each file.
    on_dropped (callable or None): Called before `on_read` with the path of each file and a Counter of the elements that
        the dialect drops, such as "empty categories".
    coarse_tags (bool): Whether to reduce tags to parts of speech by `coarse_tag`.
    encoding (str): The encoding of the files, unless they are XML and declare one.
    """

    paths: tuple[str, ...]
    on_error: OnError = None
    on_read: Callable[[str, int], None] | None = None
    dialect: str | None = None
    on_dropped: Callable[[str, Counter[str]], None] | None = None
    coarse_tags: bool = False
    encoding: str = UTF_8

    @classmethod
    def of(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        on_error: OnError = None,
        on_read: Callable[[str, int], None] | None = None,
        dialect: str | None = None,
        on_dropped: Callable[[str, Counter[str]], None] | None = None,
        coarse_tags: bool = False,
        encoding: str = UTF_8,
    ) -> TreeFiles:
        """Find treebank files, and recognize their common dialect (treebank format) unless `dialect` gives it.

        paths (path or iterable of paths): Files; folders, searched recursively for files with a suffix of the dialect;
            or `glob` patterns. Files of a folder or pattern are sorted.
        RAISES (FileNotFoundError): If a path does not exist, or a folder or pattern has no such files.
            (TreebankError): If the files are of several dialects.
            (ValueError): If the dialect is unknown.

        Other arguments are those of the class.
        """
        files = tuple(treebank_files(paths, dialect))
        dialect = dialect or shared_dialect(files, encoding)
        return cls(files, on_error, on_read, dialect, on_dropped, coarse_tags, encoding)

    def __iter__(self) -> Iterator[Tree]:
        for path in self.paths:
            n_trees, dropped = 0, Counter[str]()
            settings: dict[str, Any] = {"dialect": self.dialect, "encoding": self.encoding}
            settings |= {"coarse_tags": self.coarse_tags, "on_error": self.on_error}
            for tree in read_trees(path, dropped=dropped, **settings):
                n_trees += 1
                yield tree
            if self.on_dropped is not None:
                self.on_dropped(path, dropped)
            if self.on_read is not None:
                self.on_read(path, n_trees)


def suffixes_of(dialect: str | None = None) -> tuple[str, ...]:
    """Return the suffixes, with and without `.gz`, of the files of a dialect (treebank format) in folders.

    dialect (str or None): The dialect; None for all dialects.
    RAISES (KeyError): If the dialect is unknown.
    """
    dialects = DIALECTS.values() if dialect is None else [DIALECTS[dialect]]
    suffixes = dict.fromkeys(suffix for format_ in dialects for suffix in format_.in_folders)
    return tuple(suffix + end for suffix in suffixes for end in ("", ".gz"))


def treebank_files(
    paths: PathLike | Iterable[PathLike], dialect: str | None = None, others: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the treebank files at paths: files, folders or `glob` patterns, as for `TreeFiles.of`.

    paths (path or iterable of paths): In a folder, only files with a suffix of the dialect or from `others` are
        yielded.
    dialect (str or None): The dialect of the files. With None, suffixes of all dialects count, and files of a folder
        whose first lines look like no treebank are skipped with a warning; if no file looks like one, all are yielded.
    others (tuple of str): Suffixes of further files to yield, which need not look like treebanks.
    RAISES (FileNotFoundError): As for `files_of`.
        (ValueError): If the dialect is unknown.
    """
    suffixes = suffixes_of(checked_dialect(dialect)) + others
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        candidates = [*files_of(path, suffixes)]
        if os.path.isdir(path) and dialect is None:
            candidates = _treebanks(candidates, others) or candidates
        yield from candidates


def _treebanks(files: list[str], others: tuple[str, ...]) -> list[str]:
    """Return the files that look like treebanks; if there are any, warn of all other files."""
    treebanks = [file for file in files if file.endswith(SUFFIXES + others) or _is_treebank(file)]
    if 0 < len(treebanks) < len(files):
        skipped = sorted({*files} - {*treebanks})
        warnings.warn(
            f"Skipped {counted(len(skipped), 'file')} that no dialect recognises, such as {skipped[0]}: to read all, "
            "name their dialect.",
            stacklevel=2,
        )
    return treebanks


def _is_treebank(file: str) -> bool:
    try:
        return looks_like("".join(first_lines(read_lines(file)))) is not None
    except TreebankError:  # reported when the file is read
        return True


def shared_dialect(files: Iterable[str], encoding: str = UTF_8) -> str:
    """Recognize the common dialect of files from their first lines and names; return "penn" if there are no files.

    RAISES (TreebankError): If the files are of several dialects, or one cannot be decoded.
        (OSError): If a file cannot be opened.
    """
    first: dict[str, str] = {}
    for file in files:
        first.setdefault(dialect_of(file, encoding), file)
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
    """Yield the files at paths, which are files, folders or `glob` patterns.

    suffixes (tuple of str): In a folder, which is searched recursively, only files that end in one of these are
        yielded.
    RAISES (FileNotFoundError): If a path does not exist, a folder or pattern has no such files, or a link is broken.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        yield from _files(os.fspath(path), suffixes)


def _files(path: str, suffixes: tuple[str, ...]) -> list[str]:
    if os.path.isdir(path):
        matches = sorted(str(file) for file in Path(path).rglob("*") if file.name.endswith(suffixes))
        expected = f"files that end in {' or '.join(suffixes)} in the folder"
        _check_links(matches)
    elif os.path.exists(path):
        return [path]
    else:
        matches = sorted(file for file in glob(path, recursive=True) if os.path.isfile(file))
        expected = "a file, a folder, or files of the pattern"
    if not matches:
        raise FileNotFoundError(
            f"Expected {expected} {path!r}, found none. Check the path, or name the files themselves."
        )
    return matches


def _check_links(files: list[str]) -> None:
    for file in files:
        if not os.path.exists(file):
            raise FileNotFoundError(f"The link {file!r} points to nothing: repair it, or remove it from its folder.")
