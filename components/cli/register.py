"""What spaCy's entry point `spacy_cli` names: importing this module adds the commands to `python -m spacy`.

spaCy imports it at every command of its own, so it has to be quick, and offers no other way than by import.
"""

from __future__ import annotations

from spacy.cli._util import app

from spacy_lpcfg.components.cli import lpcfg_cli

app.add_typer(lpcfg_cli)
