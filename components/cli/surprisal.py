"""`spacy-lpcfg surprisal`: how unexpected each word is after those before it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import CHARACTERS, PLACE, cells
from spacy_lpcfg.components.cli.shared.console import begun, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, write_output
from spacy_lpcfg.components.cli.shared.inputs import check_usage, run_pipeline, source_of
from spacy_lpcfg.components.cli.shared.outputs import Answer, answers_of
from spacy_lpcfg.components.cli.shared.pipelines import find_surprisal, load_pipeline, n_jobs
from spacy_lpcfg.components.cli.shared.word_rows import read_frequencies, whole_words, word_rows

if TYPE_CHECKING:
    from spacy_lpcfg.components.cli.shared.inputs import Parsed

_COLUMNS = (*PLACE, "position", "word", "bits", *CHARACTERS)
_END = "</s>"


class SurprisalFormat(str, Enum):
    tsv = "tsv"
    csv = "csv"
    jsonl = "jsonl"
    json = "json"


class Unit(str, Enum):
    token = "token"
    word = "word"


_File = Annotated[str, typer.Argument(metavar="FILE", help="A file, - for stdin, or a text.")]
_By = Annotated[Unit, typer.Option("--by", help="Print a row for each token, or for each word between blanks.")]
_Frequencies = Annotated[
    Path | None,
    typer.Option(help="With --by word: a file with a word, a tab and its count on each line, to add Zipf values."),
]
_Form = Annotated[
    SurprisalFormat | None,
    typer.Option("--format", help="A row for each word, or an object for each sentence. [default: tsv]"),
]
_Component = Annotated[
    str | None, typer.Option(help="Name of the component. [default: the first language_model, or else parser]")
]


@reporting_errors
def surprisal(
    model: options.SurprisalModel,
    file: _File,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    by: _By = Unit.token,
    frequencies: _Frequencies = None,
    form: _Form = None,
    output: options.OutputFile = None,
    component: _Component = None,
    n_process: options.NProcess = 1,
    force: options.Replace = False,
) -> None:
    """Compute the surprisal of each word, in bits.

    Surprisal is -log2 of the probability of a word given the words before it in its sentence. The end of a sentence is
    the word </s>. An isbn_parser computes it from the trees in its beam; a spectral grammar cannot. If the pipeline has
    a language_model, it is used.

    Tables count sentences and positions from 1. JSON objects have "words", their "bits" and the "end". A word that is
    impossible, or unknown to a language model, has null in JSON, and inf or nan in a table.

    --by word adds up the bits of the tokens of a word, punctuation included, for regressions of reading times: also
    with the bits of the word before (NA for the first), the number of letters and digits, and with --frequencies the
    Zipf value; without the ends of sentences.

    stderr has the perplexity, over tokens and ends of sentences that have bits.

    \b
    Example:
        spacy-lpcfg surprisal en "The horse raced past the barn fell."
        spacy-lpcfg surprisal isbn/ stories.txt -o stories.csv
        spacy-lpcfg surprisal en stories.txt --by word -o words.csv
    """
    name = format_of(output, form, SurprisalFormat)
    check_output(output, inputs=[file, model], force=force)
    check_usage(file, kind, None)
    if frequencies is not None and by != Unit.word:
        raise typer.BadParameter("this is for --by word", param_hint="--frequencies")
    n_process = n_jobs(n_process, "--n-process")
    zipf = None if frequencies is None else read_frequencies(frequencies)
    nlp = load_pipeline(model)
    pipe = find_surprisal(nlp, component)
    source = source_of(nlp, pipe, file, kind, None, dialect)
    documents = run_pipeline(nlp, pipe, source, questions={"surprisals": {}}, with_trees=False, n_process=n_process)
    total = _Perplexity()
    sentences = begun(progress(_surprises(documents, by, total), "sentences"))
    if name in ("jsonl", "json"):
        write_output(output, name, _objects(sentences), force=force)
    else:
        rows = _rows(sentences) if by == Unit.token else word_rows(sentences, zipf)
        write_output(output, name, rows, force=force)
    sys.stdout.flush()  # where it cannot be written to, that is the only line
    if total.n_tokens:
        log(str(total))


@dataclass
class _Perplexity:
    """The perplexity of what was read so far.

    bits (float): The sum of surprisals. n_tokens (int): Tokens and ends of sentences that have one.
    n_unknown (int): Words that have none.
    """

    bits: float = 0.0
    n_tokens: int = 0
    n_unknown: int = 0

    def add(self, bits: Sequence[float]) -> None:
        """Count the tokens and the end of a sentence."""
        known = [value for value in bits if value == value]
        self.bits += sum(known)
        self.n_tokens += len(known)
        self.n_unknown += len(bits) - len(known)

    def __str__(self) -> str:
        mean = self.bits / self.n_tokens
        unknown = f"; {counted(self.n_unknown, 'unknown word')} left out" if self.n_unknown else ""
        return (
            f"perplexity {2**mean:.2f} ({mean:.3f} bits a token) on {counted(self.n_tokens, 'token')}, "
            f"with ends of sentences{unknown}"
        )


def _surprises(documents: "Iterable[Parsed]", by: Unit, total: _Perplexity) -> Iterator[Answer]:
    """Yield the tokens or words of each sentence that has any, and their bits, which are added to the total."""
    for parsed in documents:
        tokens = list(answers_of(parsed, "surprisals"))
        for token in tokens:
            total.add(token.answer)
        yield from tokens if by == Unit.token else whole_words(parsed, tokens)


def _rows(sentences: Iterable[Answer]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each word; the end of a sentence stands after its last character."""
    yield _COLUMNS
    for number, (citation, words, bits) in enumerate(sentences, start=1):
        place, (_, end) = (*cells(citation.place(number)),), citation.characters()
        for i, (word, value) in enumerate(zip([*words, _END], bits, strict=True)):
            extent = citation.characters(i, i + 1) if i < len(words) else (end, end)
            yield *place, i + 1, word, f"{value:.4f}", *extent


def _objects(sentences: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    for number, (citation, words, bits) in enumerate(sentences, start=1):
        *of_words, end = [round(value, 6) if value < float("inf") else None for value in bits]
        place = {**citation.place(number), **citation.extent(), "words": words, **citation.word_characters()}
        yield {**place, "bits": of_words, "end": end}
