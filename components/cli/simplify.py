"""`spacy-lpcfg simplify`: sentences split into clauses that stand alone."""

from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import begun, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, write_output
from spacy_lpcfg.components.cli.shared.inputs import check_usage, run_pipeline, source_of
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.components.doc.simple_clauses import SimpleClause

_COLUMNS = ("document", "sentence", "relation", "probability", "text")


class ClauseFormat(str, Enum):
    text = "text"
    tsv = "tsv"
    csv = "csv"
    jsonl = "jsonl"


@reporting_errors
def simplify(
    model: options.ParserModel,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file in UTF-8 or .spacy, - for stdin, or a text.")],
    kind: options.Kind = None,
    rules: Annotated[
        Path | None, options.file_option("Rules that split sentences, in Tsurgeon's format. [default: for English]")
    ] = None,
    component: options.Component = None,
    form: Annotated[
        ClauseFormat | None,
        typer.Option("--format", help="A clause a line, a table, or an object for each clause. [default: text]"),
    ] = None,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Split sentences into clauses that stand alone.

    Clauses and verb phrases that are coordinated come apart, with the subject copied; relative and participial clauses,
    appositions, and adverbial clauses become sentences. Quotations, and what depends on a condition, stay whole.

    A table has the number of the document and of its sentence, the relation of the clause ("main", "relative",
    "participle", "apposition", "parataxis", or its conjunction), and the least probability of the brackets that split
    it off. An object of JSON also has the words: their position in the document and the characters of its text, null
    for words that were added; `is_copy` is true for those that an earlier clause has.

    \b
    Example:
        spacy-lpcfg simplify en "Matt made eggs and had breakfast."
        spacy-lpcfg simplify en report.txt -o clauses.jsonl
        spacy-lpcfg simplify en report.txt --rules my.tsurgeon --format tsv
    """
    from spacy_lpcfg.components.doc.simple_clauses import doc_simple_clauses
    from spacy_lpcfg.queries import read_rules

    name = format_of(output, form, ClauseFormat)
    check_output(output, inputs=[file, model], force=force)
    check_usage(file, kind, None)
    clause_rules = None if rules is None else read_rules(rules)
    nlp = load_pipeline(model)
    pipe = find_parser(nlp, component)
    documents = run_pipeline(nlp, pipe, source_of(nlp, pipe, file, kind, None))
    clauses = ((doc, doc_simple_clauses(doc, clause_rules)) for doc, _ in progress(documents, "documents"))
    write_output(output, name, begun(_WRITTEN[name](_numbered(clauses))), force=force)


def _numbered(
    documents: "Iterable[tuple[Doc, Iterable[SimpleClause]]]",
) -> "Iterator[tuple[int, int, SimpleClause]]":
    """Yield the clauses with the numbers, from 1, of their document and of their sentence in it."""
    for number, (doc, clauses) in enumerate(documents, start=1):
        sentences = {sent.start: i for i, sent in enumerate(doc.sents, start=1)}
        for clause in clauses:
            yield number, sentences[clause.sent.sent.start], clause


def _rows(clauses: "Iterable[tuple[int, int, SimpleClause]]") -> Iterator[tuple[Any, ...]]:
    yield _COLUMNS
    for document, sentence, clause in clauses:
        p = clause.probability
        yield document, sentence, clause.relation, "" if p is None else f"{p:.6g}", clause.text


def _objects(clauses: "Iterable[tuple[int, int, SimpleClause]]") -> Iterator[dict[str, Any]]:
    for document, sentence, clause in clauses:
        yield {"document": document, "sentence": sentence, **clause.as_record()}


def _lines(clauses: "Iterable[tuple[int, int, SimpleClause]]") -> Iterator[str]:
    return (" ".join(clause.text.split()) for _, _, clause in clauses)


_WRITTEN = {"text": _lines, "tsv": _rows, "csv": _rows, "jsonl": _objects}
