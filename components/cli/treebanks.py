"""Treebanks that commands learn from, and measure on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from spacy_lpcfg.components.cli.console import log_skipped, progress, tell
from spacy_lpcfg.components.cli.pipelines import save_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.parsing.result import Parse
    from spacy_lpcfg.trees import Tree, TreeFiles


def _check_trees(paths: Any) -> list[Path]:  # typer takes a list[Path] for a class on Python 3.10
    from spacy_lpcfg.trees.files import SUFFIXES

    return check_files(paths, SUFFIXES)


def check_files(paths: list[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """The files to learn from: of paths of files, of folders of files that end in one of `suffixes`, or patterns.

    A folder with `train.*` in it stands for that alone: what lies beside it, such as `dev.*`, is there to measure on.
    RAISES (BadParameter): If there are no files at one of them.
    """
    from spacy_lpcfg.trees.files import files_of

    try:
        return [Path(file) for path in paths for file in files_of(_training_part(path, suffixes), suffixes)]
    except FileNotFoundError as error:
        raise typer.BadParameter(str(error)) from error


def _training_part(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """What is called `train` in a folder, files or a folder; the path itself where there is nothing of the kind."""
    if not path.is_dir():
        return [path]
    named = [part for part in sorted(path.iterdir()) if part.name.split(".")[0] == _TRAIN]
    return [part for part in named if any(file.name.endswith(suffixes) for file in (part, *part.rglob("*")))] or [path]


_TRAIN = "train"
_NAMED = 5  # files of which the names are told
Trees = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREES...",
        callback=_check_trees,
        help="Bracketed files, .gz or not, folders of .mrg, .mrg.gz, or 'patterns*'. Of a folder with train.* only "
        "that is read.",
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees and count them.")]


@contextmanager
def tree_files(paths: Sequence[Path], skip_bad: bool) -> Iterator[TreeFiles]:
    """The files to learn from within; it is told what was read of them, and at the end, how many trees were broken."""
    from spacy_lpcfg.trees import TreeFiles

    errors: list[Exception] = []
    counts: dict[str, int] = {}

    def on_read(path: str, n_trees: int) -> None:
        is_new = path not in counts
        counts[path] = n_trees
        if is_new and counts.keys() == {*files.paths}:
            tell(f"read {sum(counts.values()):,} trees from {names_of(files.paths)}")

    files = TreeFiles.of(paths, on_error=errors.append if skip_bad else None, on_read=on_read)
    yield files
    log_skipped(errors)


def names_of(paths: Sequence[str | Path]) -> str:
    """The names of files, or, of many, of the first."""
    rest = f" and {len(paths) - _NAMED:,} more files" if len(paths) > _NAMED else ""
    return ", ".join(map(str, paths[:_NAMED])) + rest


def read_training(paths: Sequence[Path], skip_bad: bool) -> Iterator[Tree]:
    """The trees of the files to learn from; see `tree_files`."""
    with tree_files(paths, skip_bad) as files:
        yield from progress(files, "trees")


def read_treebank(paths: Sequence[Path], skip_bad: bool) -> Iterator[Tree]:
    """The trees of the files; at the end, how many were broken."""
    from spacy_lpcfg.trees import read_trees

    errors: list[Exception] = []
    yield from progress(read_trees(paths, on_error=errors.append if skip_bad else None), "trees")
    log_skipped(errors)


def read_held_out(paths: Sequence[Path] | None, skip_bad: bool) -> list[Tree]:
    """The trees to measure on, none if there are no files.

    RAISES (ValueError): If there are files, but no trees in them.
    """
    trees = list(read_treebank(paths or (), skip_bad))
    if paths and not trees:
        raise ValueError(f"No trees in {', '.join(map(str, paths))} to measure on")
    return trees


def held_out_f1(parse: Callable[[Sequence[str]], Parse], held_out: Sequence[Tree]) -> float:
    """F1 in percent of trees parsed from raw words, as `spacy-lpcfg evaluate` has it."""
    from spacy_lpcfg.evaluation.evalb import evaluate
    from spacy_lpcfg.trees import clean

    golds = [tree for tree in map(clean, held_out) if tree is not None]
    parses = [parse(gold.words).tree for gold in progress(golds, "sentences")]
    return evaluate(golds, parses).scores()["evalb_f"]


class Parses(Protocol):
    """A parser of any model."""

    def parse(self, words: Sequence[str]) -> Parse: ...


def save_measured(
    nlp: Language, output: Path, parser: Callable[[], Parses], held_out: Sequence[Tree], *, force: bool
) -> None:
    """Tell the F1 on held-out trees, if there are any, and save the pipeline with it; errors as in `saving_folder`.

    parser (callable): gives the pipeline's parser, if it is needed
    """
    if held_out:
        f1 = held_out_f1(parser().parse, held_out)
        nlp.meta["performance"] = {"evalb_f": f1 / 100}
        tell(f"dev F1 {f1:.2f} on {len(held_out)} trees")
    save_pipeline(nlp, output, force=force)
    tell(f"saved to {output}")


def trees_of_docs(path: Path) -> Iterator[Tree]:
    """The trees of a .spacy file, below their roots, one at a time; sentences without words have none.

    RAISES (ValueError): For a file that is none, or whose Docs have no trees.
    """
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.constituents import key_of, rooted_trees
    from spacy_lpcfg.components.corpus import read_docs

    for doc in read_docs(path, Vocab()):
        try:
            yield from filter(None, rooted_trees(doc, key_of(doc)))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
