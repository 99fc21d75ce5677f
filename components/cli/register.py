"""Import this module to add the commands to `python -m spacy`: spaCy's entry point `spacy_cli` names it.

spaCy imports it at every command of its own, so it has to be quick, and offers no other way than by import.
"""

from __future__ import annotations

from spacy.cli._util import app

from spacy_lpcfg.components.cli import lpcfg_cli

app.add_typer(lpcfg_cli)
