"""`spacy-lpcfg doubt`: choose the sentences of a text that are most worth correcting."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import EXTENT, PLACE
from spacy_lpcfg.components.cli.shared.console import log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.outputs import answers_of, bracket_lines, sentences_of
from spacy_lpcfg.components.cli.shared.pipelines import n_jobs
from spacy_lpcfg.components.cli.shared.runs import Parsed, loaded_run

if TYPE_CHECKING:
    from spacy_lpcfg.components.cli.shared.outputs import Answer, ParsedSentence
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

_COLUMNS = (*PLACE, "bits_per_word", "bits", "words", *EXTENT)
DoubtFormat = Literal["tsv", "csv", "text", "brackets"]


class _Candidate(NamedTuple):
    """A sentence that may be selected if its trees are uncertain.

    parsed (Parsed): The Doc that contains the sentence; it has no trees yet.
    number (int): The index of the sentence among the Doc's sentences that have words, from 0.
    answer (Answer): The words of the sentence, and the entropy of its trees in bits.
    """

    parsed: Parsed
    number: int
    answer: "Answer"

    @property
    def text(self) -> str:
        """The text of the sentence on one line."""
        return " ".join(self.answer.citation.extent()["text"].split())


@reporting_errors
def doubt(
    model: options.ParserModel,
    file: options.File,
    n: Annotated[int, typer.Option("--number", "-n", min=1, help="Number of sentences to choose.")] = 50,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    form: Annotated[
        DoubtFormat | None,
        options.format_option("A table, the sentences, or their trees. [default: by --output, or tsv]"),
    ] = None,
    output: options.OutputFile = None,
    n_process: options.NProcess = 1,
    force: options.Replace = False,
) -> None:
    """Choose the sentences that are most worth correcting.

    Doubt is the entropy of the distribution over the trees of a sentence, in bits per word. Near duplicates are left
    out. `correct` opens the trees to correct them, and `adapt` learns from them.

    \b
    --format tsv, csv  a row for each sentence: place, doubt, entropy, number of
                       words, text
    --format text      one sentence per line; .txt
    --format brackets  one tree of the model per line; .mrg

    \b
    Example:
        spacy-lpcfg doubt en text.txt
        spacy-lpcfg doubt en text.txt --output doubt.mrg
        spacy-lpcfg correct en doubt.mrg --trees given --output corrected.mrg
    """
    target = checked_target(output, form, get_args(DoubtFormat), inputs=[file, model], force=force)
    n_process = n_jobs(n_process, "--n-process")
    run = loaded_run(model, file, kind, dialect)
    documents = run.parsed(questions={"entropies": {}}, with_trees=False, n_process=n_process)
    bar = progress(documents, "documents", total=run.n_documents())
    sentences = [
        _Candidate(parsed, i, answer) for parsed in bar for i, answer in enumerate(answers_of(parsed, "entropies"))
    ]
    target.write(_contents(target.form, run.component, sentences, n))


def _contents(name: str, pipe: "ParsingPipe", sentences: list[_Candidate], n: int) -> Iterable[Any]:
    """Select the most uncertain sentences, and return them as lines or table rows; log their number.

    name (str): The output format: "text", "brackets" or a table.
    pipe (ParsingPipe): The parser, for "brackets".
    sentences (list of _Candidate): The sentences to select from.
    n (int): The maximum number of sentences to select.
    """
    from spacy_lpcfg.evaluation.doubt import most_in_doubt

    answers = [sentence.answer for sentence in sentences]
    chosen = most_in_doubt([answer.words for answer in answers], [answer.answer for answer in answers], n)
    log(f"{len(chosen)} of {counted(len(sentences), 'sentence')}")
    if name == "text":
        return [sentences[i].text for i in chosen]
    if name == "brackets":
        return bracket_lines(_parsed(pipe, [sentences[i] for i in chosen]))
    return [_COLUMNS, *(_row(i + 1, answers[i]) for i in chosen)]


def _row(number: int, answer: "Answer") -> tuple[Any, ...]:
    """Return the table row of a sentence: place, entropy in bits per word and in bits, number of words, and text.

    number (int): The number of the sentence in its file, from 1.
    """
    n_words, bits = len(answer.words), answer.answer
    return answer.citation.row(number, f"{bits / n_words:.3f}", f"{bits:.2f}", n_words)


def _parsed(pipe: "ParsingPipe", sentences: Iterable[_Candidate]) -> "Iterator[ParsedSentence]":
    """Yield sentences with their parse trees; each Doc is parsed only once."""
    by_doc: dict[int, list[ParsedSentence]] = {}
    for sentence in sentences:
        key = id(sentence.parsed.doc)
        if key not in by_doc:
            by_doc[key] = [*sentences_of(sentence.parsed._replace(doc=pipe(sentence.parsed.doc)), pipe.spans_key, None)]
        yield by_doc[key][sentence.number]
