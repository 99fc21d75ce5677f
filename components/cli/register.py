"""Adds the commands to `python -m spacy` when it is imported, which spaCy does for the entry point `spacy_cli`.

spaCy imports this module for each of its own commands too, so the import has to be fast.
"""

from __future__ import annotations

from spacy.cli._util import app

from spacy_lpcfg.components.cli import lpcfg_cli

app.add_typer(lpcfg_cli)
