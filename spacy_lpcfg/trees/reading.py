"""Read treebank files in any dialect (a treebank format that can be read), one tree at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.errors import BrokenFileError, OnError
from spacy_lpcfg.trees.formats.table import DIALECTS, PENN, first_lines, looks_like
from spacy_lpcfg.trees.lines import UTF_8, read_lines
from spacy_lpcfg.trees.tags import with_coarse_tags
from spacy_lpcfg.trees.tree import Tree

_PENN_SUFFIXES = (".mrg", ".parsed", ".ptb")  # suffixes that no other format has
_NO_WORDS = "trees without words"


def read_trees(
    paths: PathLike | Iterable[PathLike],
    *,
    on_error: OnError = None,
    dialect: str | None = None,
    dropped: Counter[str] | None = None,
    coarse_tags: bool = False,
    encoding: str = UTF_8,
) -> Iterator[Tree]:
    """Read the trees of treebank files, one at a time: memory does not grow with the files.

    paths (path or iterable of paths): Files, plain or compressed with gzip (recognized by content).
    on_error (callable or None): Called with the error of each malformed tree, which is skipped; None raises the error.
    dialect (str or None): The format of the files, one of `DIALECTS`; None to recognize it for each file
        (`dialect_of`).
    dropped (Counter or None): Receives, after each file, the counts of the elements that the dialect removes from trees
        or changes, by descriptions such as "empty categories".
    coarse_tags (bool): Whether to reduce tags to parts of speech by `coarse_tag`.
    encoding (str): The encoding of the files, unless they are XML and declare one; UTF-8 may have a byte order mark.
    YIELDS (Tree): The trees of the files in order.
    RAISES (TreebankError): For the first malformed tree, if `on_error` is None; and in any case if a file has another
        encoding, is damaged gzip data, looks like a dialect of another family, ends within a sentence (NEGRA and XML),
        or has trees but no words.
        (OSError): If a file cannot be opened.
        (ValueError): If the dialect or the encoding is unknown.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        name = os.fspath(path)
        trees = read_dialect(read_lines(path, encoding), name, on_error=on_error, dialect=dialect, dropped=dropped)
        yield from map(with_coarse_tags, trees) if coarse_tags else trees


def read_dialect(
    lines: Iterable[str],
    path: str,
    *,
    on_error: OnError = None,
    dialect: str | None = None,
    dropped: Counter[str] | None = None,
) -> Iterator[Tree]:
    """Read the trees of a file that is given as lines; results, errors and other arguments are those of `read_trees`.

    lines (iterable of str): The lines of the file.
    path (str): The name of the file, for error messages; its suffix helps to recognize the dialect (see `dialect_of`).
    """
    stream = iter(lines)
    opening = first_lines(stream)
    name = checked_dialect(dialect) or recognized_dialect("".join(opening), path)
    _check_family(name, "".join(opening), path)
    counts: Counter[str] = Counter()
    n_trees = 0
    read = DIALECTS[name].read
    assert read is not None  # dialects can be read
    for tree in read(chain(opening, stream), path, on_error, counts):
        n_trees += 1
        yield tree
    if counts[_NO_WORDS] and not n_trees:
        raise BrokenFileError(
            f"Expected trees with words, but all {counts[_NO_WORDS]:,} have only codes or empty categories in the "
            f"dialect {name}. Name another dialect, or leave the file out.",
            path,
            1,
        )
    if dropped is not None:
        dropped.update(+counts)


def dialect_of(path: PathLike, encoding: str = UTF_8) -> str:
    """Recognize the dialect of a treebank file by its first lines, and return the dialect's name.

    A bracketed file with a suffix of the Penn Treebank, such as `.mrg`, is "penn", and so is a file that looks like no
    dialect.

    RAISES (TreebankError, OSError): As for `read_trees`.
    """
    return recognized_dialect("".join(first_lines(read_lines(path, encoding))), os.fspath(path))


def recognized_dialect(opening: str, path: str) -> str:
    """Recognize the dialect of a file as `dialect_of` does, from its first lines `opening` and its name `path`."""
    name = looks_like(opening)
    if name is None:
        return PENN
    return bracketed_as_penn(name) if path.removesuffix(".gz").endswith(_PENN_SUFFIXES) else name


def bracketed_as_penn(name: str) -> str:
    """Return "penn" for a dialect of the family "brackets", such as "keyaki"; return any other name unchanged."""
    return PENN if DIALECTS[name].family == DIALECTS[PENN].family else name


def checked_dialect(name: str | None) -> str | None:
    """Check that there is a dialect of this name, and return the name; None is returned unchecked.

    RAISES (ValueError): If there is no dialect of that name.
    """
    if name is not None and name not in DIALECTS:
        raise ValueError(f"Expected one of the dialects {', '.join(DIALECTS)}, but got {shown(name)}.")
    return name


def _check_family(name: str, opening: str, path: str) -> None:
    recognized = looks_like(opening)
    if recognized is not None and DIALECTS[recognized].family != DIALECTS[name].family:
        raise BrokenFileError(
            f"Expected {DIALECTS[name].contents}, but this looks like {DIALECTS[recognized].contents}. Read it in the "
            f"dialect {recognized}, or leave it out.",
            path,
            1,
        )
