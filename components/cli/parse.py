"""`spacy-lpcfg parse`: parse text, words, tagged words, the words of trees, or Docs."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from spacy_lpcfg.checks import check_one_of, counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import log, one_line, progress, reporting_errors, usage_errors
from spacy_lpcfg.components.cli.shared.formats import Target, checked_target, format_of, output_formats
from spacy_lpcfg.components.cli.shared.inputs import check_usage, kind_said
from spacy_lpcfg.components.cli.shared.learner_options import parsed_settings
from spacy_lpcfg.components.cli.shared.options import SET
from spacy_lpcfg.components.cli.shared.outputs import ParseFormat, check_contents, contents_of
from spacy_lpcfg.components.cli.shared.parse_many import Made, parse_many
from spacy_lpcfg.components.cli.shared.pipelines import find_parser_or_bracketer, load_pipeline, n_jobs
from spacy_lpcfg.components.cli.shared.runs import Run
from spacy_lpcfg.components.cli.shared.shards import Shard, is_corpus, shards_of

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.cli.shared.runs import Parsed

_OBJECTS = ("pretrained", "learner", "model", "constraints", "scorer")  # settings that are no text or number

_Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="A file, - for stdin, or a text; or, with a folder as --output, many files, folders or 'patterns*'.",
    ),
]
_Kind = Annotated[
    options.Input | None,
    typer.Option("--input", help="What FILE holds; see above. [default: by its name, or text]"),
]
_Form = Annotated[
    ParseFormat | None,
    options.format_option("What to write; see above. [default: by the ending of --output, or brackets]"),
]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write instead of stdout; for many files, a folder.")
]
_NBest = Annotated[
    int | None,
    typer.Option("--n-best", min=1, help="Print the N likeliest trees of each sentence, with probabilities."),
]
_Marginals = Annotated[
    bool, typer.Option("--marginals", help="Print the probabilities of all spans, and in JSON of all tags.")
]
_Tags = Annotated[
    options.Tags | None,
    typer.Option(
        help="Tag by the model, or take what is given. [default: given if tagged, model for tokens and trees, "
        "else as the pipeline is set]"
    ),
]
_Settings = Annotated[
    list[str] | None, options.settings_option("component", "decoding=most-probable, pruning.beam=0.01 or words=FILE")
]
_NProcess = Annotated[
    int,
    typer.Option(
        "--n-process", help="Number of processes; -1 for one per processor. Many files are shared among them."
    ),
]
_Force = Annotated[
    bool,
    typer.Option("--force", "-f", help="Replace the output file, or those that the output folder has already."),
]


@reporting_errors
def parse(
    model: options.Model,
    files: _Files,
    kind: _Kind = None,
    form: _Form = None,
    output: _Output = None,
    n_best: _NBest = None,
    marginals: _Marginals = False,
    tags: _Tags = None,
    settings: _Settings = None,
    dialect: options.Dialect = None,
    n_process: _NProcess = 1,
    scheduler: options.Scheduler = None,
    force: _Force = False,
) -> None:
    """Parse text, words, trees or Docs.

    FILE is a text itself if there is no file of that name.

    Each of many files becomes a file of the same name in the output folder, with the suffix of the format. Files that
    are there already stay, so that a stopped command can go on. A file that cannot be read is reported at the end; the
    others are parsed.

    \b
    --input text    a document a line; the pipeline finds words and sentences
    --input tokens  a sentence a line, its words separated by blanks;
                    an empty line is a sentence without words
    --input tagged  the same with word/TAG, split at the last slash
    --input trees   the words of bracketed trees, and with --tags given
                    their tags; the default for files of trees, such as
                    .mrg, .psd or .export
    --input spacy   Docs of `spacy-lpcfg convert` or `spacy convert`; the
                    default for files ending in .spacy

    \b
    --format brackets  one tree per line, for .mrg and .parsed; with --n-best:
                       probability, tree, and its brackets added (+) or
                       missing (-) against the best tree
    --format jsonl     a JSON object for each sentence: place, words, tags,
                       tree, spans with scores, status, log_probability (of
                       the words), probability (of the tree), n-best trees,
                       marginals
    --format json      one list of the same objects
    --format tsv, csv  a row for each span, or with --n-best for each tree
    --format spacy     Docs in one file, held in memory until the end

    JSON and tables say where sentences and spans stand: file, document (number of the Doc), line, sentence (number),
    sent_id, start_char and end_char (characters of the document), and text.

    A bracketer needs tags: unless its pipeline has a tagger, FILE has to hold trees, tagged words or Docs. With
    --set words=FILE an lpcfg_parser takes the tags that words may have from a file with a word and its tags on each
    line, such as Book VB NN.

    Trees of text and Docs spell parentheses and double quotes as the Penn Treebank does, such as -LRB- for (.

    \b
    Example:
        spacy-lpcfg parse en "The old ferry was sold."
        spacy-lpcfg parse model/ text.txt --n-process 4 -o text.jsonl
        spacy-lpcfg parse model/ dev.mrg --input trees --tags given -o dev.parsed
        echo "I saw her duck." | spacy-lpcfg parse model/ - --n-best 5
        spacy-lpcfg parse en 'corpus/*.txt.gz' --n-process 8 --format spacy -o parsed/
    """
    kind = kind_said(kind, dialect)
    many = scheduler is not None or is_corpus(files)
    questions: dict[str, dict[str, Any]] = {"posteriors": {}} if marginals else {}
    if n_best:
        questions["n_best"] = {"n": n_best, "tag_variants": False}
    formats = get_args(ParseFormat)
    name = format_of(None if many else output, form, formats)
    check_contents(name, questions)
    shards = shards_of(files, kind, output, output_formats()[name].suffixes[0]) if many else []
    first = shards[0].file if many else files[0]
    check_usage(first, kind, tags)
    target = (
        Target(None, name, True) if many else checked_target(output, form, formats, inputs=[first, model], force=force)
    )
    n_process = n_jobs(n_process, "--n-process")
    nlp = load_pipeline(model)
    pipe = find_parser_or_bracketer(nlp)
    _set(nlp, pipe, settings)
    work = _Work(Run.of(nlp, pipe, first, kind, dialect, tags), questions, target)
    if many:
        status = parse_many(work, shards, n_process=n_process, scheduler=scheduler, force=force)
    else:
        status = work.parse(n_process=n_process, is_told=True)
    _log_makeshift(status)


def _set(nlp: "Language", pipe: Any, settings: list[str] | None) -> None:
    """Change settings of a pipeline component as --set says, and load its model to validate them.

    nlp (Language): The pipeline.
    pipe (Pipe): The component.
    settings (list of str, or None): Values of --set, as for `parsed_settings`.
    RAISES (BadParameter): If the component lacks a setting, or a value is invalid for its model.
    """
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.training.named_learner import changed_setting

    with usage_errors(SET, kinds=(ValueError, FileNotFoundError)):
        if settings and isinstance(pipe, ParsingPipe):
            pipe.ready_parser()
        names = [name for name in nlp.get_pipe_meta(pipe.name).default_config or () if name not in (*_OBJECTS, "tags")]
        for name, value in parsed_settings(settings or ()).items():
            if name == "tags":  # which the kind of input would override
                raise typer.BadParameter("expected --tags in place of tags", param_hint=SET)
            check_one_of(f"a setting of {pipe.name}", name, names)
            setattr(pipe, name, changed_setting(name, getattr(pipe, name), value))
        if settings and isinstance(pipe, ParsingPipe):
            pipe.ready_parser()


@dataclass(frozen=True, eq=False)
class _Work:
    """Picklable task that parses files and writes the result.

    run (Run): The run over the first file, with the kind and dialect of all files.
    questions (dict of str to dict): As for `Run.parsed`.
    target (Target): The output. In a folder, existing files are replaced: the files to parse were chosen before, and
        a worker that died may have written its output.
    """

    run: Run
    questions: dict[str, dict[str, Any]]
    target: Target

    def parse(self, *, n_process: int = 1, is_told: bool = False) -> Counter[str]:
        """Parse the run's input and write the result; return the number of sentences with each status.

        n_process (int): The number of processes.
        is_told (bool): Whether to show a progress bar, unless the result is written to the terminal.
        """
        key = self.run.component.spans_key
        is_seen = not is_told or (self.target.path is None and sys.stdout.isatty())
        status: Counter[str] = Counter()
        documents = self.run.parsed(questions=self.questions, n_process=n_process)
        bar = progress(documents, "documents", hidden=is_seen, total=None if is_seen else self.run.n_documents())
        self.target.write(
            contents_of(_counted(bar, key, status), self.target.form, self.questions, key, self._root_label())
        )
        return status

    def _root_label(self) -> str | None:
        """Return "", the label of the root above the trees of a bracketer; None for a parser, whose trees get none."""
        from spacy_lpcfg.components.parsing_pipe import ParsingPipe

        return None if isinstance(self.run.component, ParsingPipe) else ""

    def __call__(self, shard: Shard) -> Made:
        """Parse one of many files, and return the result, or the error message instead of raising an exception.

        With spaCy 3.8 or later, words that the file adds to the vocabulary are removed afterwards.
        """
        nlp, source = self.run.nlp, self.run.source._replace(file=shard.file, is_told=False)
        work = replace(self, run=self.run._replace(source=source), target=self.target._replace(path=Path(shard.output)))
        with nlp.memory_zone() if hasattr(nlp, "memory_zone") else nullcontext():  # spaCy 3.8
            try:
                return Made(work.parse())
            except (ValueError, OSError) as error:
                return Made(error=one_line(error))
            except Exception as error:  # one of many files: what is wrong with it does not stop the others
                return Made(error=f"{type(error).__name__}: {one_line(error)}")


def _counted(documents: "Iterable[Parsed]", key: str, status: Counter[str]) -> "Iterator[Parsed]":
    """Yield documents unchanged, and add the status of each of their sentences to the counter `status`."""
    from spacy_lpcfg.components.doc.tree_group import attributes
    from spacy_lpcfg.components.doc.write import EMPTY

    for parsed in documents:
        status.update([EMPTY] if parsed.words == [] else attributes(parsed.doc, key).status or [])
        yield parsed


def _log_makeshift(status: Counter[str]) -> None:
    from spacy_lpcfg.components.doc.write import EMPTY
    from spacy_lpcfg.parsing.result import PARSED

    makeshift = {name: n for name, n in status.items() if name not in (PARSED, EMPTY)}
    if makeshift:
        kinds = ", ".join(f"{n} {name}" for name, n in sorted(makeshift.items()))
        log(f"{sum(makeshift.values())} of {counted(sum(status.values()), 'sentence')} got a makeshift tree: {kinds}")
