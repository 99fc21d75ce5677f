"""The commands `spacy-lpcfg ...`, which are also `python -m spacy lpcfg ...` (see `register.py`).

Here and at the top of the commands' own files stands only what imports fast: everything else is imported by the
command that needs it. typer evaluates the annotations of commands, so that their files, for Python 3.9, do without
`from __future__ import annotations`.
"""

from __future__ import annotations

import typer

from spacy_lpcfg.components.cli.bracketer import bracketing_table, learn_bracketer
from spacy_lpcfg.components.cli.combined import learn_combined
from spacy_lpcfg.components.cli.convert import convert
from spacy_lpcfg.components.cli.evaluate import evaluate
from spacy_lpcfg.components.cli.isbn import learn_isbn
from spacy_lpcfg.components.cli.language_model import learn_lm, perplexity
from spacy_lpcfg.components.cli.learn import learn_cli
from spacy_lpcfg.components.cli.parse import parse

lpcfg_cli = typer.Typer(
    name="lpcfg",
    help="Constituency parsing with latent-variable PCFGs, and without a treebank: learn, parse, evaluate and more.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
learn_cli.command("isbn")(learn_isbn)
learn_cli.command("combined")(learn_combined)
learn_cli.command("bracketer")(learn_bracketer)
learn_cli.command("lm")(learn_lm)
lpcfg_cli.add_typer(learn_cli)
for command in (parse, evaluate, bracketing_table, convert, perplexity):
    lpcfg_cli.command()(command)


def main() -> None:
    """Run the console script `spacy-lpcfg`."""
    lpcfg_cli(prog_name="spacy-lpcfg")
