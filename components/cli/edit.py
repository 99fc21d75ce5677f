"""`spacy-lpcfg edit`: edit the trees of treebanks by a file of rules."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice, tee, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import (
    STDIN,
    ZIPPED,
    check_input,
    check_output,
    log,
    log_skipped,
    progress,
    reporting_errors,
)
from spacy_lpcfg.components.cli.convert import contents_of, read_json
from spacy_lpcfg.components.cli.formats import OutputFile, Replace, format_of, write_output
from spacy_lpcfg.components.cli.inputs import Input, Source, trees_of
from spacy_lpcfg.components.cli.pipelines import Lang
from spacy_lpcfg.components.cli.treebanks import Dialect, SkipBad, trees_of_docs

if TYPE_CHECKING:
    from spacy_lpcfg.queries import EditRule
    from spacy_lpcfg.trees import Tree

_DOCS, _JSON = ".spacy", ".jsonl"
_N_SHOWN = 10  # changes of a dry run
_N_AROUND = 2  # lines that are shown around a change


@reporting_errors
def edit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Treebanks, .spacy or .jsonl, folders of the first two, or - for stdin."
        ),
    ],
    rules: Annotated[
        Path, typer.Argument(metavar="RULES", exists=True, dir_okay=False, help="A file of rules in Tsurgeon's format.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first ten changes side by side, and write nothing.")
    ] = False,
    lang: Lang = "en",
    dialect: Dialect = None,
    skip_bad: SkipBad = False,
    output: OutputFile = None,
    force: Replace = False,
) -> None:
    """Edit trees by rules.

    A rule is a pattern as in `search`, a blank line, operations on nodes that the pattern names, and a blank line. It
    is applied to a tree until the pattern matches no longer. At the end each rule says how often it fired.

    Trees of the dialect penn are edited as they stand, with their roots, function labels and empty elements, and
    written so, a tree a line. Other formats, by the ending of --output, have no empty elements, as with `convert`.

    \b
    Example:
        spacy-lpcfg edit trees.mrg rules.tsurgeon --dry-run
        spacy-lpcfg edit trees.mrg rules.tsurgeon -o edited.mrg
        spacy-lpcfg edit train.mrg dev.mrg rules.tsurgeon -o edited.spacy --force
    """
    from spacy_lpcfg.queries import edit_trees, read_rules
    from spacy_lpcfg.trees import head_rules

    name = _format(output)
    errors: list[Exception] = []
    read = progress(_read(files, dialect, errors.append if skip_bad else None), "trees")
    check_output(None if dry_run else output, inputs=[*files, rules], force=force)
    edit_rules, counts = read_rules(rules), Counter["EditRule"]()
    editing = partial(edit_trees, rules=edit_rules, heads=head_rules(lang), counts=counts)
    if dry_run:
        write_output(None, "text", _changes(read, editing), force=False)
    else:
        _write(output, name, editing(tree for _, tree in read), lang, force)
    log_skipped(errors)
    for rule in edit_rules:
        log(f"{rule.path}:{rule.line}: fired {counts[rule]:,} times: {' '.join(rule.pattern.text.split())}")


def _format(output: Path | None) -> str:
    from spacy_lpcfg.trees.formats import FORMATS, PENN

    written = [form.name for form in FORMATS.values() if form.write is not None]
    return format_of(output, None, dict.fromkeys([PENN, *written, "spacy", "jsonl", "json"]))


def _read(
    paths: Sequence[str], dialect: str | None, on_error: Callable[[Exception], None] | None
) -> "Iterator[tuple[str, Tree]]":
    """Yield the trees of files with their places, such as dev.mrg:3 for the third tree.

    RAISES (BadParameter): For a file that there is not. (FileNotFoundError): For a folder without any.
        (ValueError): If no file has a tree.
    """
    from spacy_lpcfg.trees.files import treebank_files

    n_trees = 0
    for path in paths:
        if not os.path.isdir(path):
            check_input(path)
        for file in treebank_files(path, dialect, (_DOCS,)) if os.path.isdir(path) else [path]:
            for number, tree in enumerate(_trees(file, dialect, on_error), start=1):
                n_trees += 1
                yield f"{'<stdin>' if file == STDIN else file}:{number}", tree
    if not n_trees:
        raise ValueError(f"No trees in {', '.join(paths)}: expected such as (S (NP (PRP It)) (VP (VBZ works)))")


def _trees(file: str, dialect: str | None, on_error: Callable[[Exception], None] | None) -> "Iterator[Tree]":
    if file.endswith(_DOCS):
        return trees_of_docs(Path(file))
    if file.removesuffix(ZIPPED).endswith(_JSON):
        return read_json(Path(file), on_error=on_error)
    return trees_of(Source(file, Input.trees, None, dialect=dialect, is_told=True), on_error)


def _write(output: Path | None, name: str, edited: "Iterator[Tree | None]", lang: str, force: bool) -> None:
    from spacy_lpcfg.trees.formats import PENN
    from spacy_lpcfg.trees.transforms import normalize_rooted

    n_deleted = 0

    def remaining() -> "Iterator[Tree]":
        nonlocal n_deleted
        normalized = partial(normalize_rooted, functions=True)
        for tree in edited:
            result = tree if tree is None or name == PENN else normalized(tree)
            n_deleted += result is None
            if result is not None:
                yield result

    trees = remaining()
    first = [*islice(trees, 1)]  # what is wrong with files and rules is told before any output
    write_output(output, name, contents_of(name, chain(first, trees), 1, lang), force=force)
    if n_deleted:
        log(f"{n_deleted:,} trees were deleted as a whole, and are left out")


# Changes side by side ----------------------------------------------------------------------------


def _changes(
    trees: "Iterable[tuple[str, Tree]]", editing: "Callable[[Iterator[Tree]], Iterator[Tree | None]]"
) -> Iterator[str]:
    """Yield the lines that show the first ten changes; all trees are edited, so that all firings are counted."""
    n_changed = 0
    before, copies = tee(trees)
    for (source, old), new in zip(before, editing(tree for _, tree in copies), strict=True):
        if new == old:
            continue
        n_changed += 1
        if n_changed <= _N_SHOWN:
            yield source
            yield from (f"  {line}" for line in _side_by_side(old, new))
            yield ""
    yield f"{n_changed:,} trees would change"


def _side_by_side(old: "Tree", new: "Tree | None") -> Iterator[str]:
    """Yield the lines around the differences in two columns, with | between lines that differ."""
    from spacy_lpcfg.trees.indented import indented

    left, right = ((["(deleted)"] if tree is None else indented(tree).splitlines()) for tree in (old, new))
    for group in SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(_N_AROUND):
        width = max(len(line) for _, start, end, _, _ in group for line in left[start:end])
        for kind, i, i_end, j, j_end in group:
            for one, other in zip_longest(left[i:i_end], right[j:j_end], fillvalue=""):
                yield f"{one:<{width}} {' ' if kind == 'equal' else '|'} {other}".rstrip()
