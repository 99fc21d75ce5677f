"""The commands `spacy-lpcfg ...`, which are also `python -m spacy lpcfg ...` (see `register.py`).

Each command is in the file of its name. `shared/` has modules that several commands use: `options.py` their options,
`inputs.py` files and texts, `readers.py` their readers, `runs.py` a pipeline over one of them, `treebanks.py` and
`tree_sources.py` trees, `formats.py` output formats, `pipelines.py` models, `console.py` messages. The top of this file
and of the commands' files imports only fast modules; each command imports all other modules itself when it runs.
typer evaluates the annotations of commands, so that their files do without `from __future__ import annotations`.
"""

import sys
from typing import Annotated

import typer

from spacy_lpcfg.components.cli.adapt import adapt
from spacy_lpcfg.components.cli.calibrate import calibrate
from spacy_lpcfg.components.cli.complexity import complexity
from spacy_lpcfg.components.cli.convert import convert
from spacy_lpcfg.components.cli.corenlp import corenlp
from spacy_lpcfg.components.cli.correct import correct
from spacy_lpcfg.components.cli.doubt import doubt
from spacy_lpcfg.components.cli.edit import edit
from spacy_lpcfg.components.cli.encoder import encoder
from spacy_lpcfg.components.cli.evaluate import evaluate
from spacy_lpcfg.components.cli.inspect import inspect
from spacy_lpcfg.components.cli.learn_bracketer import learn_bracketer
from spacy_lpcfg.components.cli.learn_lm import learn_lm
from spacy_lpcfg.components.cli.learn_parser import learn_parser
from spacy_lpcfg.components.cli.learn_unsupervised import learn_unsupervised
from spacy_lpcfg.components.cli.parse import parse
from spacy_lpcfg.components.cli.render import render
from spacy_lpcfg.components.cli.sample import sample
from spacy_lpcfg.components.cli.search import search
from spacy_lpcfg.components.cli.serve import serve
from spacy_lpcfg.components.cli.shared.command_groups import Commands, LearnCommands
from spacy_lpcfg.components.cli.shared.streams import settle
from spacy_lpcfg.components.cli.simplify import simplify
from spacy_lpcfg.components.cli.surprisal import surprisal

WRONG_USAGE = 2

_HELP = """\
Parse sentences into constituency trees, learn parsers, evaluate them and more.

A MODEL is en or en-fast, which come with spacy-lpcfg, a folder that `learn` saved, or an installed package.

\b
Example:
    spacy-lpcfg parse en "The old ferry was sold."
"""

lpcfg_cli = typer.Typer(
    name="lpcfg",
    cls=Commands,
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
learn_cli = typer.Typer(
    name="learn",
    cls=LearnCommands,
    help="Learn a parser or a language model.",
    no_args_is_help=True,
)
learn_cli.command("parser")(learn_parser)
learn_cli.command("bracketer")(learn_bracketer)
learn_cli.command("unsupervised")(learn_unsupervised)
learn_cli.command("lm")(learn_lm)
lpcfg_cli.add_typer(learn_cli)
for command in (
    *(parse, evaluate, calibrate, doubt, correct, adapt, convert, surprisal, sample),
    *(inspect, search, edit, simplify, complexity, render, serve, corenlp, encoder),
):
    lpcfg_cli.command()(command)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        import spacy_lpcfg

        print(f"spacy-lpcfg {spacy_lpcfg.__version__}")
        raise typer.Exit()


@lpcfg_cli.callback()
def version(
    show: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and stop.")
    ] = False,
) -> None:
    """Define the options that may stand before any command, such as --version."""


def main() -> None:
    """Run the command line, as the console script `spacy-lpcfg` does."""
    try:
        lpcfg_cli(prog_name="spacy-lpcfg")
    except OSError:  # of wrong usage, which stderr takes no word of
        settle(sys.stderr)
        sys.exit(WRONG_USAGE)
