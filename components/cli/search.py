"""`spacy-lpcfg search`: patterns of trees in treebanks, in Docs, and in text that is parsed."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import begun, log, log_skipped, progress, reporting_errors, usage_errors
from spacy_lpcfg.components.cli.shared.failures import Failures
from spacy_lpcfg.components.cli.shared.files import check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, write_output
from spacy_lpcfg.components.cli.shared.inputs import Source, trees_of
from spacy_lpcfg.components.cli.shared.tree_sources import TreeSources
from spacy_lpcfg.components.cli.shared.treebanks import log_dialect

if TYPE_CHECKING:
    from spacy_lpcfg.queries import TreeIndex, TreeMatch, TreePattern
    from spacy_lpcfg.trees import HeadRules

_CONTEXT = 40  # characters on each side of a match
_COLUMNS = ("file", "sentence", "start", "end", "label", "probability", "text")
_N_DOCS = 500  # that are looked through at a time
_NO_HEAD = " <# is the head child of a node, such as its IN; <<# is the word as well."


class SearchFormat(str, Enum):
    kwic = "kwic"
    brackets = "brackets"
    tsv = "tsv"
    csv = "csv"


_TABLES = (SearchFormat.tsv.value, SearchFormat.csv.value)


class Searched(NamedTuple):
    """Trees of a file, and how many of it come before them."""

    name: str
    n_before: int
    trees: "TreeIndex"


@reporting_errors
def search(
    text: Annotated[str, typer.Argument(metavar="PATTERN", help="In Tregex's language: 'NP < (PP <<# of)'.")],
    files: options.TreeFiles,
    form: Annotated[
        SearchFormat | None,
        typer.Option("--format", help="Matches in context, as trees, or in a table. [default: kwic, or tsv of counts]"),
    ] = None,
    counts: Annotated[bool, typer.Option("--counts", help="How many matches there are, in a table.")] = False,
    kind: options.Kind = None,
    model: options.TextModel = "en",
    component: options.Component = None,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Find a pattern in trees.

    FILE is a treebank by its name (.mrg, .psd, .export and others, .gz or not) or by --dialect, Docs with trees
    (.spacy), and else text, which the model parses. Trees of the dialect penn are searched as they stand, with their
    roots, function labels and empty elements. Of several files, one that cannot be read is told of, and the others are
    searched.

    For a pattern with ROOT, trees that have no such node are below one: 'S > ROOT' is the clause at the top.

    Matches count once for each node, and each choice of the nodes that the pattern names. Lines begin with the number
    of the tree. A table (tsv, csv) has a column for the words of each name; words count from 0, up to `end`.

    \b
    Example:
        spacy-lpcfg search 'NP < (PP <<# of)' train.mrg
        spacy-lpcfg search 'VP < /^VB/=verb < (NP=object !$ NP)' train.mrg -o verbs.csv
        spacy-lpcfg search 'SBAR !< IN' *.mrg corpus.spacy --counts
        spacy-lpcfg search 'NP $+ VP' text.txt --model model/ --format brackets
    """
    from spacy_lpcfg.queries import PatternError, TreePattern
    from spacy_lpcfg.trees import head_rules

    name = _format(output, form, counts)
    with usage_errors("PATTERN", kinds=(PatternError,)):
        pattern = TreePattern(text)
    errors: list[Exception] = []
    reader = TreeSources(kind, model, component, dialect)
    sources = [*reader.sources(files)]
    check_output(output, inputs=[*(source.file for source in sources), model], force=force)
    reader.load_for(sources)
    failures = Failures(len(sources), skip_bad=skip_bad)
    searched = _searched(reader, sources, head_rules(lang), errors if skip_bad else None, failures, pattern.has_root)
    is_one = len(files) == 1 and not os.path.isdir(files[0])
    rows = _count_rows(searched, pattern) if counts else _rows(begun(searched), pattern, name, is_one)
    write_output(output, name, begun(rows), force=force)
    log_skipped(errors)
    failures.check()


def _format(output: Path | None, form: SearchFormat | None, counts: bool) -> str:
    """Return the name of the format; counts are a table."""
    if counts and form is not None and form.value not in _TABLES:
        raise typer.BadParameter(f"counts are {' or '.join(_TABLES)}, not {form.value}", param_hint="--format")
    return format_of(output, form, _TABLES if counts else SearchFormat)


# Reading -----------------------------------------------------------------------------------------


def _searched(
    reader: TreeSources,
    sources: Iterable[Source],
    rules: "HeadRules",
    errors: list[Exception] | None,
    failures: Failures,
    has_root: bool,
) -> Iterator[Searched]:
    """Yield the trees of files.

    errors (list or None): Receives the errors of broken trees; None if they are to be raised.
    has_root (bool): Whether trees are below a node ROOT.
    """
    for source in sources:
        is_treebank = source.kind == options.Input.trees
        parts = _treebank(source, rules, errors, has_root) if is_treebank else _docs(reader, source, rules, has_root)
        yield from failures.reading(source.name, parts)


def _treebank(source: Source, rules: "HeadRules", errors: list[Exception] | None, has_root: bool) -> Iterator[Searched]:
    from spacy_lpcfg.queries import TreeIndex
    from spacy_lpcfg.trees.formats import PENN
    from spacy_lpcfg.trees.reading import dialect_of

    on_error = None if errors is None else errors.append
    if os.path.isfile(source.file) and (source.dialect or dialect_of(source.file)) == PENN:
        dropped: Counter[str] = Counter()
        index = TreeIndex.read(source.file, rules, on_error=on_error, dropped=dropped)
        log_dialect(PENN, source.dialect, dropped)
    else:
        index = TreeIndex.from_trees(trees_of(source, on_error), rules)
    yield Searched(source.name, 0, index.below_root() if has_root else index)


def _docs(reader: TreeSources, source: Source, rules: "HeadRules", has_root: bool) -> Iterator[Searched]:
    from spacy_lpcfg.components.doc.tree_matcher import IndexedDocs

    n_before = 0
    for some in in_batches(progress(reader.docs(source), "documents"), _N_DOCS):
        index = IndexedDocs(some, rules, has_root=has_root).index
        yield Searched(source.name, n_before, index)
        n_before += len(index)


# Writing -----------------------------------------------------------------------------------------


def _count_rows(searched: Iterable[Searched], pattern: "TreePattern") -> Iterator[tuple[Any, ...]]:
    """Yield a row for each file: matches, trees with any, and all trees; one for all, if there are several."""
    counts: dict[str, list[int]] = {}
    for name, _, index in searched:
        matching = [match.node.tree_number for match in index.search(pattern)]
        of_part = (len(matching), len({*matching}), len(index))
        counts[name] = [n + more for n, more in zip(counts.get(name, (0, 0, 0)), of_part, strict=True)]
    if len(counts) > 1:
        counts["total"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    yield "file", "matches", "matching", "trees"
    for name, of_file in counts.items():
        yield name, *of_file


def _rows(searched: Iterable[Searched], pattern: "TreePattern", form: str, is_one: bool) -> Iterator[Any]:
    """Yield a row or line for each match; is_one (bool): whether all trees are of one file, which needs no name."""
    is_empty, unseen = True, {*pattern.labels}
    if form in _TABLES:
        yield *_COLUMNS, *pattern.names
    for part in searched:
        for match in part.trees.search(pattern):
            is_empty = False
            number = part.n_before + match.node.tree_number + 1
            position = str(number) if is_one else f"{part.name}:{number}"
            if form in _TABLES:
                yield _cells(part.name, number, match, pattern)
            else:
                yield (
                    f"{position}\t{match.node.tree}" if form == SearchFormat.brackets else _in_context(position, match)
                )
        if is_empty:
            unseen = {label for label in unseen if not part.trees.has(label)}
    if is_empty:
        log("No match." + (_NO_HEAD if "<#" in pattern.text.replace("<<#", "") else ""))
        if unseen:
            log(f"No tree has a node {', '.join(label for label in pattern.labels if label in unseen)}.")


def _in_context(position: str, match: "TreeMatch") -> str:
    """Return where a tree is, and the words of a match in brackets between those around it."""
    words, node = match.node.root.words, match.node
    before, after = " ".join(words[: node.start]), " ".join(words[node.end :])
    left = before[-_CONTEXT:] if len(before) <= _CONTEXT else f"...{before[3 - _CONTEXT :]}"
    right = after if len(after) <= _CONTEXT else f"{after[: _CONTEXT - 3]}..."
    return f"{position:>6}  {left:>{_CONTEXT}} [{' '.join(words[node.start : node.end])}] {right}".rstrip()


def _cells(file: str, number: int, match: "TreeMatch", pattern: "TreePattern") -> Iterator[Any]:
    node, p = match.node, match.probability
    named = (match.names.get(name) for name in pattern.names)
    texts = ("" if part is None else " ".join(part.words) for part in chain([node], named))
    cells = (file, number, node.start, node.end, node.label, "" if p is None else f"{p:.6g}")
    return chain(cells, texts)
