"""Adds the commands to `python -m spacy` when it is imported: spaCy's entry point `spacy_cli` names it.

spaCy imports it for every command of its own, so it has to be quick. There is no way but an import.
"""

from __future__ import annotations

from spacy.cli._util import app

from spacy_lpcfg.components.cli import lpcfg_cli

app.add_typer(lpcfg_cli)
