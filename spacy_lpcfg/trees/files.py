"""A treebank in files, each of them a shard: what learns from it reads each file where it is counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from spacy_lpcfg.trees.brackets import PathLike, TreebankError, read_trees
from spacy_lpcfg.trees.tree import Tree

SUFFIXES = (".mrg", ".mrg.gz")


@dataclass(frozen=True)
class TreeFiles:
    """The trees of files, anew at every iteration; learners read several files in parallel.

    paths (tuple of str): bracketed files, gzipped or not, in their order. On a cluster all machines have them there.
    on_error (callable or None): see `read_trees`; called where the learner runs.
    on_read (callable or None): called there with each file and the number of its trees, whenever it was read.
    """

    paths: tuple[str, ...]
    on_error: Callable[[TreebankError], None] | None = None
    on_read: Callable[[str, int], None] | None = None

    @classmethod
    def of(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        on_error: Callable[[TreebankError], None] | None = None,
        on_read: Callable[[str, int], None] | None = None,
    ) -> TreeFiles:
        """The files of paths.

        paths (path or iterable of paths): files; folders, of which all files below them in `SUFFIXES` count, sorted;
            patterns as for `glob`, sorted.
        RAISES (FileNotFoundError): As of `files_of`.
        """
        return cls(tuple(files_of(paths)), on_error, on_read)

    def __iter__(self) -> Iterator[Tree]:
        for path in self.paths:
            n_trees = 0
            for tree in read_trees(path, on_error=self.on_error):
                n_trees += 1
                yield tree
            if self.on_read is not None:
                self.on_read(path, n_trees)


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
