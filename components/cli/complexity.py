"""`spacy-lpcfg complexity`: counts, indices and depths of sentences and documents."""

from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import OnError, begun, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.failures import Failures
from spacy_lpcfg.components.cli.shared.files import check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, write_output
from spacy_lpcfg.components.cli.shared.inputs import EmptyInputError, Source, trees_of
from spacy_lpcfg.components.cli.shared.tree_sources import TreeSources

if TYPE_CHECKING:
    from spacy_lpcfg.queries import Complexity

_N_TREES = 1000  # that are looked through at a time
_PLACE = ("file", "document", "sentence")


class TableFormat(str, Enum):
    tsv = "tsv"
    csv = "csv"
    l2sca = "l2sca"


class Unit(str, Enum):
    document = "document"
    sentence = "sentence"


@reporting_errors
def complexity(
    files: options.TreeFiles,
    unit: Annotated[Unit, typer.Option(help="Print a row for each document, or for each sentence.")] = Unit.document,
    kind: options.Kind = None,
    model: options.TextModel = "en",
    component: options.Component = None,
    with_surprisal: Annotated[
        bool, typer.Option("--surprisal/--no-surprisal", help="Compute surprisals of text, which takes the most time.")
    ] = True,
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    form: Annotated[
        TableFormat | None,
        typer.Option("--format", help="Table separated by tabs or commas, or in L2SCA's format. [default: tsv]"),
    ] = None,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Measure how complex English sentences are.

    FILE is a treebank (.mrg, .psd, .export and others, .gz or not), Docs with trees (.spacy), or text, which the model
    parses. Each file is a document, and so is each Doc of a .spacy file. A file that cannot be read is reported, and
    the others are measured. An empty file has a row of zeros.

    The table has the nine counts and fourteen indices of L2SCA (Lu 2010): words, sentences, verb phrases, clauses,
    T-units, dependent clauses, complex T-units, coordinate phrases and complex nominals; mean Yngve depth, mean Frazier
    score, height, and the mean surprisal of words in bits. --format l2sca has L2SCA's columns only.

    \b
    Example:
        spacy-lpcfg complexity essays/*.txt --output complexity.csv
        spacy-lpcfg complexity train.mrg --unit sentence
    """
    name = format_of(output, form, TableFormat)
    if name == TableFormat.l2sca and unit == Unit.sentence:
        raise typer.BadParameter("L2SCA has documents only", param_hint="--unit")
    reader = TreeSources(kind, model, component, dialect)
    sources = [*reader.sources(files)]
    check_output(output, inputs=[*(source.file for source in sources), model], force=force)
    reader.load_for(sources)
    failures = Failures(len(sources), skip_bad=skip_bad)

    def measured() -> "Iterator[tuple[str, int, Complexity]]":
        for source in sources:
            documents = failures.reading(source.name, _documents(reader, source, with_surprisal, failures.on_error))
            for number, document in enumerate(documents, start=1):
                if not len(document.sums):
                    what = "it has no row" if unit == Unit.sentence else "all its counts are 0"
                    log(f"{source.name}, document {number}: there are no sentences in it, so that {what}")
                yield source.name, number, document

    rows = _l2sca_rows(begun(measured())) if name == TableFormat.l2sca else _rows(begun(measured()), unit)
    write_output(output, name, rows, force=force)
    failures.tell()


def _documents(reader: TreeSources, source: Source, with_surprisal: bool, on_error: OnError) -> "Iterator[Complexity]":
    """Yield the complexity of a file, or of each Doc in it."""
    from spacy_lpcfg.components.doc.complexity import sentence_complexity
    from spacy_lpcfg.queries import Complexity, complexity

    if source.kind == options.Input.trees:
        batches = in_batches(progress(trees_of(source, on_error), "trees"), _N_TREES)
        parts: Iterator[Complexity] = map(complexity, batches)
    else:
        docs = (each.doc for each in progress(reader.docs(source), "documents"))
        parts = (sentence_complexity(doc, with_surprisal=with_surprisal) for doc in docs)
    if source.kind == options.Input.spacy:
        yield from parts
        return
    try:
        yield Complexity.joined(parts)
    except EmptyInputError:
        yield Complexity.joined(())


def _rows(measured: "Iterable[tuple[str, int, Complexity]]", unit: Unit) -> Iterator[Iterable[str]]:
    from spacy_lpcfg.queries.complexity import COLUMNS

    yield (*_PLACE[: 3 if unit == Unit.sentence else 2], *COLUMNS)
    for file, number, complexity in measured:
        if unit == Unit.document:
            yield (file, str(number), *map(_cell, complexity.document.values()))
        else:
            for i, record in enumerate(complexity.sentences, start=1):
                yield (file, str(number), str(i), *map(_cell, record.values()))


def _l2sca_rows(measured: "Iterable[tuple[str, int, Complexity]]") -> Iterator[Iterable[str]]:
    """Yield L2SCA's fields: the file's name without its folder, the counts, and the indices with four decimals."""
    from spacy_lpcfg.queries.complexity import COUNTS, INDICES

    yield ("Filename", *COUNTS, *INDICES)
    for file, _, complexity in measured:
        record = complexity.document
        yield (Path(file).name, *(str(record[name]) for name in COUNTS), *(f"{record[name]:.4f}" for name in INDICES))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
