"""`spacy-lpcfg surprisal`: how unexpected each word is after those before it."""

import json
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import begun, check_output, progress, reporting_errors, writing
from spacy_lpcfg.components.cli.inputs import Kind, check_usage, run_pipeline, source_of
from spacy_lpcfg.components.cli.outputs import answers_of
from spacy_lpcfg.components.cli.pipelines import find_surprisal, load_pipeline, n_jobs
from spacy_lpcfg.components.cli.treebanks import Dialect, name_of

if TYPE_CHECKING:
    from typing import TypeAlias

    Surprise: TypeAlias = tuple[list[str], list[float]]

_COLUMNS = ("sentence", "position", "word", "bits")
_END = "</s>"


class SurprisalFormat(str, Enum):
    table = "table"
    json = "json"


@reporting_errors
def surprisal(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="en, for the English that comes with the package; or a pipeline with an lpcfg_parser, an isbn_parser "
            "or a language_model.",
        ),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file in UTF-8 or .spacy, - for stdin, or a text.")],
    kind: Kind = None,
    dialect: Dialect = None,
    form: Annotated[
        SurprisalFormat, typer.Option("--format", help="A word a row, or a sentence a line.")
    ] = SurprisalFormat.table,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File, not stdout.")] = None,
    component: Annotated[
        str | None, typer.Option(help="Name of what tells. [default: the first language_model, or else parser]")
    ] = None,
    n_process: Annotated[int, typer.Option("--n-process", help="Processes; -1 is one for each processor.")] = 1,
) -> None:
    """Tell the surprisal of each word, in bits.

    It is -log2 of the probability of a word after the words before it in its sentence. The end of a sentence is the
    word </s>; the bits of a sentence sum up to -log2 of its probability. Those of an isbn_parser are of the trees in
    its beam. A grammar has to be proper, as all are but spectral ones. Tags count for nothing. A pipeline's
    language_model goes before its parsers.

    The table is apart by tabs, with sentences and positions from 1. A JSON object has "words", their "bits" and the
    "end"; null stands for a word that cannot be there, or that a
    language model does not know, and the table has inf or nan.

    \b
    Example:
        spacy-lpcfg surprisal en "The horse raced past the barn fell."
        spacy-lpcfg surprisal isbn/ stories.txt -o stories.tsv
    """
    check_output(output)
    check_usage(file, kind, None)
    n_process = n_jobs(n_process, "--n-process")
    nlp = load_pipeline(model)
    pipe = find_surprisal(nlp, component)
    source = source_of(nlp, pipe, file, kind, None, name_of(dialect))
    found = run_pipeline(nlp, pipe, source, questions={"surprisals": {}}, with_trees=False, n_process=n_process)
    sentences = (answer for parsed in found for answer in answers_of(parsed, "surprisals"))
    with writing(output) as out:
        for line in _LINES[form](begun(progress(sentences, "sentences"))):
            out.write(line + "\n")


def _table(sentences: "Iterable[Surprise]") -> Iterator[str]:
    yield "\t".join(_COLUMNS)
    for number, (words, bits) in enumerate(sentences, start=1):
        for position, (word, each) in enumerate(zip([*words, _END], bits, strict=True), start=1):
            yield f"{number}\t{position}\t{word}\t{each:.4f}"


def _json(sentences: "Iterable[Surprise]") -> Iterator[str]:
    for words, bits in sentences:
        *of_words, end = [round(each, 6) if each < float("inf") else None for each in bits]
        yield json.dumps({"words": words, "bits": of_words, "end": end}, ensure_ascii=False)


_LINES: "dict[SurprisalFormat, Callable[[Iterable[Surprise]], Iterator[str]]]" = {
    SurprisalFormat.table: _table,
    SurprisalFormat.json: _json,
}
