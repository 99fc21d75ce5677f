"""`spacy-lpcfg surprisal`: compute how unexpected each word is after the words before it."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import CHARACTERS, PLACE, cells
from spacy_lpcfg.components.cli.shared.console import begun, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.outputs import Answer, answers_of
from spacy_lpcfg.components.cli.shared.pipelines import find_surprisal, n_jobs
from spacy_lpcfg.components.cli.shared.runs import loaded_run
from spacy_lpcfg.components.cli.shared.word_rows import read_frequencies, whole_words, word_rows

if TYPE_CHECKING:
    from spacy_lpcfg.components.cli.shared.runs import Parsed

_COLUMNS = (*PLACE, "position", "word", "bits", *CHARACTERS)
_END = "</s>"
SurprisalFormat = Literal["tsv", "csv", "jsonl", "json"]
Unit = Literal["token", "word"]
_By = Annotated[Unit, typer.Option("--by", help="Print a row for each token, or for each word between blanks.")]
_Frequencies = Annotated[
    Path | None,
    options.file_option("With --by word: a file with a word, a tab and its count on each line, to add Zipf values."),
]


@reporting_errors
def surprisal(
    model: options.SurprisalModel,
    file: options.File,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    by: _By = "token",
    frequencies: _Frequencies = None,
    form: Annotated[
        SurprisalFormat | None,
        options.format_option("A row for each word, or an object for each sentence. [default: tsv]"),
    ] = None,
    output: options.OutputFile = None,
    n_process: options.NProcess = 1,
    force: options.Replace = False,
) -> None:
    """Compute the surprisal of each word, in bits.

    Surprisal is -log2 of the probability of a word given the words before it in its sentence. The end of a sentence is
    the word </s>. An isbn_parser computes it from the trees in its beam; a spectral grammar cannot. If the pipeline has
    a language_model, it is used.

    Tables count sentences and positions from 1. JSON objects have "words", their "bits" and the "end". A word that is
    impossible, or unknown to a language model, has null in JSON, and inf or nan in a table.

    --by word sums the bits of the tokens of each word, punctuation included, for regressions of reading times. The
    table then has no ends of sentences, but more columns: the bits of the word before (NA for the first), the number of
    letters and digits, and with --frequencies the Zipf value.

    stderr has the perplexity, over tokens and ends of sentences that have bits.

    \b
    Example:
        spacy-lpcfg surprisal en "The horse raced past the barn fell."
        spacy-lpcfg surprisal isbn/ stories.txt -o stories.csv
        spacy-lpcfg surprisal en stories.txt --by word -o words.csv
    """
    target = checked_target(output, form, get_args(SurprisalFormat), inputs=[file, model], force=force)
    if frequencies is not None and by != "word":
        raise typer.BadParameter("this is for --by word", param_hint="--frequencies")
    n_process = n_jobs(n_process, "--n-process")
    zipf = None if frequencies is None else read_frequencies(frequencies)
    run = loaded_run(model, file, kind, dialect, find=find_surprisal)
    documents = run.parsed(questions={"surprisals": {}}, with_trees=False, n_process=n_process)
    total = Counter[str]()
    sentences = begun(progress(_surprises(documents, by, total), "sentences"))
    if target.form in ("jsonl", "json"):
        target.write(_objects(sentences))
    else:
        target.write(_rows(sentences) if by == "token" else word_rows(sentences, zipf))
    sys.stdout.flush()  # where it cannot be written to, that is the only line
    if total["tokens"]:
        _log_perplexity(total)
    elif total["unknown"]:
        log("no word has a surprisal: all are unknown, or in sentences of more than limits.max_words words")


def _log_perplexity(total: Counter[str]) -> None:
    """Log the perplexity per token, ends of sentences included, and the number of unknown words.

    total (Counter): Three numbers.
        bits: The sum of surprisals.
        tokens: The number of tokens and sentence ends that have a surprisal.
        unknown: The number of tokens that have no surprisal.
    """
    bits = total["bits"] / total["tokens"]
    unknown = f"; {counted(total['unknown'], 'unknown word')} left out" if total["unknown"] else ""
    tokens = counted(total["tokens"], "token")
    log(f"perplexity {2**bits:.2f} ({bits:.3f} bits a token) on {tokens}, with ends of sentences{unknown}")


def _surprises(documents: "Iterable[Parsed]", by: Unit, total: Counter[str]) -> Iterator[Answer]:
    """Yield the surprisals of each sentence that has words, and add the surprisals of its tokens to `total`.

    documents (iterable of Parsed): Docs with the stored results of the method `surprisals`.
    by ("token" or "word"): The unit of the yielded surprisals.
    total (Counter): The counter, as for `_log_perplexity`.
    """
    for parsed in documents:
        tokens = list(answers_of(parsed, "surprisals"))
        for token in tokens:
            known = [bits for bits in token.answer if bits == bits]
            total.update({"bits": sum(known), "tokens": len(known), "unknown": len(token.answer) - len(known)})
        yield from tokens if by == "token" else whole_words(parsed, tokens)


def _rows(sentences: Iterable[Answer]) -> Iterator[tuple[Any, ...]]:
    """Yield the header of a table, then a row for each word and each end of a sentence.

    The end of a sentence begins and ends at the character after its last word.
    """
    yield _COLUMNS
    for number, (citation, words, bits) in enumerate(sentences, start=1):
        location, (_, end) = cells(*citation.place(number).values()), citation.characters()
        for i, (word, value) in enumerate(zip([*words, _END], bits, strict=True)):
            extent = citation.characters(i, i + 1) if i < len(words) else (end, end)
            yield *location, i + 1, word, f"{value:.4f}", *extent


def _objects(sentences: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    for number, (citation, words, bits) in enumerate(sentences, start=1):
        *of_words, end = [round(value, 6) if value < float("inf") else None for value in bits]
        place = {**citation.place(number), **citation.extent(), "words": words, **citation.word_characters()}
        yield {**place, "bits": of_words, "end": end}
