"""Shards: the input files of a corpus, each with the output file for its trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import has_magic, iglob
from pathlib import Path
from typing import NamedTuple, get_args

import typer

from spacy_lpcfg.components.cli.shared.files import STDIN, ZIPPED, is_text
from spacy_lpcfg.components.cli.shared.inputs import kind_by_name, suffixes_of
from spacy_lpcfg.components.cli.shared.options import Input
from spacy_lpcfg.components.cli.shared.pipelines import check_can_be_made


class Shard(NamedTuple):
    """An input file and its output file, as absolute paths, since worker processes may run in other folders."""

    file: str
    output: str


def is_corpus(files: Sequence[str]) -> bool:
    """Return whether inputs need an output folder: several files, a folder, or a `glob` pattern that matches files."""
    return len(files) > 1 or os.path.isdir(files[0]) or _is_pattern(files[0])


def _is_pattern(file: str) -> bool:
    return is_text(file) and has_magic(file) and any(os.path.isfile(path) for path in iglob(file, recursive=True))


def shards_of(files: Sequence[str], kind: Input | None, output: Path | None, suffix: str) -> list[Shard]:
    """Pair each input file with its output file: the same relative path below `output`, with another suffix.

    files (sequence of str): Files, folders or `glob` patterns; from a folder all files below it with a suffix of `kind`
        are taken.
    kind (Input or None): The kind of input. None recognizes text, trees or Docs by the name of a file, and takes only
        text and Docs from folders.
    output (Path or None): The output folder, which need not exist; files in it are never inputs.
    suffix (str): The suffix of the output files.
    RAISES (BadParameter): If a path has no files, `output` is None or cannot be a folder, files are of several kinds
        while `kind` is None, two inputs have the same output, or an output would replace an input.
    """
    folder = _checked_folder(output)
    shards = [
        Shard(os.path.abspath(file), os.path.abspath(folder / _renamed(os.path.relpath(file, root), suffix)))
        for path in files
        for root, file in _files_at(path, kind, folder)
    ]
    if not shards:
        raise typer.BadParameter(f"all its files are below {str(output)!r}, where trees go", param_hint="FILE")
    _check_kinds(shards, kind)
    _check_targets(shards)
    return list(dict.fromkeys(shards))


def _check_kinds(shards: Sequence[Shard], kind: Input | None) -> None:
    by_name = sorted({kind_by_name(shard.file) or "text" for shard in shards})
    if kind is None and len(by_name) > 1:
        raise typer.BadParameter(
            f"by their names some files hold {' and others '.join(by_name)}: say what to take", param_hint="--input"
        )


def _check_targets(shards: Sequence[Shard]) -> None:
    sources: dict[str, str] = {}
    for file, target in shards:
        if sources.setdefault(target, file) != file:
            raise typer.BadParameter(
                f"{sources[target]!r} and {file!r} would both become {target!r}: name the folder above them, or parse "
                "them into two folders",
                param_hint="FILE",
            )
    for target in sources.keys() & set(sources.values()):
        raise typer.BadParameter(f"it would replace {target!r}, which is read: name another", param_hint="--output")


def _checked_folder(output: Path | None) -> Path:
    if output is None:
        raise typer.BadParameter("several files need a folder for their trees: name one", param_hint="--output")
    if os.path.lexists(output) and not output.is_dir():
        raise typer.BadParameter(f"several files need a folder, but '{output}' is none", param_hint="--output")
    check_can_be_made(output)
    return output


def _files_at(path: str, kind: Input | None, output: Path) -> list[tuple[str, str]]:
    """Return (root folder, file) for each file of a path, without files in the output folder.

    The output file has the same path below `output` as the input file has below its root folder.
    """
    from spacy_lpcfg.trees.files import files_of

    if path == STDIN:
        raise typer.BadParameter("stdin is no file: parse it alone", param_hint="FILE")
    kinds: tuple[Input, ...] = ("text", "spacy") if kind is None else (kind,)
    try:
        files = list(files_of(path, tuple(suffix for each in kinds for suffix in suffixes_of(each))))
    except FileNotFoundError as error:
        hint = "" if os.path.isdir(path) else " Or put quotes around a text, and name nothing besides."
        raise typer.BadParameter(f"{error}{hint}", param_hint="FILE") from error
    root, written = os.path.abspath(_root(path)), output.absolute()
    if os.path.isfile(path) or root == str(written):
        return [(root, file) for file in files]
    return [(root, file) for file in files if not Path(file).absolute().is_relative_to(written)]


def _root(path: str) -> str:
    """Return the root of a path: a folder itself, the parent of a file, or the folder before a pattern's wildcards."""
    if os.path.isdir(path):
        return path
    parts = Path(path).parent.parts if os.path.isfile(path) else Path(path).parts
    n_plain = next((i for i, part in enumerate(parts) if not os.path.isfile(path) and has_magic(part)), len(parts))
    return os.path.join(*parts[:n_plain]) if n_plain else ""


def _renamed(name: str, suffix: str) -> str:
    """Replace the suffix of an input file, after removing .gz; append `suffix` if the file has no known suffix."""
    name = name.removesuffix(ZIPPED)
    known = {known_suffix for kind in get_args(Input) for known_suffix in suffixes_of(kind)}
    stem, suffix_of_name = os.path.splitext(name)
    return (stem if suffix_of_name in known else name) + suffix
