"""`spacy-lpcfg complexity`: measure the syntactic complexity of sentences and documents."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import cells
from spacy_lpcfg.components.cli.shared.console import begun, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.inputs import Source
from spacy_lpcfg.components.cli.shared.readers import trees_of
from spacy_lpcfg.components.cli.shared.runs import EmptyInputError
from spacy_lpcfg.components.cli.shared.tree_sources import TreeSources

if TYPE_CHECKING:
    from spacy_lpcfg.queries import Complexity

_N_TREES = 1000  # that are looked through at a time
_PLACE = ("file", "document", "sentence")

TableFormat = Literal["tsv", "csv", "l2sca"]
Unit = Literal["document", "sentence"]


@reporting_errors
def complexity(
    files: options.TreeFiles,
    unit: Annotated[Unit, typer.Option(help="Print a row for each document, or for each sentence.")] = "document",
    kind: options.Kind = None,
    model: options.TextModel = "en",
    with_surprisal: Annotated[
        bool, typer.Option("--surprisal/--no-surprisal", help="Compute surprisals of text, which takes the most time.")
    ] = True,
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    form: Annotated[
        TableFormat | None,
        options.format_option("Table separated by tabs or commas, or in L2SCA's format. [default: tsv]"),
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
    reader = TreeSources(files, kind, model, dialect, skip_bad=skip_bad)
    target = checked_target(output, form, get_args(TableFormat), inputs=reader.inputs, force=force)
    if target.form == "l2sca" and unit == "sentence":
        raise typer.BadParameter("L2SCA has documents only", param_hint="--unit")
    reader.load()

    def measured() -> "Iterator[tuple[str, int, Complexity]]":
        for source in reader.sources:
            documents = reader.failures.reading(source.name, _documents(reader, source, with_surprisal))
            for number, document in enumerate(documents, start=1):
                if not len(document.sums):
                    what = "it has no row" if unit == "sentence" else "all its counts are 0"
                    log(f"{source.name}, document {number}: there are no sentences in it, so that {what}")
                yield source.name, number, document

    target.write(_l2sca_rows(begun(measured())) if target.form == "l2sca" else _rows(begun(measured()), unit))
    reader.failures.tell()


def _documents(reader: TreeSources, source: Source, with_surprisal: bool) -> "Iterator[Complexity]":
    """Yield the complexity of each document of a source: each Doc of a .spacy file, otherwise the whole file."""
    from spacy_lpcfg.components.doc.complexity import sentence_complexity
    from spacy_lpcfg.queries import Complexity, complexity

    if source.kind == "trees":
        batches = in_batches(progress(trees_of(source, reader.failures.on_error), "trees"), _N_TREES)
        parts: Iterator[Complexity] = map(complexity, batches)
    else:
        docs = (each.doc for each in progress(reader.docs(source), "documents"))
        parts = (sentence_complexity(doc, with_surprisal=with_surprisal) for doc in docs)
    if source.kind == "spacy":
        yield from parts
        return
    try:
        yield Complexity.joined(parts)
    except EmptyInputError:
        yield Complexity.joined(())


def _rows(measured: "Iterable[tuple[str, int, Complexity]]", unit: Unit) -> Iterator[Iterable[str]]:
    from spacy_lpcfg.queries.complexity import COLUMNS

    yield (*_PLACE[: 3 if unit == "sentence" else 2], *COLUMNS)
    for file, number, complexity in measured:
        if unit == "document":
            yield cells(file, number, *complexity.document.values())
        else:
            for i, record in enumerate(complexity.sentences, start=1):
                yield cells(file, number, i, *record.values())


def _l2sca_rows(measured: "Iterable[tuple[str, int, Complexity]]") -> Iterator[Iterable[str]]:
    """Yield the rows of L2SCA's table, the header first: name of the file, counts, and indices with four decimals."""
    from spacy_lpcfg.queries.complexity import COUNTS, INDICES

    yield ("Filename", *COUNTS, *INDICES)
    for file, _, complexity in measured:
        record = complexity.document
        yield (Path(file).name, *(str(record[name]) for name in COUNTS), *(f"{record[name]:.4f}" for name in INDICES))
