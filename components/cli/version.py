"""`spacy-lpcfg --version`."""

from typing import Annotated

import typer


def _print_version(is_asked: bool) -> None:
    if is_asked:
        import spacy_lpcfg

        print(f"spacy-lpcfg {spacy_lpcfg.__version__}")
        raise typer.Exit()


def version(
    show: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and stop.")
    ] = False,
) -> None:
    """Define the options that may stand before any command."""
