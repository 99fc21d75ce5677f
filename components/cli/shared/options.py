"""Options and arguments that several commands have in common, as annotated types of their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from spacy_lpcfg.components.cli.shared.console import usage_errors
from spacy_lpcfg.components.cli.shared.files import training_files


def file_option(help: str) -> Any:
    """Create a typer option whose value is an existing file, or several files; `help` is its help text."""
    return typer.Option(exists=True, dir_okay=False, help=help)


# Models and what they are learned from -----------------------------------------------------------

_BUNDLED = "en or en-fast, which come with the package, or a pipeline with an lpcfg_parser"
Model = Annotated[str, typer.Argument(metavar="MODEL", help=f"{_BUNDLED}, an isbn_parser or a spectral_bracketer.")]
ParserModel = Annotated[str, typer.Argument(metavar="MODEL", help=f"{_BUNDLED} or an isbn_parser.")]
GrammarModel = Annotated[str, typer.Argument(metavar="MODEL", help=f"{_BUNDLED}.")]
SurprisalModel = Annotated[
    str, typer.Argument(metavar="MODEL", help=f"{_BUNDLED}, an isbn_parser or a language_model.")
]
TextModel = Annotated[str, typer.Option("--model", help="Model that parses text: a pipeline, or en.")]
Words = Annotated[
    Path | None, file_option("File with a word and the tags that it may have on each line, such as Book VB NN.")
]

LARGEST_SEED = 2**30  # models of one learner count on from it or from twice it, and scikit-learn takes 32 bits
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of random numbers.")]
Jobs = Annotated[int, typer.Option(help="Number of parallel jobs; -1 for one per processor.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786. All machines need the same files.",
    ),
]
Lang = Annotated[str, typer.Option(help="Language of the tokenizer and the head rules.")]
TokenizerLang = Annotated[str, typer.Option("--lang", help="Language of the tokenizer.")]
SET = "--set"


def settings_option(of: str, such_as: str) -> Any:
    """Create the option `--set`, which changes settings by name.

    of (str): The owner of the settings, for the help text, such as "learner".
    such_as (str): Examples for the help text.
    """
    help = f"Setting of the {of}, such as {such_as}; may be given again. An unknown name lists all."
    return typer.Option(SET, metavar="NAME=VALUE", help=help)


Settings = Annotated[list[str] | None, settings_option("learner", "n_states=24 or variant=paper")]
Dev = Annotated[list[Path] | None, file_option("Held-out trees or text to tune on; may be given again.")]
Output = Annotated[Path, typer.Option("--output", "-o", file_okay=False, help="Folder to save the pipeline to.")]
Force = Annotated[
    bool,
    typer.Option(
        "--force", "-f", help="Replace the folder even if it holds files that were not saved by this package."
    ),
]


# Inputs and outputs ------------------------------------------------------------------------------

BRACKETED = "bracketed trees such as (S (NP (PRP It)) (VP (VBZ works)))"
"""The description of trees in errors about inputs that have none."""

Input = Literal["text", "tokens", "tagged", "trees", "spacy"]
"""The kinds of input that a file may hold."""
File = Annotated[str, typer.Argument(metavar="FILE", help="A file, - for stdin, or a text.")]
Kind = Annotated[
    Input | None,
    typer.Option("--input", help="What FILE holds; see `parse --help`. [default: by its name, or text]"),
]

Tags = Literal["model", "given"]
"""The sources of the tags of a parse: the model, or the input."""


def format_option(help: str) -> Any:
    """Create the option `--format` with a help text."""
    return typer.Option("--format", help=help)


OutputFile: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write instead of stdout; its ending decides the format.")
]
Replace: TypeAlias = Annotated[bool, typer.Option("--force", "-f", help="Replace the output file if it exists.")]
NProcess = Annotated[int, typer.Option("--n-process", help="Number of processes; -1 for one per processor.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0 is any that is free.")]


# Trees -------------------------------------------------------------------------------------------

TreeFunctions = Annotated[
    Literal["strip", "keep"],
    typer.Option(
        "--functions", help="Keep the functions of labels, such as SBJ of NP-SBJ, or strip them; indices always go."
    ),
]

TagDetail = Literal["fine", "coarse"]
"""Whether tags keep their morphology, such as A of N-A."""
TreeTags = Annotated[
    TagDetail, typer.Option("--tag-set", help="Keep tags as they are, or cut them to parts of speech: N-A becomes N.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees, and say how many.")]


def _parse_dialect(name: str) -> str:
    """Validate the value of --dialect, and return it.

    RAISES (BadParameter): If no format of trees that can be read has this name; the message lists all.
    """
    from spacy_lpcfg.trees.reading import checked_dialect

    with usage_errors("--dialect"):
        checked_dialect(name)
    return name


Dialect = Annotated[
    str | None,
    typer.Option(
        parser=_parse_dialect,
        is_eager=True,
        metavar="NAME",
        help="Format of the trees, such as penn or negra; an unknown name lists all. [default: recognised]",
    ),
]
TreeFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format to write; an unknown name lists all. [default: by the ending of --output, or penn]",
    ),
]


def _parse_encoding(name: str) -> str:
    """Validate the value of --encoding, and return the name of the encoding.

    RAISES (BadParameter): If Python does not know the encoding, or it is not compatible with ASCII.
    """
    from spacy_lpcfg.trees.lines import checked_encoding

    with usage_errors("--encoding"):
        return checked_encoding(name)


Encoding = Annotated[
    str, typer.Option(parser=_parse_encoding, metavar="NAME", help="Encoding of files of trees, such as gb18030.")
]


def _training_files(context: typer.Context, paths: Any) -> list[Path]:  # 3.10: typer takes list[Path] for a class
    return training_files(paths, context.params.get("dialect"))


def _tagged_files(context: typer.Context, paths: Any) -> list[Path]:
    from spacy_lpcfg.components.training.tagged_text import SUFFIXES

    return training_files(paths, context.params.get("dialect"), SUFFIXES)


_FOLDERS = (
    "folders of them, or quoted patterns such as 'wsj/*.mrg'; .gz or not. Of a folder with a file train.*, only that "
    "is read."
)
TrainingTrees = Annotated[
    list[Path],
    typer.Argument(metavar="TREES...", callback=_training_files, help=f"Files of trees, {_FOLDERS}"),
]
TaggedText = Annotated[
    list[Path],
    typer.Argument(
        metavar="TAGGED...",
        callback=_tagged_files,
        help=f"Files of trees, of lines of word/tag, or .spacy; {_FOLDERS}",
    ),
]
TreeFiles: TypeAlias = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Treebanks, .spacy files, folders of them, text files, or - for stdin."),
]


def file_argument(metavar: str, help: str) -> Any:
    """Create a typer argument whose value is an existing file, or several files; `help` is its help text."""
    return typer.Argument(metavar=metavar, exists=True, dir_okay=False, help=help)
