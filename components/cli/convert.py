"""`spacy-lpcfg convert`: bracketed files to spaCy's binary format, and back."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import log_skipped, progress, reporting_errors

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree

_BINARY = ".spacy"
_BRACKETED = (".mrg", ".mrg.gz")


@reporting_errors
def convert(
    trees: Annotated[
        list[Path],
        typer.Argument(metavar="TREES...", exists=True, dir_okay=False, help="Bracketed files, .gz or not, or .spacy."),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", dir_okay=False, help="A .spacy, .mrg or .mrg.gz file.")],
    n_sents: Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Trees a Doc, in a .spacy file.")] = 1,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees and count them.")] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace OUTPUT if there is one.")] = False,
) -> None:
    """Convert trees to Docs, or to one bracketed tree a line.

    Empty elements and function labels are taken off, and trees without words left out.

    \b
    Example:
        spacy-lpcfg convert train.mrg train.spacy
        spacy-lpcfg convert train.spacy train.mrg
    """
    _check_output(output, force)
    errors: list[Exception] = []
    found = iter(progress(_read(trees, errors.append if skip_bad else None), "trees"))
    first = next(found, None)
    if first is None:
        raise ValueError(
            f"No trees in {', '.join(map(str, trees))}: expected such as (S (NP (PRP It)) (VP (VBZ works)))"
        )
    write = _write_docs if output.suffix == _BINARY else _write_brackets
    write(output, chain([first], found), n_sents)
    log_skipped(errors)


def _check_output(output: Path, force: bool) -> None:
    if not output.name.endswith((_BINARY, *_BRACKETED)):
        raise typer.BadParameter(f"{output} should end in .spacy, .mrg or .mrg.gz", param_hint="OUTPUT")
    if output.exists() and not force:
        raise typer.BadParameter(f"{output} exists: name another file, or use --force", param_hint="OUTPUT")


def _read(paths: Iterable[Path], on_error: Callable[[Exception], None] | None) -> Iterator["Tree"]:
    """The normalized trees of files of either kind, below their roots."""
    from spacy_lpcfg.trees import normalize_rooted, read_trees

    for path in paths:
        if path.suffix == _BINARY:
            yield from _read_docs(path)
        else:
            yield from filter(None, map(normalize_rooted, read_trees(path, on_error=on_error)))


def _read_docs(path: Path) -> Iterator["Tree"]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.constituents import rooted_trees

    try:
        docs = DocBin().from_disk(path)
    except Exception as error:
        raise ValueError(f"{path} is no .spacy file, or damaged: copy it or make it again ({error})") from error
    for doc in docs.get_docs(Vocab()):
        yield from filter(None, rooted_trees(doc))


def _write_docs(output: Path, trees: Iterator["Tree"], n_sents: int) -> None:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.corpus import tree_to_doc
    from spacy_lpcfg.grammar.storage import write_atomically

    vocab, docs = Vocab(), DocBin()
    while group := list(islice(trees, n_sents)):
        docs.add(tree_to_doc(vocab, group))
    write_atomically(output, docs.to_bytes())


def _write_brackets(output: Path, trees: Iterator["Tree"], n_sents: int) -> None:
    from spacy_lpcfg.trees import write_trees

    write_trees(output, trees)
