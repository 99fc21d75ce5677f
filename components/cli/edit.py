"""`spacy-lpcfg edit`: edit the trees of treebanks with a file of rules."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import begun, log, progress, reporting_errors, skipping_broken
from spacy_lpcfg.components.cli.shared.files import STDIN, check_input
from spacy_lpcfg.components.cli.shared.formats import Target, checked_target, formats_of_trees, trees_as
from spacy_lpcfg.components.cli.shared.tree_sources import DOCS, files_below, trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees

if TYPE_CHECKING:
    from spacy_lpcfg.queries import EditRule
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.errors import OnError

_N_SHOWN = 10  # changes of a dry run
_N_AROUND = 2  # lines that are shown around a change


@reporting_errors
def edit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Treebanks, .spacy, .jsonl or .json files, folders of the first two, or - for stdin.",
        ),
    ],
    rules: Annotated[Path, options.file_argument("RULES", "A file of rules in Tsurgeon's format.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first ten changes as a diff, and write nothing.")
    ] = False,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    output: options.OutputFile = None,
    form: options.TreeFormat = None,
    force: options.Replace = False,
) -> None:
    """Edit trees by rules.

    A rule is a pattern as in `search`, a blank line, operations on nodes that the pattern names, and a blank line. It
    is applied to a tree until the pattern matches no longer. At the end, the command says how often each rule applied.

    Penn trees are edited and written with their roots, function labels and empty elements. Other formats have no
    empty elements, as with `convert`.

    \b
    Example:
        spacy-lpcfg edit trees.mrg rules.tsurgeon --dry-run
        spacy-lpcfg edit trees.mrg rules.tsurgeon -o edited.mrg
        spacy-lpcfg edit train.mrg dev.mrg rules.tsurgeon -o edited.spacy --force
    """
    from spacy_lpcfg.queries import edit_trees, read_rules
    from spacy_lpcfg.trees import head_rules

    target = (
        Target(None, "text", force)
        if dry_run
        else checked_target(output, form, formats_of_trees(), inputs=[*files, rules], force=force)
    )
    edit_rules, counts = read_rules(rules), Counter["EditRule"]()
    if not edit_rules:
        raise typer.BadParameter(f"there are no rules in {str(rules)!r}", param_hint="RULES")
    editing = partial(edit_trees, rules=edit_rules, heads=head_rules(lang), counts=counts)
    with skipping_broken(skip_bad) as on_error:
        read = progress(_places_and_trees(files, on_error, dialect), "trees")
        if dry_run:
            target.write(_changes(read, editing))
        else:
            _write(target, editing(tree for _, tree in read), lang)
    for rule in edit_rules:
        log(f"{rule.path}:{rule.line}: fired {counted(counts[rule], 'time')}: {' '.join(rule.pattern.text.split())}")


def _places_and_trees(paths: Sequence[str], on_error: "OnError", dialect: str | None) -> "Iterator[tuple[str, Tree]]":
    """Yield (location, tree) for each tree of files; the location is such as "dev.mrg:3" for the third tree.

    RAISES (BadParameter): If a file does not exist.
    RAISES (FileNotFoundError): If a folder has no treebanks.
    RAISES (ValueError): If no file has a tree.
    """
    n_trees = 0
    for path in paths:
        if not os.path.isdir(path):
            check_input(path)
        for file in files_below(path, dialect, (DOCS,)):
            for number, tree in enumerate(trees_of_path(file, on_error, dialect), start=1):
                n_trees += 1
                yield f"{'<stdin>' if file == STDIN else file}:{number}", tree
    if not n_trees:
        raise no_trees(paths)


def _write(target: Target, edited: "Iterator[Tree | None]", lang: str) -> None:
    from spacy_lpcfg.trees.formats import PENN
    from spacy_lpcfg.trees.transforms import normalize_rooted

    n_deleted = 0

    def remaining() -> "Iterator[Tree]":
        nonlocal n_deleted
        normalized = partial(normalize_rooted, functions=True)
        for tree in edited:
            result = tree if tree is None or target.form == PENN else normalized(tree)
            n_deleted += result is None
            if result is not None:
                yield result

    target.write(trees_as(target.form, begun(remaining()), lang=lang))
    if n_deleted:
        log(f"{counted(n_deleted, 'tree was', 'trees were')} deleted as a whole, and left out")


# Changes -----------------------------------------------------------------------------------------


def _changes(
    trees: "Iterable[tuple[str, Tree]]", editing: "Callable[[Iterator[Tree]], Iterator[Tree | None]]"
) -> Iterator[str]:
    """Yield unified diffs of the first `_N_SHOWN` changed trees, then the number of changed trees.

    All trees are edited, so that the counts of rule applications are complete.

    trees (iterable of (str, Tree)): The trees with their locations.
    editing (callable): Edits trees, and yields each edited tree, or None for a deleted one.
    """
    n_changed = 0
    before, copies = tee(trees)
    for (source, old), new in zip(before, editing(tree for _, tree in copies), strict=True):
        if new == old:
            continue
        n_changed += 1
        if n_changed <= _N_SHOWN:
            yield from unified_diff(_indented(old), _indented(new), source, "edited", n=_N_AROUND, lineterm="")
    yield f"{counted(n_changed, 'tree')} would change"


def _indented(tree: "Tree | None") -> list[str]:
    from spacy_lpcfg.trees.indented import indented

    return [] if tree is None else indented(tree).splitlines()
